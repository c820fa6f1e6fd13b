"""What passes on `host.launch` share: the arrays that a launch begins with, and host ops that nothing uses any more."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType, StringAttr, UnitAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.wide_facts import is_wide
from kopt.diagnostics import location_of
from kopt.dialects import pallas
from kopt.dialects.host import AllocOp, CallOp, LaunchOp, ViewOp
from kopt.dialects.tile import GridOp, array_type, literal_value
from kopt.errors import LoweringError
from kopt.open_extents import is_open


def grid_of(launch: LaunchOp) -> GridOp:
    """The grid of a launch."""
    for op in launch.body.block.ops:
        if isinstance(op, GridOp):
            return op
    raise LoweringError("a launch without a grid", location_of(launch))


def is_bound(grid: GridOp) -> bool:
    """Whether a grid's blocks are bound to memory already: it is the kernel of a TPU."""
    return isinstance(grid.parent_op(), pallas.CallOp)


def initial_value(launch: LaunchOp, number: int) -> SSAValue:
    """What an argument of a launch's body holds at first: the operand, or a new array for what it yields."""
    return launch.inputs[number] if number < len(launch.inputs) else new_array(launch, number)


def new_array(launch: LaunchOp, number: int) -> SSAValue:
    """An allocation before a launch, of the type of one of its body's arguments."""
    argument = launch.body.block.args[number]
    alloc = AllocOp(array_type(argument))
    alloc.location = launch.location
    alloc.result.name_hint = argument.name_hint
    Rewriter.insert_op(alloc, InsertPoint.before(launch))
    return alloc.result


def keep_initial_values(launch: LaunchOp) -> None:
    """Lets every result that is still in use be what its argument holds at first: nothing was stored."""
    for number, result in zip(launch.written, launch.outputs, strict=True):
        if result.first_use is not None:
            result.replace_all_uses_with(initial_value(launch, number))


def drop_if_idle(launch: LaunchOp) -> bool:
    """Erases a launch that has no cells, or whose cells write nothing: what it writes stays as it was."""
    grids = [op for op in launch.body.block.ops if isinstance(op, GridOp)]
    if any(_has_cells(grid) and accessed(grid, MemoryEffectKind.WRITE) for grid in grids):
        return False
    keep_initial_values(launch)
    sources = list(launch.inputs)
    Rewriter.erase_op(launch)
    erase_unused(sources)
    return True


def _has_cells(grid: GridOp) -> bool:
    """Whether a grid has cells: extents that differ from call to call are never 0."""
    return all(is_open(upper) or lower < upper for lower, upper in grid.bounds)


def host_cast(value: SSAValue, type: MemRefType, launch: LaunchOp, before: bool = True) -> SSAValue:
    """An array in another element type, cast before or after a launch; a new array is made in that type."""
    op = _cast(value, type)
    op.location = launch.location
    op.results[0].name_hint = value.name_hint
    Rewriter.insert_op(op, InsertPoint.before(launch) if before else InsertPoint.after(launch))
    return op.results[0]


def _cast(value: SSAValue, type: MemRefType) -> Operation:
    if isinstance(alloc := value.owner, AllocOp):
        return AllocOp(type, literal_value(alloc.fill) if alloc.fill is not None else None)
    saturated = is_wide(value.type) and type.element_type == i32
    name = "kopt.saturate_to_i32" if saturated else "prims.convert_element_type.default"
    return CallOp(name, [value], [UnitAttr(), StringAttr(str(type.element_type))], [type])


def erase_unused(values: Sequence[SSAValue]) -> None:
    """Erases allocations, views and host calls that nothing uses any more, and what only they used."""
    for value in dict.fromkeys(values):
        op = value.owner
        if isinstance(op, AllocOp | ViewOp | CallOp) and all(result.first_use is None for result in op.results):
            sources = list(op.operands)
            Rewriter.erase_op(op)
            erase_unused(sources)
