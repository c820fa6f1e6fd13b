"""Configuration of ``lit test/lit``; pytest runs the same files through test/conftest.py."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from kopt.testing.lit import configure  # noqa: E402

configure(config, __file__, name="kopt", root=ROOT)  # noqa: F821
