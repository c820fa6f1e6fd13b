"""The documentation site builds without a warning, has every page, and loads nothing from the network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What makes a browser fetch something; a link that is clicked may lead anywhere.
_LOADED = re.compile(
    r'<(?:script|img|iframe|source)[^>]*\ssrc="(?:https?:)?//[^"]*"|<link[^>]*\shref="(?:https?:)?//[^"]*"'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; `test_notebooks.py` runs the notebooks, so the build does not."""
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "KOPT_DOCS_EXECUTE": "false", "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_the_site(site):
    pages = {path.relative_to(site).with_suffix("") for path in site.glob("**/*.html")}
    wanted = {
        path.relative_to(ROOT / "docs").with_suffix("")
        for kind in ("md", "ipynb")
        for path in ROOT.glob(f"docs/**/*.{kind}")
    }
    assert len(wanted) > 45 and wanted <= pages
    for page in site.glob("**/*.html"):
        assert _LOADED.findall(page.read_text()) == [], page
    api = (site / "api/kopt.html").read_text()
    assert all(
        f'id="{name}"' in api
        for name in ("kopt.kernels.kernel", "kopt.lowered.Lowered.report", "kopt.errors.KoptError")
    )
    assert "<svg" in (site / "images/plan-matmul.svg").read_text()
