"""Runs programs one after another in one process: ``every.py folder program…``, as a program of Helion's."""

import runpy
import sys

folder, *programs = sys.argv[1:]
sys.argv = ["program", folder]
for path in programs:
    runpy.run_path(path, run_name="__main__")
