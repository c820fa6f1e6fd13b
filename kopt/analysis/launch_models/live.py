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
from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.launch_models.program_points import Path, inner_path
from kopt.dialects.tile import CarryingLoop, DimAttr, TakeAlongOp, TileType, tile_type
from kopt.ir.launch_model import Live
from kopt.ir.launch_sizes import widest
from kopt.ir.polynomial import Coefficient

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
    for shapes in alive_values(block, lambda value: _shape(launch, value), lambda op: _inside(launch, op)):
        yield Live(path, shapes)


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
