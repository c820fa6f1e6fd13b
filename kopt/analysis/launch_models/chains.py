"""Which bodies have a product one of whose factors follows from another product of the same visit.

    %s = tile.dot %q, %k     %p = tile.exp %s     %d = tile.dot %p, %v, %a

The second waits for the first and for what stands between them; another visit, where they overlap, has work meanwhile.
A recurrence has none: a factor of its products follows from what they gave the visit before.

    tile.for … iter(%a = …) { %s = tile.dot %w, %a     %n = tile.sub %v, %s     %d = tile.dot %k, %n     yield %d }
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.launch_models.program_points import Path
from kopt.dialects.tile import DotOp, ForOp


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


def recurrent(launch: Launch) -> frozenset[Path]:
    """The paths of bodies whose products wait for those of the visit before."""
    found: set[Path] = set()
    for loop in (place.op for place in launch.places if isinstance(place.op, ForOp)):
        block = loop.body.block
        path = next((place.path for place in launch.places if place.op.parent is block), None)
        if path is not None and any(_comes_back(block, number) for number in range(len(loop.inits))):
            found.add(path)
    return frozenset(found)


def _comes_back(block: Block, number: int) -> bool:
    """Whether what a body hands on follows from what it is handed there, by factors of a product."""
    end = block.last_op
    if end is None or number >= len(end.operands):
        return False
    carried = block.args[len(block.args) - len(end.operands) + number]
    reached, by_product = set[SSAValue]([carried]), set[SSAValue]()
    for op in block.ops:
        taken = (op.lhs, op.rhs) if isinstance(op, DotOp) else op.operands
        if reached.isdisjoint(taken):
            continue
        reached.update(op.results)
        if isinstance(op, DotOp) or not by_product.isdisjoint(taken):
            by_product.update(op.results)
    return end.operands[number] in by_product


def _given(op: Operation, waiting: set[SSAValue]) -> Sequence[SSAValue]:
    """What an operation gives others of such values; an arm's end gives results of its branch."""
    branch = op.parent_op()
    if not isinstance(op, scf.YieldOp) or branch is None:
        return op.results
    return [result for value, result in zip(op.operands, branch.results, strict=True) if value in waiting]
