"""The Pallas module of a program of the toy language: ``show.py FILE.toy 'f32[1000,500]' …``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import kopt
from examples.frontends.array_language import Program


def main(file: str, *specs: str) -> str:
    """The text, or the diagnostic of what is wrong with the program."""
    try:
        return Program(Path(file).read_text(), file).lower(*specs, target="pallas:interpret").source
    except kopt.KoptError as error:
        return str(error)


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
