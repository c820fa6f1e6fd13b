"""Configuration of ``lit test/lit``; pytest runs the same files through test/conftest.py."""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from kopt_lit import SUFFIXES  # noqa: E402
from kopt_lit_format import KoptFormat  # noqa: E402

config.name = "kopt"  # noqa: F821
config.suffixes = list(SUFFIXES)  # noqa: F821
config.test_format = KoptFormat()  # noqa: F821
config.test_source_root = str(HERE)  # noqa: F821
# Tests run in folders of their own; lit keeps its record of their times here.
RECORDS = Path(tempfile.gettempdir()) / "kopt-lit"
RECORDS.mkdir(exist_ok=True)
config.test_exec_root = str(RECORDS)  # noqa: F821
