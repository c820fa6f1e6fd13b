"""Arithmetic on IR values in one element type, as formulas read: ``x * x.sigmoid()``.

Used to expand a torch function inside its compute type, where nothing rounds in between.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.building.handles import Value
from kopt.frontend.state import current


class LaneValue(Value):
    """A value of the import under way."""

    __slots__ = ()

    def __init__(self, ssa: SSAValue):
        super().__init__(ssa, current().builder)
