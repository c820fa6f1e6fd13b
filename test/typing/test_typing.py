"""What callers write of kopt's public names is typed: pyright's strict mode has nothing to say of it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A rule that fires in the file where a comment says so, and nowhere where types are lost.
_SETTINGS = {"typeCheckingMode": "strict", "reportUnnecessaryTypeIgnoreComment": "error", "pythonVersion": "3.11"}


def test_the_public_names_are_typed_for_callers(tmp_path):
    shutil.copy(Path(__file__).with_name("user_code.py"), tmp_path)
    settings = {**_SETTINGS, "include": ["user_code.py"], "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "0 errors" in done.stdout, done.stdout + done.stderr
