"""Which bodies have a product one of whose factors follows from another product of the same visit.

    %s = tile.dot %q, %k     %p = tile.exp %s     %d = tile.dot %p, %v, %a

The second waits for the first and for what stands between them; another visit, where they overlap, has work meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

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
        waiting = {value for value in factors if made.get(value) == place.path}
        if isinstance(op, DotOp) and waiting:
            found.add(place.path)
        if isinstance(op, DotOp) or waiting:
            made.update(dict.fromkeys(_given(op, waiting), place.path))
    return frozenset(found)


def _given(op: Operation, waiting: set[SSAValue]) -> Sequence[SSAValue]:
    """What an operation gives others of such values; an arm's end gives results of its branch."""
    branch = op.parent_op()
    if not isinstance(op, scf.YieldOp) or branch is None:
        return op.results
    return [result for value, result in zip(op.operands, branch.results, strict=True) if value in waiting]
