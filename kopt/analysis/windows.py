"""Windows: which part of each memref one cell of a grid sees, joined over all accesses of a launch.

Pure. Each dimension of a memref is one of

| kind | when | the window's block | its number |
|---|---|---|---|
| ``block`` | every access walks one block of a grid's range, or a part of it | the range's lanes | affine in the grid |
| ``point`` | every access takes one and the same element | 1, squeezed away | affine in the grid |
| ``whole`` | anything else: ``:``, slices, inner loops, data-dependent or differing indices | all of it | 0 |

A ``whole`` window is rounded up where blocks that walk it reach beyond the array; its ``walk`` says by which steps.
The window of a target of atomic updates is such that the grid's dimensions tell when it moves: it moves with each
visit along some of them, and stays put along the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr

from kopt.analysis.linear import Linear, affine, at_most, begin, linear
from kopt.analysis.ranges import binding, unshifted, visits, walked_range
from kopt.analysis.revisits import comes_back
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import ForOp, GridOp, LoadOp, RangeType, StoreOp, TileType, WholeOp
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr

Kind = Literal["block", "point", "whole"]
#: Atomic updates.
AtomicOp = RmwOp | CasOp
#: The ops that a window serves.
Accesses = LoadOp | StoreOp | AtomicOp
ZERO = AffineExpr.constant(0)


@dataclass(frozen=True)
class Dim:
    """The window of one dimension.

    ``size`` is the block's lanes; ``index`` the block's number over the grid's dimensions; ``range`` the grid's range
    of a ``block``. Of a ``whole`` dimension, all offsets at which blocks start divide by ``walk``, and blocks of one
    size ``step`` walk it (0: none or several sizes); ``plain`` where some access takes it as ``:`` or a slice. Of a
    ``block`` that a loop stays in the kernel for, because not all cells have as many visits, ``walk`` divides the
    offsets of its parts (0: no such loop).
    Blocks are counted from ``front`` elements before the array; the ``last`` block may lie beyond its end.
    """

    kind: Kind
    size: int
    index: AffineExpr = ZERO
    range: SSAValue | None = None
    walk: int = 0
    step: int = 0
    plain: bool = False
    dynamic: bool = False
    front: int = 0
    last: int = 0


@dataclass(frozen=True)
class Window:
    """The window of one memref: its dimensions, and the accesses that it serves."""

    memory: SSAValue
    dims: tuple[Dim, ...]
    loads: tuple[LoadOp, ...]
    stores: tuple[StoreOp, ...]
    atomics: tuple[AtomicOp, ...] = ()

    @property
    def written(self) -> bool:
        """Whether something in the body writes the memref."""
        return bool(self.stores or self.atomics)

    @property
    def type(self) -> MemRefType:
        """The memref's type."""
        assert isinstance(self.memory.type, MemRefType)
        return self.memory.type

    @property
    def block(self) -> tuple[int, ...]:
        """The lanes of each dimension; 1 where it is squeezed."""
        return tuple(dim.size for dim in self.dims)

    @property
    def bits(self) -> int:
        """Width of an element in memory."""
        element = self.type.element_type
        assert isinstance(element, FixedBitwidthType)
        return max(8, element.bitwidth)

    @property
    def grid_dims(self) -> frozenset[int]:
        """The grid dimensions that the window moves with."""
        return frozenset().union(*(dim.index.used_dims() for dim in self.dims))


def windows(body: Operation, memories: Iterable[SSAValue]) -> dict[SSAValue, Window]:
    """The window of each of the ``memories`` that something inside ``body``, a `tile.grid`, accesses."""
    assert isinstance(body, GridOp)
    found = unordered_windows(body, memories)
    return {memory: _visited_once(window, body) if window.written else window for memory, window in found.items()}


def unordered_windows(body: Operation, memories: Iterable[SSAValue]) -> dict[SSAValue, Window]:
    """The windows, whatever the order of the grid's dimensions: blocks may be left and come back to."""
    assert isinstance(body, GridOp)
    accesses: dict[SSAValue, list[Accesses]] = {memory: [] for memory in memories}
    for op in body.walk():
        if isinstance(op, Accesses) and op.memory in accesses:
            accesses[op.memory].append(op)
    found = {memory: _window(memory, ops, body) for memory, ops in accesses.items() if ops}
    return {memory: _told_by_dims(window, body) if window.atomics else window for memory, window in found.items()}


def _visited_once(window: Window, grid: GridOp) -> Window:
    """A written window whose block would be left and come back to is made whole in the dimensions that do so.

    The grid's last dimension moves fastest: while an outer dimension that the window does not move with goes on, every
    inner one starts again.
    """
    inside = False
    again: set[int] = set()
    for number, range in enumerate(grid.ranges):
        if binding(range).trips == 1:
            continue
        if number not in window.grid_dims:
            inside = True
        elif inside:
            again.add(number)
    for position, dim in enumerate(window.dims):
        if again & dim.index.used_dims():
            window = widened(window, position)
    return _repeated_whole(window, grid)


