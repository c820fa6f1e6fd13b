"""Which bodies have a product that waits for another product of the same visit, with vector work in between.

    %s = tile.dot %q, %k     %p = tile.exp %s     %d = tile.dot %p, %v, %a

Neither unit has work while it waits for the other, unless another visit has some.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.launch_models.program_points import Path
from kopt.dialects.tile import DotOp


def chained(launch: Launch) -> frozenset[Path]:
    """The paths of such bodies."""
    found: set[Path] = set()
    made: dict[SSAValue, Path] = {}  # of values that come of a product the path where that is
    for place in launch.places:
        op = place.op
        factors = (op.lhs, op.rhs) if isinstance(op, DotOp) else op.operands
        waits = any(made.get(value) == place.path for value in factors)
        if isinstance(op, DotOp) and waits:
            found.add(place.path)
        if isinstance(op, DotOp) or waits:
            made.update(dict.fromkeys(op.results, place.path))
    return frozenset(found)
