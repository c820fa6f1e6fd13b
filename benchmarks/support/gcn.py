"""Reading the assembly of AMD's chips. Pure functions of text."""

from __future__ import annotations

import re

#: What multiplies matrices: of the chips for computing, and of those for graphics.
_MATRIX = {"mfma": re.compile(r"^\tv_s?mfma", re.MULTILINE), "wmma": re.compile(r"^\tv_s?wmma", re.MULTILINE)}


def matrix_kind(assembly: str) -> str:
    """``mfma``, ``wmma`` or ``none``."""
    return next((name for name, kind in _MATRIX.items() if kind.search(assembly)), "none")