def _repeated_whole(window: Window, grid: GridOp) -> Window:
    """Makes whole what one dimension of the grid comes back to, such as block ``d0 mod 4``."""
    repeated = [n for n, dim in enumerate(window.dims) if dim.index.used_dims() and not is_injective(dim.index)]
    if repeated and comes_back(grid, [dim.index for dim in window.dims]) is not None:
        for position in repeated:
            window = widened(window, position)
    return window


def _told_by_dims(window: Window, grid: GridOp) -> Window:
    """Makes whole what does not move one to one with a dimension of the grid, such as block ``d0 floordiv 4``."""
    moving = {number for number in window.grid_dims if binding(grid.ranges[number]).trips != 1}
    told = {number for dim in window.dims if is_injective(dim.index) for number in dim.index.used_dims()}
    for position, dim in enumerate(window.dims):
        if (moving - told) & dim.index.used_dims():
            window = widened(window, position)
    if window.bits < 32 and window.dims and all(dim.kind == "point" for dim in window.dims):
        return widened(window, len(window.dims) - 1)  # narrow elements are not moved one by one
    return window


def is_injective(index: AffineExpr) -> bool:
    """Whether a block number is different for different values of the one grid dimension that it uses."""
    return len(index.used_dims()) == 1 and "floordiv" not in str(index) and "mod" not in str(index)


def _window(memory: SSAValue, ops: Sequence[Accesses], grid: GridOp) -> Window:
    assert isinstance(memory.type, MemRefType)
    shape = memory.type.get_shape()
    loads = tuple(op for op in ops if isinstance(op, LoadOp))
    may_pad = len(loads) == len(ops)  # what is only read may stand in a larger array
    columns = zip(*(op.entries for op in ops), strict=True)
    dims = [_dim(column, extent, grid, may_pad) for column, extent in zip(columns, shape, strict=True)]
    stores = tuple(op for op in ops if isinstance(op, StoreOp))
    return Window(memory, tuple(dims), loads, stores, tuple(op for op in ops if isinstance(op, AtomicOp)))


def _dim(entries: Sequence[Entry], extent: int, grid: GridOp, may_pad: bool) -> Dim:
    """The window that all accesses of a dimension need."""
    dim = joined([_entry(entry, extent, grid, may_pad) for entry in entries], extent)
    if dim.kind == "whole" and may_pad:
        return joined([_entry(entry, extent, grid, False) for entry in entries], extent)
    return dim


def _entry(entry: Entry, extent: int, grid: GridOp, may_pad: bool) -> Dim:
    """The window that one access needs in one dimension."""
    if isinstance(entry, AllAttr):
        return Dim("whole", extent, plain=True)
    if isinstance(entry, SliceAttr):
        return Dim("whole", extent, plain=True)
    if isinstance(entry, int):
        return Dim("point", 1, AffineExpr.constant(entry))
    if isinstance(entry.type, TileType):
        return Dim("whole", extent, plain=True)
    if isinstance(entry.type, RangeType):
        return _range(entry, extent, grid, may_pad)
    index = affine(entry, grid.ranges)
    if index is None:
        return Dim("whole", extent, walk=max(1, linear(entry).divisor), step=1, dynamic=True)
    return Dim("point", 1, index)


def _range(entry: SSAValue, extent: int, grid: GridOp, may_pad: bool) -> Dim:
    """A block of a grid's range, or of a loop that walks one such block, where it starts at a block's boundary.

    With ``may_pad`` the array may be padded in front so that it does.
    """
    outer = _outer(entry, grid)
    if outer is not None:
        lanes = binding(outer).size
        start = begin(entry) if outer is unshifted(entry) else begin(outer)
        front = max(-start.const, -start.const % lanes) if may_pad else 0
        start = start + Linear(front)
        if start.divisor % lanes == 0:
            index = _over_grid(start.over(lanes), grid)
            return Dim("block", lanes, index, outer, _part(entry, outer), front=front, last=_last(index, grid))
    if may_pad and (dim := _placed(entry, grid)) is not None:
        return dim
    return walked(begin(entry), binding(entry).size, extent)


def _part(entry: SSAValue, outer: SSAValue) -> int:
    """Of which number the parts of an outer block that a loop takes are multiples; 0 where it is, or may be, whole."""
    is_whole = unshifted(entry) is outer
    return 0 if is_whole or visits(unshifted(entry)) is not None else binding(entry).size


