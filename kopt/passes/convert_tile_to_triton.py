"""The pass ``convert-tile-to-triton``: each grid becomes one Triton kernel and its launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import Float8E4M3FNType, MemRefType, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.host_order import host_ops
from kopt.analysis.plan_problems.gpu import launch_problems
from kopt.analysis.ragged import ragged_ranges
from kopt.analysis.warps_and_stages import default_num_stages, default_num_warps
from kopt.diagnostics import location_of, remark
from kopt.dialects import tile, triton
from kopt.dialects.tile.extents import DimOp
from kopt.dialects.tile.planned import forget_plan
from kopt.dialects.tile.values import is_integer, is_same_number, literal, literal_value
from kopt.errors import LoweringError
from kopt.ir.ranges import unshifted
from kopt.passes.gpu.block_numbers import block_numbers
from kopt.passes.gpu.guarded_loops import guard_loops
from kopt.passes.ordering.permute import in_planned_order
from kopt.targets.budget import Budget
from kopt.targets.chips import GPU_CHIPS, GpuChip, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class ConvertTileToTritonPass(ModulePass):
    """Makes a ``triton.launch`` of each ``tile.grid``, over one program a cell.

    Ranges are made from the program's number. A load fills all lanes that it does not read with one number. With a
    mask that number is ``other``; a ``pad`` that differs is put by a `tile.mask`. Lanes of ragged ranges are 0
    where they may be indices. Pointers through which nothing is read are ``writeonly``, and a remark says so. Accesses
    whose buffer is a ``descriptor`` are marked so. Loops of products that may have no visits are ``guarded`` where the
    chip needs that. Warps, stages and the order of cells are the plan's; without a plan they follow from the blocks, as
    in ``plan-accesses``, and from the order of the grid. The plan also gives the number of persistent ``programs`` that
    share the cells, how many rows of cells run side by side (``group``), and the most ``registers`` of a thread. For
    chips without float8_e4m3fn the launch has ``e4m3_bytes``. Numbers of blocks that a program's own is divided by are
    marked ``constexpr``: the emitted text has names for them.

        tile.grid (%i: b0=128) in (1000) { %v = tile.load %x[%i] … }
    becomes
        triton.launch @f_0 (%x = %x, %out = %out writeonly) grid (8) num_warps 4 num_stages 2 {
          %pid = triton.program_id
          %i = triton.range %pid in (0, 1000) : !tile.range<b0=128>
          %v = tile.load %x[%i] …
        }

    Refuses blocks of more than 1048576 lanes, grids of more than 2^31-1 cells, cells that run in order, and launch
    options that ``verify-plan`` refuses.
    """

    name = "convert-tile-to-triton"

    chip: str = chip_option(GPU_CHIPS, "sm90")

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
            _check(grid, GPU_CHIPS[self.chip])
            options = _options(grid, GPU_CHIPS[self.chip])
            group = _number({} if grid.plan is None else dict(grid.plan.data.options), "group")
            grid = in_planned_order(grid)
            _mark_descriptors(grid)
            guard_loops(grid, GPU_CHIPS[self.chip])
            forget_plan(grid)
            for load in walk(grid, tile.LoadOp):
                _fill_once(load)
            self._convert_grid(grid, options, group, f"{func.sym_name.data}_{number}")

    def _convert_grid(self, grid: tile.GridOp, options: triton.LaunchOptions, group: int | None, name: str) -> None:
        inputs = _outer_values(grid)
        counts = _counts(grid)
        dims = [value.owner for value in inputs if isinstance(value.owner, DimOp)]
        arrays = [value for value in inputs if isinstance(value.type, MemRefType)]
        memrefs = _in_order(list(dict.fromkeys([*arrays, *(dim.source for dim in dims)])), grid)
        body = Block(arg_types=[value.type for value in memrefs])
        read = accessed(grid, MemoryEffectKind.READ)
        write_only = [number for number, value in enumerate(memrefs) if value in arrays and value not in read]
        launch = triton.LaunchOp(
            name,
            memrefs,
            _cells(grid),
            options,
            Region(body),
            grid.attributes,
            write_only,
            _per(grid),
        )
        launch.location = grid.location
        for number in write_only:
            remark(grid, f"'{memrefs[number].name_hint or 'array'}' is only written by {name}")
        inside: dict[SSAValue, SSAValue] = dict(zip(memrefs, body.args, strict=True))
        for value in inputs:
            if value not in inside:
                inside[value] = _number_inside(grid, value, body, inside)
        counts = [inside[count] if isinstance(count, SSAValue) else count for count in counts]
        _move_body(grid, body, inside, counts, group)
        if not GPU_CHIPS[self.chip].e4m3 and _has_e4m3(launch):
            launch.attributes["e4m3_bytes"] = UnitAttr()
        Rewriter.replace_op(grid, launch)


def _check(grid: tile.GridOp, chip: GpuChip) -> None:
    """Refuses what no launch of independent programs can do."""
    if problem := next(launch_problems(grid, chip), None):
        raise problem.error
    if grid.reduction_dims or grid.ordered_dims:
        raise LoweringError(
            "Triton runs the cells of a grid in no order: use a loop inside", location_of(grid), id="gpu-block"
        )
    if _cells(grid) >= 1 << 31:
        raise LoweringError(
            f"a GPU cannot launch {_cells(grid)} programs: use larger blocks", location_of(grid), id="gpu-block"
        )
    for op in walk(grid):
        for value in op.results:
            if isinstance(value.type, tile.TileType) and prod(value.type.shape) > Budget.MOST_LANES:
                raise LoweringError(
                    f"a block of {prod(value.type.shape)} lanes ({value.type}): Triton allows {Budget.MOST_LANES}",
                    location_of(op),
                    notes=["choose smaller block_sizes, or walk the dimension in a loop"],
                    id="gpu-block",
                )


def _has_e4m3(launch: triton.LaunchOp) -> bool:
    """Whether a kernel loads, stores or computes float8_e4m3fn."""
    types = [value.type for op in walk(launch.body) for value in (*op.operands, *op.results)]
    return any(isinstance(getattr(type, "element_type", None), Float8E4M3FNType) for type in types)


def _mark_descriptors(grid: tile.GridOp) -> None:
    """Accesses whose buffer in the plan is a descriptor say so themselves."""
    plan = None if grid.plan is None else grid.plan.data
    kinds = {} if plan is None else {buffer.name: buffer.kind for buffer in plan.buffers}
    for access in walk(grid, tile.LoadOp, tile.StoreOp):
        if access.via is not None and kinds.get(access.via.data) == "descriptor":
            access.attributes["descriptor"] = UnitAttr()


def _options(grid: tile.GridOp, chip: GpuChip) -> triton.LaunchOptions:
    """The plan's; warps and stages else follow from the blocks."""
    options = {} if grid.plan is None else dict(grid.plan.data.options)
    warps, stages, programs, registers = (_number(options, key) for key in ("warps", "stages", "programs", "registers"))
    if warps is None:
        warps = default_num_warps(grid, Budget(chip))
    return triton.LaunchOptions(
        warps,
        default_num_stages(grid, chip, warps) if stages is None else stages,
        programs,
        programs is not None and options.get("share") == "blocked",
        registers,
    )


