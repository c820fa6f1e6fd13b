"""Which loops only combine: every carried value is added to, maximised, …, visit by visit, in any order and grouping.

Pure. The visits of such a loop may be dealt out to several cells whose partial results are combined afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.dialects import atomic
from kopt.dialects.tile import COMBINING_OPS, DotOp, ElementwiseOp, ForOp, GridOp, StoreOp, TileType, YieldOp
from kopt.ir.ranges import binding
from kopt.walk import walk

#: The elementwise ops that combine as memory can be updated, and the kind of reduction that they are.
KINDS = {op: kind for kind, op in COMBINING_OPS.items() if kind in atomic.KINDS}


class NotAReduction(Exception):
    """Why the visits of a grid's loop cannot be dealt out."""


@dataclass(frozen=True)
class ReductionLoop:
    """A loop over ``trips`` blocks, and for each carried value the kind of reduction that it is."""

    loop: ForOp
    trips: int
    kinds: tuple[str, ...]


def reduction_loop(grid: GridOp) -> ReductionLoop:
    """The one loop of a grid's cells, where it only combines. Raises `NotAReduction` with the reason."""
    loops = [op for op in grid.body.block.ops if isinstance(op, ForOp)]
    if len(loops) != 1:
        raise NotAReduction(f"its cells have {len(loops)} loops, not one")
    loop = loops[0]
    trips = binding(loop.range).trips
    if trips is None:
        raise NotAReduction("the loop's bounds are not numbers")
    if not loop.inits:
        raise NotAReduction("the loop carries nothing")
    if any(_writes(op) for op in walk(loop)):
        raise NotAReduction("the loop writes memory")
    if any(_writes(inner) for op in _before(loop) for inner in walk(op)):
        raise NotAReduction("its cells write memory before the loop")
    return ReductionLoop(loop, trips, tuple(_kind(loop, number) for number in range(len(loop.inits))))


def _before(loop: ForOp) -> list[Operation]:
    assert loop.parent is not None
    ops = list(loop.parent.ops)
    return ops[: ops.index(loop)]


def _writes(op: Operation) -> bool:
    return isinstance(op, StoreOp) or op.name.startswith("atomic.")


def _kind(loop: ForOp, number: int) -> str:
    """How a carried value is combined with what a visit gives."""
    carried, yielded = loop.carried[number], loop.yielded[number]
    name = f"'{carried.name_hint}'" if carried.name_hint else f"carried value {number}"
    op = yielded.owner
    kind = _combines(op, carried) if isinstance(op, Operation) else None
    if kind is None:
        raise NotAReduction(f"{name} is not a plain sum, maximum or minimum over the visits")
    if len(list(carried.uses)) != 1 or not all(isinstance(use.operation, YieldOp) for use in yielded.uses):
        raise NotAReduction(f"{name} is used before the loop is over")
    return kind


def _combines(op: Operation, carried: SSAValue) -> str | None:
    """The kind of reduction that an op is a step of, with ``carried`` as what was combined so far."""
    if not isinstance(carried.type, TileType):
        return None
    if isinstance(op, DotOp):
        return "add" if op.accumulator is carried else None
    if isinstance(op, ElementwiseOp) and list(op.operands).count(carried) == 1:
        return KINDS.get(op.name.removeprefix("tile."))
    return None
