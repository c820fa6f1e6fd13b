"""Arrays of no elements: nothing is stored into them, and what is combined out of them is the neutral value."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.ranges import binding
from kopt.diagnostics import location_of
from kopt.dialects.atomic import RmwOp
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import DotOp, ForOp, FullOp, LoadOp, ReduceOp, StoreOp, TileType, literal_value, neutral
from kopt.errors import LoweringError
from kopt.passes.to_pallas.empty_carries import drop_empty_carries
from kopt.passes.to_pallas.launches import erase_unused, keep_initial_values
from kopt.passes.to_pallas.operands import grid_of


def drop_empty_accesses(launch: LaunchOp) -> None:
    """Removes everything of zero size from a launch's body.

    A block of an array without elements has no lane that anything loads. A `tile.for` over nothing gives its initial
    values, and none carries values without lanes; a reduction of nothing gives its neutral value; a dot over nothing
    its accumulator. Refuses other uses of blocks without lanes.
    """
    for loop in _empty_loops(launch):
        Rewriter.replace_op(loop, [], loop.inits)
    if not any(_is_empty(arg.type) for arg in launch.body.block.args) and all(map(_lanes, launch.walk())):
        return
    drop_empty_carries(launch)
    for op in [op for op in launch.walk() if isinstance(op, LoadOp | StoreOp | RmwOp | ReduceOp | DotOp)]:
        _simplify(op)
    for op in reversed([op for op in launch.walk() if _lanes(op) == 0]):
        if any(result.first_use is not None for result in op.results):
            raise LoweringError(f"'{op.name}' computes on a block without lanes", location_of(op))
        Rewriter.erase_op(op)


def _empty_loops(launch: LaunchOp) -> list[ForOp]:
    loops = [op for op in launch.walk() if isinstance(op, ForOp)]
    return [loop for loop in loops if (trips := binding(loop.range).trips) is not None and trips < 1]


def _simplify(op: LoadOp | StoreOp | RmwOp | ReduceOp | DotOp) -> None:
    if isinstance(op, LoadOp):
        if _is_empty(op.memory.type) and _size(op.result) != 0:
            _replace(op, FullOp(literal_value(op.other) if op.other is not None else 0, _type(op.result)))
    elif isinstance(op, StoreOp | RmwOp):
        if not op.results and (_is_empty(op.memory.type) or _size(op.value) == 0):
            Rewriter.erase_op(op)
    elif isinstance(op, ReduceOp):
        if _size(op.input) == 0 and _size(op.result) != 0:
            _replace(op, FullOp(neutral(op.kind.data, _type(op.input).element_type), _type(op.result)))
    elif _size(op.lhs) == 0 and _size(op.result) != 0:
        if op.accumulator is not None:
            Rewriter.replace_op(op, [], [op.accumulator])
        else:
            _replace(op, FullOp(0, _type(op.result)))


def _replace(op: Operation, new: Operation) -> None:
    new.location = op.location
    Rewriter.replace_op(op, new)


def _lanes(op: Operation) -> int:
    """The lanes of an op's tiles; 1 where it has none."""
    return min((_size(result) for result in op.results if isinstance(result.type, TileType)), default=1)


def _type(value: SSAValue) -> TileType:
    assert isinstance(value.type, TileType)
    return value.type


def _size(value: SSAValue) -> int:
    count = 1
    for size in _type(value).shape:
        count *= size
    return count


def _is_empty(type: object) -> bool:
    return isinstance(type, MemRefType) and 0 in type.get_shape()


def drop_if_idle(launch: LaunchOp) -> bool:
    """Erases a launch that has no cells, or whose cells write nothing: what it writes stays as it was."""
    grid = grid_of(launch)
    if all(lower < upper for lower, upper in grid.bounds) and accessed(grid, MemoryEffectKind.WRITE):
        return False
    keep_initial_values(launch)
    sources = list(launch.inputs)
    Rewriter.erase_op(launch)
    erase_unused(sources)
    return True