def _number(options: Mapping[str, object], key: str) -> int | None:
    found = options.get(key)
    return found if isinstance(found, int) else None


def _cells(grid: tile.GridOp) -> int:
    """The programs, of each combination of blocks of extents that are values where there are such."""
    return prod(count for count in _counts(grid) if isinstance(count, int))


def _counts(grid: tile.GridOp) -> list[int | SSAValue]:
    """Blocks along each dimension of a grid: numbers, or the extent of which there are."""
    limits = zip(grid.bounds, grid.limits, grid.ranges, strict=True)
    return [
        limit if isinstance(limit, SSAValue) else -(-(limit - lower) // tile.range_type(range).size)
        for (lower, _), limit, range in limits
    ]


def _per(grid: tile.GridOp) -> list[tuple[SSAValue, int]]:
    """The extents of a grid that are values, with the sizes of their blocks."""
    pairs = zip(grid.limits, grid.ranges, strict=True)
    return [(limit, tile.range_type(range).size) for limit, range in pairs if isinstance(limit, SSAValue)]


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


def _number_inside(grid: tile.GridOp, value: SSAValue, body: Block, inside: dict[SSAValue, SSAValue]) -> SSAValue:
    """A copy of an outer constant, or of an array's extent, at the start of the kernel."""
    if isinstance(dim := value.owner, DimOp):
        own = DimOp(inside[dim.source], dim.dim.data, dim.divisor)
        own.location, own.result.name_hint = dim.location, value.name_hint
        body.add_op(own)
        return own.result
    if not isinstance(value.owner, ConstantOp):
        raise LoweringError(
            f"a kernel cannot use the host's {value.type} %{value.name_hint}", location_of(grid), id="gpu-block"
        )
    constant = value.owner.clone()
    body.add_op(constant)
    return constant.result


def _move_body(
    grid: tile.GridOp,
    body: Block,
    inside: dict[SSAValue, SSAValue],
    counts: Sequence[int | SSAValue],
    group: int | None,
) -> None:
    """Moves a grid's operations behind new ranges, and lets them use the kernel's own values."""
    inner = set(walk(grid))
    for outer, own in inside.items():
        own.name_hint = outer.name_hint
        for use in list(outer.uses):
            if use.operation in inner:
                use.operation.operands[use.index] = own
    blocks = block_numbers(body, grid, counts, group)
    for range, block, (lower, _), limit in zip(grid.ranges, blocks, grid.bounds, grid.limits, strict=True):
        made = triton.RangeOp(block, lower, limit, tile.range_type(range))
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
    if made.upper is None:
        return
    trips = -(-(made.upper.data - made.lower.data) // tile.range_type(op.range).size)
    Rewriter.replace_op(op, ConstantOp.from_int_and_width(trips, op.result.type))


def _fill_once(load: tile.LoadOp) -> None:
    """A load's fill outside its ranges and its fill where the mask does not hold become one, or a mask on top."""
    ragged = ragged_ranges(load)
    checked = any(range is not None for range in ragged)
    pad = load.pad if checked else None
    if load.mask is None:
        load.pad = _index_fill(load) if checked and pad is None else pad
        return
    load.pad = None
    if pad is None or is_same_number(pad, 0.0 if load.other is None else literal_value(load.other)):
        return
    mask = tile.MaskOp(load, ragged, literal_value(pad))
    mask.location = load.location
    mask.result.name_hint = load.result.name_hint
    Rewriter.insert_op(mask, InsertPoint.after(load))
    load.result.replace_uses_with_if(mask.result, lambda use: use.operation is not mask)


def _index_fill(load: tile.LoadOp) -> Attribute | None:
    """Numbers that may become indices are 0 where they are not read."""
    element = tile.tile_type(load.result).element_type
    return literal(0, element) if is_integer(element) else None
