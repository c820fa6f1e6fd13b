"""The pass ``convert-tile-to-triton``: each grid becomes one Triton kernel and its launch."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerType, MemRefType, ModuleOp, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.host_order import host_ops
from kopt.analysis.launch_options import default_num_stages, default_num_warps
from kopt.diagnostics import location_of, remark
from kopt.dialects import atomic, tile, triton
from kopt.dialects.tile.index_list import block_axes
from kopt.dialects.tile.memory import memory_shape
from kopt.dialects.tile.planned import forget_plan
from kopt.dialects.tile.values import literal, literal_value
from kopt.errors import LoweringError
from kopt.ir.ranges import always_full, ranges_in_scope, unshifted
from kopt.lowering.triton.block_numbers import block_numbers
from kopt.passes.ordering.permute import in_planned_order
from kopt.targets.budget import Budget
from kopt.targets.chips import GPU_CHIPS
from kopt.walk import walk


@dataclass(frozen=True)
class ConvertTileToTritonPass(ModulePass):
    """Makes a ``triton.launch`` of each ``tile.grid``, over one program a cell.

    Ranges are made from the program's number; loads, stores and updates name the ranges whose lanes they must check,
    which are those that may be ragged. Pointers through which nothing is read are ``writeonly``, and a remark says so.
    Warps, stages and the order of cells are the plan's; without one they follow from the blocks, as ``plan-accesses``
    has them, and from the order of the grid.

        tile.grid (%i: b0=128) in (1000) { %v = tile.load %x[%i] … }
    becomes
        triton.launch @f_0 (%x = %x, %out = %out writeonly) grid (8) num_warps 4 num_stages 2 {
          %pid = triton.program_id
          %i = triton.range %pid in (0, 1000) : !tile.range<b0=128>
          %v = triton.load %x[%i] in (%i) …
        }

    Refuses blocks of more than 1048576 lanes, grids of more than 2^31-1 cells, and cells that run in order.
    """

    name = "convert-tile-to-triton"

    chip: str = "sm90"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, FuncOp) and func.body.blocks:
                self._convert_function(func)

    def _convert_function(self, func: FuncOp) -> None:
        grids = [op for op in host_ops(func.body.block) if isinstance(op, tile.GridOp)]
        for number, grid in enumerate(grids):
            if any(lower == upper for lower, upper in grid.bounds):
                Rewriter.erase_op(grid)
                continue
            _check(grid)
            options = _options(grid, Budget(GPU_CHIPS[self.chip]))
            grid = in_planned_order(grid)
            forget_plan(grid)
            _convert_accesses(grid)
            self._convert_grid(grid, options, f"{func.sym_name.data}_{number}")

    def _convert_grid(self, grid: tile.GridOp, options: tuple[int, int], name: str) -> None:
        inputs = _outer_values(grid)
        memrefs = _in_order([value for value in inputs if isinstance(value.type, MemRefType)], grid)
        body = Block(arg_types=[value.type for value in memrefs])
        cells = _cells(grid)
        read = accessed(grid, MemoryEffectKind.READ)
        write_only = [number for number, value in enumerate(memrefs) if value not in read]
        launch = triton.LaunchOp(
            name,
            memrefs,
            cells,
            *options,
            Region(body),
            grid.attributes,
            write_only,
        )
        launch.location = grid.location
        for number in write_only:
            remark(grid, f"'{memrefs[number].name_hint or 'array'}' is only written by {name}")
        inside: dict[SSAValue, SSAValue] = dict(zip(memrefs, body.args, strict=True))
        for value in inputs:
            if value not in inside:
                inside[value] = _constant_inside(grid, value, body)
        _move_body(grid, body, inside)
        Rewriter.replace_op(grid, launch)


def _check(grid: tile.GridOp) -> None:
    """Refuses what no launch of independent programs can do."""
    if grid.reduction_dims or grid.ordered_dims:
        raise LoweringError("Triton runs the cells of a grid in no order: use a loop inside", location_of(grid))
    if _cells(grid) >= 1 << 31:
        raise LoweringError(f"a GPU cannot launch {_cells(grid)} programs: use larger blocks", location_of(grid))
    for op in walk(grid):
        for value in op.results:
            if isinstance(value.type, tile.TileType) and prod(value.type.shape) > Budget.MOST_LANES:
                raise LoweringError(
                    f"a block of {prod(value.type.shape)} lanes ({value.type}): Triton allows {Budget.MOST_LANES}",
                    location_of(op),
                    notes=["choose smaller block_sizes, or walk the dimension in a loop"],
                )


def _options(grid: tile.GridOp, budget: Budget) -> tuple[int, int]:
    """Warps and stages: the plan's, else those that follow from the blocks."""
    options = {} if grid.plan is None else dict(grid.plan.data.options)
    warps, stages = options.get("warps"), options.get("stages")
    return (
        warps if isinstance(warps, int) else default_num_warps(grid),
        stages if isinstance(stages, int) else default_num_stages(grid, budget),
    )


def _cells(grid: tile.GridOp) -> int:
    return prod(_counts(grid))


