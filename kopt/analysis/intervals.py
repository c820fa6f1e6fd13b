"""The attribute that says which interval an argument's integers must be in, as ``legalise-layout`` leaves it."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.dialects.func import FuncOp

NAME = "kopt.interval"


def intervals(func: FuncOp) -> dict[int, tuple[int, int]]:
    """The lowest and highest number that arguments may hold, by position."""
    found: dict[int, tuple[int, int]] = {}
    for position, attributes in enumerate(func.arg_attrs.data if func.arg_attrs is not None else ()):
        noted = attributes.data.get(NAME)
        if isinstance(noted, DenseArrayBase):
            low, high = noted.get_values()
            found[position] = (int(low), int(high))
    return found
