"""What is alive at once in the bodies of a launch: the values that a chip has to hold beyond its registers.

A value lives from its definition to its last use in its block, as `kopt.analysis.cell_footprint.temporaries` counts.
What an op makes on its way lives there alone: to take rows of a table, their numbers are compared with those of all
rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.alive_values import alive_values
from kopt.analysis.lane_scalars import LANE_BY_LANE
from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.launch_models.program_points import Path, inner_path
from kopt.dialects.tile import (
    BroadcastOp,
    CarryingLoop,
    FullOp,
    MaskOp,
    StoreOp,
    TakeAlongOp,
    TileType,
)
from kopt.ir.launch_model import Live
from kopt.ir.launch_sizes import widest
from kopt.ir.polynomial import Coefficient

#: Ops whose lanes are each of the same lane of their operands.
_LANE_BY_LANE = (*LANE_BY_LANE, BroadcastOp, MaskOp)
#: The shape of a value, and the bits of its elements.
Shape = tuple[tuple[Coefficient, ...], int]


def live(launch: Launch) -> tuple[Live, ...]:
    """The widest places of the grid's body and of each loop's; all, where nothing is left open that decides it."""
    bodies = [(launch.grid.tags, launch.grid.body.block)]
    for place in launch.places:
        if isinstance(place.op, CarryingLoop):
            bodies.append((inner_path(place.op, place.path, place.number), place.op.body.block))
    found = (place for path, block in bodies for place in _places(launch, path, block))
    return tuple(found) if launch.costed else widest(found)


def _places(launch: Launch, path: Path, block: Block) -> Iterator[Live]:
    """The places of a block after which something is no longer alive."""
    passing = _passing(block)
    for alive in alive_values(
        block,
        lambda value: _counted(launch, value, passing),
        lambda op: [(shape, False) for shape in _inside(launch, op)],
    ):
        yield Live(path, tuple(shape for shape, _ in alive), tuple(shape for shape, passes in alive if passes))


def _counted(launch: Launch, value: SSAValue, passing: set[SSAValue]) -> tuple[Shape, bool] | None:
    """The shape of a tile, and whether it passes by; a constant takes no registers before the loop that it enters."""
    shape = _shape(launch, value)
    return None if shape is None else (shape, isinstance(value.owner, FullOp) or value in passing)


def _passing(block: Block) -> set[SSAValue]:
    """The values of a block that are computed lane by lane, as is all that is made of them, up to what is stored."""
    found: set[SSAValue] = set()
    for op in reversed(list(block.ops)):  # users come first
        if isinstance(op, FullOp) or (isinstance(op, _LANE_BY_LANE) and _all_pass(op, found)):
            found.update(op.results)
    return found


def _all_pass(op: Operation, found: set[SSAValue]) -> bool:
    """Whether what uses an op's result computes lane by lane beside it, and passes or is stored."""
    users = [use.operation for use in op.results[0].uses]
    return all(
        isinstance(user, _LANE_BY_LANE) and user.parent is op.parent and (user.results[0] in found or _is_stored(user))
        for user in users
    )


def _is_stored(op: Operation) -> bool:
    return bool(op.results[0].uses) and all(isinstance(use.operation, StoreOp) for use in op.results[0].uses)


def _shape(launch: Launch, value: SSAValue) -> Shape | None:
    """The lanes and bits of a tile that is no scalar."""
    if not isinstance(value.type, TileType) or not value.type.rank:
        return None
    element = value.type.element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 32
    return _lanes(launch, value), bits


def _lanes(launch: Launch, value: SSAValue) -> tuple[Coefficient, ...]:
    return tuple(lanes for _, lanes in launch.dims(value))


def _inside(launch: Launch, op: Operation) -> list[Shape]:
    """What an op makes on its way."""
    if not isinstance(op, TakeAlongOp) or op.rows is None:
        return []
    return [((*_lanes(launch, op.rows), launch.lanes(op.input, 0)), 32)]
