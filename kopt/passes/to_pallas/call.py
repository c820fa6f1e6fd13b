"""One `host.launch` becomes one `pallas.call`, with the arrays it takes in the layouts that its windows need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.footprint import call_bytes
from kopt.analysis.launch_temporaries import is_temporary
from kopt.analysis.layouts import Layout, LayoutProblem, Part, fits_scalar_memory, layout
from kopt.analysis.pipelining import Pipelined, pipelined
from kopt.analysis.ranges import binding
from kopt.analysis.streaming import sends, streamed_extents, streams
from kopt.analysis.windows import Dim, Window, is_injective, windows
from kopt.diagnostics import location_of, remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.pallas import CallOp, ScratchOp, WindowAttr
from kopt.dialects.tile import ALL, GetOp, GridOp, LoadOp, PutOp, RefType, TileType, WhenOp, is_gather
from kopt.errors import LoweringError
from kopt.passes.to_pallas.accesses import Place, convert_load, convert_store
from kopt.passes.to_pallas.arrays import from_physical, physical_type, to_physical
from kopt.passes.to_pallas.cell_streams import fetch_ahead
from kopt.passes.to_pallas.launches import erase_unused, keep_initial_values
from kopt.passes.to_pallas.pipelined import Stream, convert_pipelines
from kopt.passes.to_pallas.remote import name_refs, number_barriers, remote_windows
from kopt.passes.to_pallas.rows import fetch_row, scatter_rows, send_row, stays_in_hbm
from kopt.passes.to_pallas.sends import send_block
from kopt.passes.to_pallas.streams import stream_load
from kopt.runtime.targets import TpuChip


@dataclass(frozen=True)
class Operand:
    """One memref of a launch: its window and layout, whether the call takes it and gives a new version of it.

    What is ``donated`` is taken for its memory alone: it stays in HBM, and nothing is copied from it. A temporary is
    neither taken nor given: it is scratch memory as large as the window.
    """

    number: int
    window: Window
    layout: Layout
    space: str
    reads: bool
    writes: bool
    donated: bool = False
    pipelined: Pipelined | None = None


def grid_of(launch: LaunchOp) -> GridOp:
    """The grid of a launch."""
    for op in launch.body.block.ops:
        if isinstance(op, GridOp):
            return op
    raise LoweringError("a launch without a grid", location_of(launch))


def plan_operands(launch: LaunchOp) -> list[Operand]:
    """What the call has to do with each memref that the launch uses, in order.

    Raises `LoweringError` where no layout makes a window legal for Mosaic.
    """
    args = launch.body.block.args
    found = windows(grid_of(launch), args)
    remote = dict(remote_windows(launch))
    return [
        _in_hbm(launch, number, remote[arg]) if arg in remote else _plan(launch, number, found[arg])
        for number, arg in enumerate(args)
        if arg in found or arg in remote
    ]


def _in_hbm(launch: LaunchOp, number: int, window: Window) -> Operand:
    """An operand that is not cut into blocks."""
    whole = _all_of(window)
    return Operand(number, whole, _as_it_is(whole), "hbm", number < len(launch.inputs), number in launch.written)


def _plan(launch: LaunchOp, number: int, window: Window) -> Operand:
    if is_temporary(launch, number, window, grid_of(launch)):
        return Operand(number, window, _legal(window), "vmem", reads=False, writes=False)
    writes = number in launch.written
    reads = number < len(launch.inputs)
    if (plan := pipelined(window)) is not None:
        return Operand(number, window, plan.array, "hbm", reads, writes, pipelined=plan)
    if stays_in_hbm(window):
        return _in_hbm(launch, number, window)
    if streams(window):
        return Operand(number, _all_of(window), _streamed(window), "hbm", reads, writes)
    if sends(window):
        return Operand(number, window, _streamed(window), "hbm", reads, writes)
    if not writes and (space := _unblocked_space(window)):
        whole = _all_of(window)
        return Operand(number, whole, _as_it_is(whole), space, reads, writes)
    if not writes and _is_chunk_of_scalars(window):
        return Operand(number, window, _chunks(window), "smem", reads, writes)
    return Operand(number, window, _legal(window), "vmem", reads, writes, number in launch.donated)


def _legal(window: Window) -> Layout:
    try:
        return layout(window)
    except LayoutProblem as problem:
        access = (window.loads or window.stores)[0]
        raise LoweringError(str(problem), location_of(access)) from None


def _unblocked_space(window: Window) -> str | None:
    """The memory of an array that is not cut into blocks: scalars, or rows that are gathered by DMA."""
    if any(is_gather(entry) for load in window.loads for entry in load.entries):
        return "hbm"
    return "smem" if _is_scalars(window) else None


def _is_scalars(window: Window) -> bool:
    """Whether only single 32-bit elements of a small array are loaded."""
    return _loads_scalars(window) and fits_scalar_memory(window.type)


def _loads_scalars(window: Window) -> bool:
    scalars = all(isinstance(load.result.type, TileType) and load.result.type.rank == 0 for load in window.loads)
    return scalars and window.bits == 32


def _is_chunk_of_scalars(window: Window) -> bool:
    """Whether single elements are loaded of one row of an array, the same for many cells (see ``chunk-scalars``)."""
    return _loads_scalars(window) and [dim.kind for dim in window.dims] == ["point", "whole"]


def _chunks(window: Window) -> Layout:
    """Rows by themselves, as Mosaic wants blocks of one row."""
    rows, columns = window.type.get_shape()
    parts = (Part("all", 0), Part("unit"), Part("all", 1))
    return Layout((rows, columns), (0, 0), parts, (0, 1, columns), "chunks of scalars")


def _all_of(window: Window) -> Window:
    """The window that holds the whole array."""
    return replace(window, dims=tuple(Dim("whole", extent) for extent in window.type.get_shape()))


def _streamed(window: Window) -> Layout:
    """The array as DMAs read it: padded so that no block reaches beyond it."""
    shape, extents = window.type.get_shape(), streamed_extents(window)
    parts = tuple(Part("all", number) for number in range(len(shape)))
    reason = None if extents == shape else "blocks that DMAs read to the end"
    return Layout(extents, (0,) * len(shape), parts, extents, reason)


def _as_it_is(window: Window) -> Layout:
    """The array unchanged; a scalar, for which Mosaic has no windows, as an array of one element."""
    shape = window.type.get_shape()
    if not shape:
        return Layout((), (), (Part("unit"),), (1,), "a scalar")
    parts = tuple(Part("all", number) for number in range(len(shape)))
    return Layout(shape, (0,) * len(shape), parts, shape)


def _index(operand: Operand, rank: int) -> AffineMap:
    """The number of the block of each physical dimension, over the grid; what stays in HBM is whole."""
    zero = AffineExpr.constant(0)
    results = []
    for part in operand.layout.parts:
        moves = part.kind in ("all", "outer") and operand.space != "hbm"
        dim = operand.window.dims[part.dim] if moves else None
        results.append(zero if dim is None else dim.index)
    return AffineMap(rank, 0, tuple(results))


def _window_attr(operand: Operand, rank: int) -> WindowAttr:
    return WindowAttr(operand.layout.blocks, _index(operand, rank), operand.space)


def _ref_type(operand: Operand) -> RefType:
    seen = [size for size in operand.layout.blocks if size]
    return RefType(seen, operand.window.type.element_type, operand.space)


def _taken(operand: Operand) -> Operand:
    """An operand as the call takes it: what is donated is one block in HBM."""
    if not operand.donated:
        return operand
    shape = operand.layout.shape
    whole = replace(_as_it_is(operand.window), parts=(Part("unit"),) * len(shape), blocks=shape)
    return replace(operand, layout=whole, space="hbm")


class LaunchConverter:
    """Converts one launch; see `convert`."""

    def __init__(self, launch: LaunchOp, chip: TpuChip):
        self.launch = launch
        self.chip = chip
        self.grid = grid_of(launch)
        self.operands = plan_operands(launch)
        self.rank = max(1, len(self.grid.ranges))
        self.temporaries: dict[SSAValue, Place] = {}

    def convert(self) -> CallOp:
        """Puts a call in the launch's place, with host ops for layouts around it."""
        inputs = [operand for operand in self.operands if operand.reads]
        outputs = [operand for operand in self.operands if operand.writes]
        self._place_temporaries()
        scratch = [op for op in self.launch.body.block.ops if isinstance(op, ScratchOp)]
        call = self._make_call(inputs, outputs, scratch)
        self._move_body(call, inputs, outputs, scratch)
        self._set_limit(call)
        self._replace_results(call, outputs)
        return call

    def _place_temporaries(self) -> None:
        """Scratch memory for the arrays that only the cells themselves see."""
        for operand in self.operands:
            if not operand.reads and not operand.writes:
                memory = self.launch.body.block.args[operand.number]
                scratch = ScratchOp(_ref_type(operand))
                scratch.result.name_hint = memory.name_hint
                Rewriter.insert_op(scratch, InsertPoint.before(self.grid))
                self.temporaries[memory] = Place(operand.window, operand.layout, scratch.result)
                name = memory.name_hint or "array"
                remark(self.launch, f"'{name}' is no array: its blocks are memory of the chip, {scratch.result.type}")

    def _make_call(self, inputs: Sequence[Operand], outputs: Sequence[Operand], scratch: Sequence[ScratchOp]) -> CallOp:
        arrays = [to_physical(self.launch.inputs[o.number], o.layout, self.launch) for o in inputs]
        numbers = [operand.number for operand in inputs]
        scratch_types = [op.result.type for op in scratch]
        call = CallOp(
            self.launch.sym_name.data,
            arrays,
            [physical_type(o.window.type, o.layout) for o in outputs],
            [*(_window_attr(_taken(o), self.rank) for o in inputs), *(_window_attr(o, self.rank) for o in outputs)],
            semantics(self.grid, outputs),
            [numbers.index(o.number) if o.number in numbers else -1 for o in outputs],
            [type for type in scratch_types if isinstance(type, RefType)],
            [*(_ref_type(_taken(o)) for o in inputs), *(_ref_type(o) for o in outputs)],
        )
        call.location = self.launch.location
        Rewriter.insert_op(call, InsertPoint.before(self.launch))
        return call

    def _set_limit(self, call: CallOp) -> None:
        """Asks for more VMEM than a kernel has by default where it may need more: up to twice what is seen here."""
        limit = min(self.chip.vmem_bytes, 2 * call_bytes(call, self.grid))
        if limit > self.chip.scoped_vmem_bytes:
            call.vmem_limit = IntegerAttr(limit, 64)

    def _move_body(
        self, call: CallOp, inputs: Sequence[Operand], outputs: Sequence[Operand], scratch: Sequence[ScratchOp]
    ) -> None:
        args = self.launch.body.block.args
        self.grid.detach()
        call.body.block.add_op(self.grid)
        refs_of: dict[SSAValue, SSAValue] = dict(zip((op.result for op in scratch), call.scratch, strict=True))
        for value, ref in refs_of.items():
            ref.name_hint = value.name_hint
            value.replace_all_uses_with(ref)
        places = {memory: replace(place, ref=refs_of[place.ref]) for memory, place in self.temporaries.items()}
        for operands, refs in ((inputs, call.input_refs), (outputs, call.output_refs)):
            for operand, ref in zip(operands, refs, strict=True):
                memory = args[operand.number]
                ref.name_hint = _ref_hint(memory, operand, operands is outputs)
                places[memory] = Place(operand.window, operand.layout, ref)
        convert_pipelines(
            [
                Stream(walk, operand.window, operand.pipelined.layout, places[args[operand.number]].ref)
                for operand in self.operands
                if operand.pipelined is not None
                for walk in operand.pipelined.walks
            ]
        )
        unmoved = [operand for operand in self.operands if operand.pipelined is None]
        streamed = [operand for operand in unmoved if streams(operand.window)]
        fetched = [operand for operand in unmoved if stays_in_hbm(operand.window) and not operand.window.written]
        for operand in unmoved:
            if operand not in streamed and operand not in fetched:
                self._convert_accesses(operand, places[args[operand.number]], call)
        # Last: where the next cell's blocks are is read off numbers that are loaded in the kernel's own way by then.
        for operand in streamed:
            for load in operand.window.loads:
                if stream_load(load, places[args[operand.number]].ref, call, self._cell(call)):
                    _run_in_order(call)
        for operand in fetched:
            for load in operand.window.loads:
                self._fetch(load, places[args[operand.number]].ref, call)
        name_refs(call, {memory: place.ref for memory, place in places.items()})
        number_barriers(call)
        self._copy_old(call, inputs, outputs)

    def _fetch(self, load: LoadOp, source: SSAValue, call: CallOp) -> None:
        """Copies a block that the grid does not tell, for the next cell too where that can be told."""
        cell = self._cell(call)
        if cell is not None and fetch_ahead(load, source, call, cell):
            _run_in_order(call)
        else:
            fetch_row(load, source, call)

    def _convert_accesses(self, operand: Operand, place: Place, call: CallOp) -> None:
        """Lets the accesses of an array see its block, or move it."""
        # Asked before any of its accesses is gone.
        by_rows, sent = stays_in_hbm(operand.window), sends(operand.window)
        for load in operand.window.loads:
            if by_rows or sent:
                fetch_row(load, place.ref, call)
            else:
                convert_load(load, place)
        for store in operand.window.stores:
            if by_rows and any(is_gather(entry) for entry in store.entries):
                scatter_rows(store, place.ref)
            elif by_rows:
                send_row(store, place.ref, call)
            elif sent:
                send_block(store, place, call)
            else:
                convert_store(store, place)

    def _cell(self, call: CallOp) -> SSAValue | None:
        """The range along which cells follow one another on one core: the one that moves fastest."""
        number = _fastest(self.grid)
        if number is None or call.semantics.data[number].data == "parallel" and self.chip.cores > 1:
            return None
        return self.grid.ranges[number]

    def _copy_old(self, call: CallOp, inputs: Sequence[Operand], outputs: Sequence[Operand]) -> None:
        """Where old elements count, the output's block starts as the input's, on the first visit to it.

        What stays in HBM is one array under two names, so nothing is to be copied.
        """
        refs = {operand.number: ref for operand, ref in zip(inputs, call.input_refs, strict=True)}
        for operand, target in zip(reversed(outputs), reversed(call.output_refs), strict=True):
            if operand.number in refs and operand.space != "hbm" and not operand.donated:
                revisiting = [r for n, r in enumerate(self.grid.ranges) if n not in operand.window.grid_dims]
                self._copy_block(refs[operand.number], target, revisiting)

    def _copy_block(self, source: SSAValue, target: SSAValue, revisiting: Sequence[SSAValue]) -> None:
        assert isinstance(source.type, RefType)
        entries = [ALL] * source.type.rank
        get = GetOp(source, entries)
        ops: list[Operation] = [get, PutOp(get.result, target, entries)]
        get.result.name_hint = "old"
        block = self.grid.body.block
        if revisiting:
            ops = [WhenOp("first", revisiting, Region(Block(ops)))]
        assert block.first_op is not None
        Rewriter.insert_op(ops, InsertPoint.before(block.first_op))

    def _replace_results(self, call: CallOp, outputs: Sequence[Operand]) -> None:
        for operand, output in zip(outputs, call.outputs, strict=True):
            result = self.launch.outputs[self.launch.written.index(operand.number)]
            output.name_hint = result.name_hint
            new = from_physical(output, operand.layout, operand.window.type, call)
            new.name_hint = result.name_hint
            result.replace_all_uses_with(new)
        keep_initial_values(self.launch)
        sources = list(self.launch.inputs)
        Rewriter.erase_op(self.launch)
        erase_unused(sources)


