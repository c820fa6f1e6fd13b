"""What a call has to do with each array of a launch: its window, its layout, the memory that it is in."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.ir.affine import AffineExpr, AffineMap

from kopt.analysis.launch_temporaries import is_temporary
from kopt.analysis.layouts import Layout, LayoutProblem, Part, layout, loads_scalars, stands_in_scalar_memory
from kopt.analysis.pipelining import Pipelined, pipelined
from kopt.analysis.streaming import sends, stays_in_hbm, streamed_extents, streams
from kopt.analysis.windows import Dim, Window, windows
from kopt.diagnostics import location_of
from kopt.dialects.host import LaunchOp
from kopt.dialects.pallas import WindowAttr
from kopt.dialects.tile import GridOp, RefType, is_gather
from kopt.errors import LoweringError
from kopt.passes.to_pallas.remote import remote_windows


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
    if writes and stays_in_hbm(window):
        return _in_hbm(launch, number, window)
    if stays_in_hbm(window) or streams(window):
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
    return "smem" if stands_in_scalar_memory(window) else None


def _is_chunk_of_scalars(window: Window) -> bool:
    """Whether single elements are loaded of one row of an array, the same for many cells (see ``chunk-scalars``)."""
    return loads_scalars(window) and [dim.kind for dim in window.dims] == ["point", "whole"]


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


def window_attr(operand: Operand, rank: int) -> WindowAttr:
    """An operand's window over a grid of some dimensions, in the IR."""
    return WindowAttr(operand.layout.blocks, _index(operand, rank), operand.space)


def ref_type(operand: Operand) -> RefType:
    """What the body sees of an operand."""
    seen = [size for size in operand.layout.blocks if size]
    return RefType(seen, operand.window.type.element_type, operand.space)


def taken(operand: Operand) -> Operand:
    """An operand as the call takes it: what is donated is one block in HBM."""
    if not operand.donated:
        return operand
    shape = operand.layout.shape
    whole = replace(_as_it_is(operand.window), parts=(Part("unit"),) * len(shape), blocks=shape)
    return replace(operand, layout=whole, space="hbm")
