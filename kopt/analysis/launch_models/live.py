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
    DimAttr,
    FullOp,
    MaskOp,
    StoreOp,
    TakeAlongOp,
    TileType,
    tile_type,
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
    found: dict[SSAValue, bool] = {}
    for alive in alive_values(
        block,
        lambda value: _counted(launch, value, found),
        lambda op: [(shape, False) for shape in _inside(launch, op)],
    ):
        yield Live(path, tuple(shape for shape, _ in alive), tuple(shape for shape, passing in alive if passing))


def _counted(launch: Launch, value: SSAValue, found: dict[SSAValue, bool]) -> tuple[Shape, bool] | None:
    """The shape of a tile, and whether it passes by."""
    shape = _shape(launch, value)
    return None if shape is None else (shape, _passes(value, found))


def _passes(value: SSAValue, found: dict[SSAValue, bool]) -> bool:
    """Whether a value is computed lane by lane, and all that is made of it too, up to what is stored.

    A constant takes no registers before the loop that it enters.
    """
    if isinstance(value.owner, FullOp):
        return True
    if value not in found:
        made = isinstance(value.owner, _LANE_BY_LANE)
        users = [use.operation for use in value.uses]
        within = all(isinstance(op, _LANE_BY_LANE) and op.parent is value.owner.parent for op in users)
        found[value] = made and within and all(_passes(op.results[0], found) or _is_stored(op) for op in users)
    return found[value]


def _is_stored(op: Operation) -> bool:
    return bool(op.results[0].uses) and all(isinstance(use.operation, StoreOp) for use in op.results[0].uses)


def _shape(launch: Launch, value: SSAValue) -> Shape | None:
    """The lanes and bits of a tile that is no scalar."""
    if not isinstance(value.type, TileType) or not value.type.rank:
        return None
    element = value.type.element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 32
    return _lanes(launch, value.type.dims.data), bits


def _lanes(launch: Launch, dims: tuple[DimAttr, ...]) -> tuple[Coefficient, ...]:
    return tuple(map(launch.lanes, dims))


def _inside(launch: Launch, op: Operation) -> list[Shape]:
    """What an op makes on its way."""
    if not isinstance(op, TakeAlongOp) or op.rows is None:
        return []
    rows, table = tile_type(op.rows), tile_type(op.input)
    return [((*_lanes(launch, rows.dims.data), launch.lanes(table.dims.data[0])), 32)]
