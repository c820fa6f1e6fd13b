"""What a call has to do with each array of a launch: its window, its layout, the memory that it is in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from kopt.analysis.buffer_kinds import PlacedArray
from kopt.analysis.index_maps import IndexNumber
from kopt.analysis.layouts import Layout, LayoutProblem, PhysicalDim, layout
from kopt.analysis.pipelining import Pipelined, plan_pipelined
from kopt.analysis.planned_buffers import addressed_window, is_prefetched, planned_buffers
from kopt.analysis.streaming import streamed_extents
from kopt.analysis.windows import Dim, Window, windows
from kopt.diagnostics import location_of
from kopt.dialects.host import LaunchOp
from kopt.dialects.pallas import NumberAttr, WindowAttr
from kopt.dialects.tile import RefType
from kopt.errors import LoweringError, UnsupportedError
from kopt.open_extents import is_open, open_extents
from kopt.passes.binding.remote import remote_windows
from kopt.passes.launches import grid_of
from kopt.plans.plan import Buffer


@dataclass(frozen=True)
class BoundOperand:
    """One memref of a launch: its window and layout, whether the call takes it and gives a new version of it.

    ``kind`` is where its blocks stand (`kopt.analysis.buffer_kinds`, or ``remote``: in HBM, named by copies between
    ranks). What is ``donated`` is taken for its memory alone: it stays in HBM, and nothing is copied from it. A
    temporary is neither taken nor given: it is scratch memory as large as the window. What is ``prefetched`` is there
    before the grid runs.
    """

    number: int
    kind: str
    window: Window
    layout: Layout
    space: str
    reads: bool
    writes: bool
    donated: bool = False
    pipelined: Pipelined | None = None
    prefetched: bool = False


def plan_operands(launch: LaunchOp) -> list[BoundOperand]:
    """What the call has to do with each memref that the launch uses, in order.

    Raises `LoweringError` where no layout makes a window legal for Mosaic.
    """
    args = launch.body.block.args
    grid = grid_of(launch)
    found = windows(grid, args)
    remote = dict(remote_windows(launch))
    places: dict[SSAValue, PlacedArray] = {
        arg: PlacedArray(launch, grid, n, found[arg]) for n, arg in enumerate(args) if arg in found
    }
    buffers = planned_buffers(place for arg, place in places.items() if arg not in remote)
    seen = {arg: addressed_window(places[arg], buffers) or found[arg] for arg in buffers}
    return [
        _operand(launch, number, remote[arg], Buffer("", "", "remote"))
        if arg in remote
        else _operand(launch, number, seen[arg], buffers[arg])
        for number, arg in enumerate(args)
        if arg in found or arg in remote
    ]


def _operand(launch: LaunchOp, number: int, window: Window, buffer: Buffer) -> BoundOperand:
    reads, writes, kind = number < len(launch.inputs), number in launch.written, buffer.kind
    _check_elements(window)
    if kind == "scratch":
        return BoundOperand(number, kind, window, _legal(window), "vmem", reads=False, writes=False)
    if kind in ("window", "resident"):
        _check_sizes(window)
        return BoundOperand(number, kind, window, _legal(window), "vmem", reads, writes, number in launch.donated)
    if kind == "emit_pipeline":
        plan = plan_pipelined(window)
        return BoundOperand(number, kind, window, plan.array, "hbm", reads, writes, pipelined=plan)
    seen, standing = _STANDING[kind]
    space, prefetched = _SPACES.get(kind, "hbm"), is_prefetched(buffer)
    return BoundOperand(number, kind, seen(window), standing(window), space, reads, writes, prefetched=prefetched)


def _check_elements(window: Window) -> None:
    """Refuses accesses of no elements, of which there are no windows."""
    for access in (*window.loads, *window.stores, *window.atomics) if 0 in window.type.get_shape() else ():
        raise LoweringError(
            f"'{access.name}' of '{window.memory.name_hint or 'an array'}', which has no elements",
            location_of(access),
            notes=["'drop-empty' leaves no such accesses: run it before 'bind-buffers'"],
        )


def _check_sizes(window: Window) -> None:
    """Refuses blocks as large as an extent that differs from call to call: nobody knows whether VMEM holds them."""
    for extent in open_extents(window.block):
        access = (window.loads or window.stores or window.atomics)[0]
        name = window.memory.name_hint or "an array"
        raise UnsupportedError(
            f"cells see the whole of dimension {window.block.index(extent)} of '{name}', and its extent differs from "
            "call to call: no block of VMEM has it",
            location_of(access),
            notes=["walk the dimension in blocks, in order; or leave it out of dynamic=: each extent is compiled"],
        )


def _legal(window: Window) -> Layout:
    try:
        return layout(window)
    except LayoutProblem as problem:
        access = (window.loads or window.stores)[0]
        raise LoweringError(str(problem), location_of(access)) from None


def _chunks(window: Window) -> Layout:
    """Rows by themselves, as Mosaic wants blocks of one row."""
    rows, columns = window.type.get_shape()
    parts = (PhysicalDim("all", 0), PhysicalDim("unit"), PhysicalDim("all", 1))
    return Layout((rows, columns), (0, 0), parts, (0, 1, columns), "chunks of scalars")


def _row_of(window: Window) -> Window:
    """The window with the whole of the row that it is in."""
    row, _ = window.dims
    return replace(window, dims=(row, Dim("whole", window.type.get_shape()[1])))


def _all_of(window: Window) -> Window:
    """The window that holds the whole array."""
    return replace(window, dims=tuple(Dim("whole", extent) for extent in window.type.get_shape()))


def _streamed(window: Window) -> Layout:
    """The array as DMAs read it: padded so that no block reaches beyond it."""
    shape, extents = window.type.get_shape(), streamed_extents(window)
    parts = tuple(PhysicalDim("all", number) for number in range(len(shape)))
    reason = None if extents == shape else "blocks that DMAs read to the end"
    return Layout(extents, (0,) * len(shape), parts, extents, reason)


def _as_it_is(window: Window) -> Layout:
    """The array unchanged; a scalar, for which Mosaic has no windows, as an array of one element."""
    shape = window.type.get_shape()
    if not shape:
        return Layout((), (), (PhysicalDim("unit"),), (1,), "a scalar")
    parts = tuple(PhysicalDim("all", number) for number in range(len(shape)))
    return Layout(shape, (0,) * len(shape), parts, shape)


#: The part of an array that each kind of operand shows, and how the array stands in memory for it.
_STANDING: dict[str, tuple[Callable[[Window], Window], Callable[[Window], Layout]]] = {
    "remote": (_all_of, _as_it_is),
    "row_dma": (_all_of, _as_it_is),
    "dma": (_all_of, _streamed),
    "rows": (_all_of, _as_it_is),
    "prefetch": (_all_of, _streamed),
    "writeback": (lambda window: window, _streamed),
    "smem": (_all_of, _as_it_is),
    "smem_chunk": (_row_of, _chunks),
}
_SPACES = {"smem": "smem", "smem_chunk": "smem"}


def _index(operand: BoundOperand, rank: int) -> AffineMap:
    """The number of the block of each physical dimension, over the grid; what stays in HBM is whole."""
    zero = AffineExpr.constant(0)
    results = []
    for part in operand.layout.parts:
        moves = part.kind in ("all", "outer") and operand.space != "hbm"
        dim = operand.window.dims[part.dim] if moves else None
        results.append(zero if dim is None else dim.index)
    return AffineMap(rank, len(operand.window.numbers), tuple(results))


def window_attr(operand: BoundOperand, rank: int, given: Sequence[SSAValue] = ()) -> WindowAttr:
    """An operand's window over a grid of some dimensions, in the IR; ``given`` are the arrays that are prefetched."""
    numbers = [
        NumberAttr(number.kind, AffineMap(rank, count, number.at), _operand_number(number, given))
        for count, number in enumerate(operand.window.numbers)
    ]
    return WindowAttr(operand.layout.blocks, _index(operand, rank), operand.space, numbers)


def _operand_number(number: IndexNumber, given: Sequence[SSAValue]) -> int | None:
    return None if number.memory is None else given.index(number.memory)


def ref_type(operand: BoundOperand) -> RefType:
    """What the body sees of an operand."""
    seen = [size for size in operand.layout.blocks if is_open(size) or size]
    return RefType(seen, operand.window.type.element_type, operand.space)


def taken(operand: BoundOperand) -> BoundOperand:
    """An operand as the call takes it: what is donated is one block in HBM."""
    if not operand.donated:
        return operand
    shape = operand.layout.shape
    whole = replace(_as_it_is(operand.window), parts=(PhysicalDim("unit"),) * len(shape), blocks=shape)
    return replace(operand, layout=whole, space="hbm")