def _placed(entry: SSAValue, grid: GridOp) -> Dim | None:
    """A block of a size of its own that a cell puts at one of its multiples."""
    whole, start = unshifted(entry), begin(entry)
    lanes = binding(whole).size
    if not isinstance(whole.owner, WholeOp) or not start.terms or start.const < 0 or start.divisor % lanes:
        return None
    if _over_grid_or_none(start, grid) is None:
        return None
    index = _over_grid(start.over(lanes), grid)
    return Dim("block", lanes, index, whole, last=_last(index, grid))


def _last(index: AffineExpr, grid: GridOp) -> int:
    """The largest block number over the grid."""
    return index.eval([max(0, (binding(range).trips or 1) - 1) for range in grid.ranges], [])


def _outer(entry: SSAValue, grid: GridOp) -> SSAValue | None:
    """The grid's range whose block holds every block of ``entry``, or None."""
    range = unshifted(entry)
    bound = binding(range)
    if bound.owner is grid:
        start = begin(entry) if entry is not range else begin(range)
        return range if _over_grid_or_none(start, grid) is not None else None
    if entry is not range or not isinstance(bound.owner, ForOp):
        return None
    outer = walked_range(bound)
    if outer is None or binding(outer).owner is not grid or not _begins_with(bound.lower, outer):
        return None
    return outer if binding(outer).size % bound.size == 0 else None


def _begins_with(lower: SSAValue | int, outer: SSAValue) -> bool:
    return linear(lower) == begin(outer)


def _over_grid(form: Linear, grid: GridOp) -> AffineExpr:
    expr = _over_grid_or_none(form, grid)
    assert expr is not None
    return expr


def _over_grid_or_none(form: Linear, grid: GridOp) -> AffineExpr | None:
    total = AffineExpr.constant(form.const)
    for symbol, coefficient in form.terms:
        part = affine(symbol, grid.ranges) if not isinstance(symbol.type, RangeType) else _position(symbol, grid)
        if part is None:
            return None
        total = total + (part if coefficient == 1 else part * coefficient)
    return total


def _position(range: SSAValue, grid: GridOp) -> AffineExpr | None:
    return AffineExpr.dimension(grid.ranges.index(range)) if range in grid.ranges else None


def walked(start: Linear, size: int, extent: int) -> Dim:
    """A whole dimension that blocks of ``size`` walk: rounded up so that the last one fits."""
    divisor = start.divisor or size
    aligned = divisor % size == 0
    walk = math.gcd(divisor, size) if start.terms else start.const
    reach = -(-extent // size) * size if aligned else extent - 1 + size
    if not start.terms:
        reach = max(extent, start.const + size)
    elif (last := at_most(start)) is not None:
        reach = min(reach, last + size)
    return Dim("whole", max(extent, reach), walk=walk, step=size if aligned else 0, dynamic=True)


def joined(needs: Sequence[Dim], extent: int) -> Dim:
    """One window that serves all accesses of a dimension."""
    if len({replace(need, walk=0 if need.kind == "block" else need.walk) for need in needs}) == 1:
        return replace(needs[0], walk=math.gcd(*(need.walk for need in needs)))
    wholes = [_as_whole(need, extent) for need in needs]
    steps = {whole.step for whole in wholes if whole.dynamic}
    return Dim(
        "whole",
        max(whole.size for whole in wholes),
        walk=math.gcd(*(whole.walk for whole in wholes)),
        step=steps.pop() if len(steps) == 1 else 0,
        plain=any(whole.plain for whole in wholes),
        dynamic=any(whole.dynamic for whole in wholes),
    )


def _as_whole(need: Dim, extent: int) -> Dim:
    if need.kind == "whole":
        return need
    constant = not need.index.used_dims()
    if need.kind == "point":
        walk = 0 if constant else _divisor(need.index)
        return Dim("whole", extent, walk=walk, step=1, dynamic=not constant, plain=constant)
    reach = max(extent, -(-extent // need.size) * need.size)
    if need.range is not None and binding(need.range).trips == 1:  # one block, which holds the dimension
        return Dim("whole", reach, plain=True)
    return Dim("whole", reach, walk=need.size, step=need.size, dynamic=True)


def _divisor(expr: AffineExpr) -> int:
    """What divides an affine number, whatever its dimensions are; 0 of the number 0."""
    if isinstance(expr, AffineConstantExpr):
        return abs(expr.value)
    if isinstance(expr, AffineBinaryOpExpr):
        lhs, rhs = _divisor(expr.lhs), _divisor(expr.rhs)
        return {AffineBinaryOpKind.Add: math.gcd(lhs, rhs), AffineBinaryOpKind.Mul: lhs * rhs}.get(expr.kind, 1)
    return 1


def widened(window: Window, number: int) -> Window:
    """The window with one dimension made whole."""
    extent = window.type.get_shape()[number]
    dims = list(window.dims)
    dims[number] = _as_whole(dims[number], extent)
    return replace(window, dims=tuple(dims))