def _ref_hint(memory: SSAValue, operand: Operand, is_output: bool) -> str | None:
    """The name of a ref: an array that is read and written has two."""
    return f"new_{memory.name_hint}" if is_output and operand.reads and memory.name_hint else memory.name_hint


def _fastest(grid: GridOp) -> int | None:
    """The last dimension of a grid that has several cells."""
    return next((n for n in reversed(range(len(grid.ranges))) if (binding(grid.ranges[n]).trips or 0) > 1), None)


def _run_in_order(call: CallOp) -> None:
    """Keeps the cells along the dimension that moves fastest on one core."""
    grid = next(op for op in call.body.block.ops if isinstance(op, GridOp))
    words = [word.data for word in call.semantics.data]
    number = _fastest(grid)
    assert number is not None
    words[number:] = ["arbitrary"] * (len(words) - number)  # those behind it have one cell
    call.semantics = ArrayAttr([StringAttr(word) for word in words])


def semantics(grid: GridOp, outputs: Sequence[Operand]) -> list[str]:
    """Which grid dimensions may run in any order: those that every output's block moves with, one to one.

    Cores share the outermost ones, so what is inside of a dimension that runs in order does too.
    """
    ordered = {*grid.reduction_dims, *grid.ordered_dims}
    words = []
    for number in range(max(1, len(grid.ranges))):
        free = number not in ordered and all(_moves_with(o.window, number) for o in outputs)
        words.append("parallel" if free and "arbitrary" not in words else "arbitrary")
    return words


def _moves_with(window: Window, number: int) -> bool:
    return any(number in dim.index.used_dims() and is_injective(dim.index) for dim in window.dims)