def _counts(grid: tile.GridOp) -> list[int]:
    """Blocks along each dimension of a grid."""
    sizes = [range.type.size for range in grid.ranges]  # pyright: ignore[reportAttributeAccessIssue]
    return [-(-(upper - lower) // size) for (lower, upper), size in zip(grid.bounds, sizes, strict=True)]


def _outer_values(grid: tile.GridOp) -> list[SSAValue]:
    """What a grid's body uses from outside, each once, in order of use."""
    inner = {grid, *walk(grid)}
    found: dict[SSAValue, None] = {}
    for op in walk(grid):
        for value in op.operands:
            owner = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
            if owner not in inner:
                found[value] = None
    return list(found)


def _in_order(memrefs: list[SSAValue], grid: tile.GridOp) -> list[SSAValue]:
    """Memrefs in the order in which the function defines them: arguments first."""
    func = grid.parent_op()
    while not isinstance(func, FuncOp):
        assert func is not None
        func = func.parent_op()
    defined = [*func.body.block.args, *(result for op in host_ops(func.body.block) for result in op.results)]
    return sorted(memrefs, key={value: number for number, value in enumerate(defined)}.__getitem__)


def _constant_inside(grid: tile.GridOp, value: SSAValue, body: Block) -> SSAValue:
    """A copy of an outer constant at the start of the kernel."""
    if not isinstance(value.owner, ConstantOp):
        raise LoweringError(f"a kernel cannot use the host's {value.type} %{value.name_hint}", location_of(grid))
    constant = value.owner.clone()
    body.add_op(constant)
    return constant.result


def _move_body(grid: tile.GridOp, body: Block, inside: dict[SSAValue, SSAValue]) -> None:
    """Moves a grid's operations behind new ranges, and lets them use the kernel's own values."""
    inner = set(walk(grid))
    for outer, own in inside.items():
        own.name_hint = outer.name_hint
        for use in list(outer.uses):
            if use.operation in inner:
                use.operation.operands[use.index] = own
    blocks = block_numbers(body, grid, _counts(grid))
    for range, block, (lower, upper) in zip(grid.ranges, blocks, grid.bounds, strict=True):
        assert isinstance(range.type, tile.RangeType)
        made = triton.RangeOp(block, lower, upper, range.type)
        made.location = grid.location
        made.result.name_hint = range.name_hint
        body.add_op(made)
        range.replace_all_uses_with(made.result)
    source = grid.body.block
    for op in list(source.ops):
        op.detach()
        if not isinstance(op, tile.YieldOp):
            body.add_op(op)
    for op in walk(body):
        _convert_block_numbers(op)


def _convert_block_numbers(op: Operation) -> None:
    """``tile.id`` and ``tile.count`` of the grid's ranges are numbers now."""
    if not isinstance(op, tile.IdOp | tile.CountOp):
        return
    made = unshifted(op.range).owner
    if not isinstance(made, triton.RangeOp):
        return
    if isinstance(op, tile.IdOp):
        op.result.replace_all_uses_with(made.block)
        Rewriter.erase_op(op)
        return
    assert isinstance(op.range.type, tile.RangeType)
    trips = -(-(made.upper.data - made.lower.data) // op.range.type.size)
    Rewriter.replace_op(op, ConstantOp.from_int_and_width(trips, op.result.type))


def _convert_accesses(grid: tile.GridOp) -> None:
    for op in walk(grid):
        if isinstance(op, tile.LoadOp):
            _convert_load(op)
        elif isinstance(op, tile.StoreOp):
            _replace(op, triton.StoreOp(op.value, op.memory, op.entries, _limits(op), op.mask, op.attributes))
        elif isinstance(op, atomic.RmwOp | atomic.CasOp):
            _replace(op, _update(op))


def _replace(op: Operation, new: Operation) -> None:
    new.location = op.location
    for result, old in zip(new.results, op.results, strict=True):
        result.name_hint = old.name_hint
    Rewriter.replace_op(op, new)


def _update(op: atomic.RmwOp | atomic.CasOp) -> Operation:
    access = (op.memory, op.entries, _limits(op), op.mask, op.ordering.data)
    if isinstance(op, atomic.CasOp):
        return triton.AtomicCasOp(op.expected, op.desired, *access, op.attributes)
    return triton.AtomicRmwOp(op.kind.data, op.value, *access, bool(op.previous), op.attributes)


def _limits(op: tile.LoadOp | tile.StoreOp | atomic.RmwOp | atomic.CasOp) -> list[SSAValue | None]:
    """For each dimension of an access, the range that may be ragged, or None."""
    scope = ranges_in_scope(op)
    limits: list[SSAValue | None] = []
    for axis in block_axes(op.entries, memory_shape(op.memory.type)):
        entry = op.entries[axis.position]
        range = scope.get(axis.dim.tag.data)
        if axis.gather_dim is None and tile.is_range(entry):
            assert isinstance(entry, SSAValue)
            range = unshifted(entry)
        limits.append(range if range is not None and not always_full(range) else None)
    return limits


def _convert_load(op: tile.LoadOp) -> None:
    """A load's fill outside its ranges and its fill where the mask does not hold become one, or a select on top."""
    limits = _limits(op)
    checked = any(limit is not None for limit in limits)
    pad = literal_value(op.pad) if op.pad is not None and checked else None
    other = _other(op, checked)
    load = triton.LoadOp(op.memory, op.entries, limits, op.mask, other, op.attributes)
    load.location = op.location
    load.result.name_hint = op.result.name_hint
    if pad is None or other is None or pad == literal_value(other):
        Rewriter.replace_op(op, load)
        return
    mask = tile.MaskOp(load, limits, pad)
    mask.location = op.location
    mask.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, [load, mask], [mask.result])


def _other(op: tile.LoadOp, checked: bool):
    """What the load itself fills with: the kernel's ``other``, else the pad; numbers that may become indices are 0."""
    assert isinstance(op.result.type, tile.TileType)
    element = op.result.type.element_type
    if op.mask is not None:
        return op.other or literal(0, element)
    if op.pad is not None:
        return op.pad if checked else None
    if checked and isinstance(element, IntegerType) and element != i1:
        return literal(0, element)
    return None
