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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from kopt.analysis.index_maps import IndexNumber, divisor, is_injective, over_axes, used_dims
from kopt.analysis.inside import walks
from kopt.analysis.revisit_order import tells_apart
from kopt.cached_property import cached_property
from kopt.diagnostics import location_of
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import ForOp, GridOp, LoadOp, RangeType, StoreOp, TileType, WholeOp, array_type
from kopt.dialects.tile.extents import extent_of
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr, is_range
from kopt.errors import UnsupportedError
from kopt.ir.division import floordiv
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.ranges import binding, unshifted, visits, walked_range
from kopt.ir.value_range import ValueRange
from kopt.open_extents import OpenExtent, is_open, largest, padded
from kopt.walk import walk

Kind = Literal["block", "point", "whole"]
#: Atomic updates.
AtomicOp = RmwOp | CasOp
#: The ops that a window serves.
Accesses = LoadOp | StoreOp | AtomicOp
ACCESSES = (LoadOp, StoreOp, RmwOp, CasOp)
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
    """The window of one memref: its dimensions, and the accesses that it serves; ``analysis`` knows their indices,
    ``sums`` as what is written again. Symbol ``s0`` of its block numbers is the first of the ``numbers``."""

    memory: SSAValue
    dims: tuple[Dim, ...]
    loads: tuple[LoadOp, ...]
    stores: tuple[StoreOp, ...]
    atomics: tuple[AtomicOp, ...] = ()
    analysis: IndexAnalysis = field(default_factory=lambda: IndexAnalysis(numbered=True), compare=False, repr=False)
    sums: IndexAnalysis = field(default_factory=lambda: IndexAnalysis(sums=True), compare=False, repr=False)
    numbers: tuple[IndexNumber, ...] = ()

    @property
    def written(self) -> bool:
        """Whether something in the body writes the memref."""
        return bool(self.stores or self.atomics)

    @property
    def type(self) -> MemRefType:
        """The memref's type."""
        return array_type(self.memory)

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

    @cached_property
    def grid_dims(self) -> frozenset[int]:
        """The grid dimensions that the window moves with."""
        return used_dims([dim.index for dim in self.dims], self.numbers)

    @property
    def addresses(self) -> tuple[SSAValue, ...]:
        """The arrays that numbers of blocks are loaded from, those that tell where in others first."""
        return tuple(dict.fromkeys(number.memory for number in self.numbers if number.memory is not None))

    def moves_with(self, number: int) -> bool:
        """Whether each step along a dimension of the grid takes another block."""
        return any(number in dim.index.used_dims() and is_injective(dim.index) for dim in self.dims)


def windows(
    body: Operation, memories: Iterable[SSAValue], analysis: IndexAnalysis | None = None
) -> dict[SSAValue, Window]:
    """The window of each of the ``memories`` that something inside ``body``, a `tile.grid`, accesses.

    ``analysis``, in which blocks are numbered, remembers what others have asked for.
    """
    assert isinstance(body, GridOp)
    return ordered(unordered_windows(body, memories, analysis), body)


def ordered(found: Mapping[SSAValue, Window], grid: GridOp) -> dict[SSAValue, Window]:
    """The `windows` that follow from `unordered_windows` where the grid's dimensions stay in their order."""
    return {memory: _visited_once(window, grid) if window.written else window for memory, window in found.items()}


def unordered_windows(
    body: Operation, memories: Iterable[SSAValue], analysis: IndexAnalysis | None = None
) -> dict[SSAValue, Window]:
    """The windows, whatever the order of the grid's dimensions: blocks may be left and come back to."""
    assert isinstance(body, GridOp)
    made = _Windows(body, analysis or IndexAnalysis(numbered=True))
    accesses: dict[SSAValue, list[Accesses]] = {memory: [] for memory in memories}
    for op in walk(body, *ACCESSES):
        if (memory := op.memory) in accesses:
            accesses[memory].append(op)
    found = {memory: made.window(memory, ops) for memory, ops in accesses.items() if ops}
    return {memory: _told_by_dims(window, body) if window.atomics else window for memory, window in found.items()}


def _visited_once(window: Window, grid: GridOp) -> Window:
    """A written window whose block would be left and come back to is made whole in the dimensions that do so.

    The grid's last dimension moves fastest: while an outer dimension that the window does not move with goes on, every
    inner one starts again.
    """
    inside = False
    again: set[int] = set()
    for number, range in enumerate(grid.ranges):
        if window.analysis.binding(range).trips == 1:
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
    """Makes whole what one dimension of the grid stays at or comes back to, such as block ``d0 mod 4``.

    No visit of ``d0 floordiv 4`` is the first one of its block by the grid's dimensions, which guards are told by.
    """
    repeated = [n for n, dim in enumerate(window.dims) if dim.index.used_dims() and not is_injective(dim.index)]
    if repeated and not tells_apart(grid, [dim.index for dim in window.dims]):
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


class _Windows:
    """Finds the windows over one grid."""

    def __init__(self, grid: GridOp, analysis: IndexAnalysis):
        self.grid, self.axes, self.analysis, self.sums = grid, grid.ranges, analysis, IndexAnalysis(sums=True)
        self.last = [max(0, (analysis.binding(range).trips or 1) - 1) for range in self.axes]
        self._ranges: dict[tuple[SSAValue, int, bool], Dim] = {}

    def window(self, memory: SSAValue, ops: Sequence[Accesses]) -> Window:
        """The window that serves all accesses of a memref."""
        shape = array_type(memory).get_shape()
        loads = tuple(op for op in ops if isinstance(op, LoadOp))
        may_pad = len(loads) == len(ops)  # what is only read may stand in a larger array
        for op in ops:
            for entry, extent in zip(op.entries, shape, strict=True):
                self._check(op, entry, extent)
        columns = zip(*(op.entries for op in ops), strict=True)
        dims = [self._dim(column, extent, may_pad) for column, extent in zip(columns, shape, strict=True)]
        stores = tuple(op for op in ops if isinstance(op, StoreOp))
        atomics = tuple(op for op in ops if isinstance(op, AtomicOp))
        return Window(memory, tuple(dims), loads, stores, atomics, self.analysis, self.sums)

    def _dim(self, entries: Sequence[Entry], extent: int, may_pad: bool) -> Dim:
        """The window that all accesses of a dimension need."""
        dim = joined([self._entry(entry, extent, may_pad) for entry in entries], extent)
        if dim.kind == "whole" and may_pad:
            return joined([self._entry(entry, extent, False) for entry in entries], extent)
        return dim

    def _entry(self, entry: Entry, extent: int, may_pad: bool) -> Dim:
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
            if (key := (entry, extent, may_pad)) not in self._ranges:
                self._ranges[key] = self._range(*key)
            return self._ranges[key]
        form = self.analysis.expr(entry)
        index = over_axes(form, self.axes)
        if index is None:
            return Dim("whole", extent, walk=max(1, form.divisor), step=1, dynamic=True)
        return Dim("point", 1, index)

    def _check(self, op: Accesses, entry: Entry, extent: int) -> None:
        """Refuses an index of which nobody knows that it stays inside, where an extent differs from call to call."""
        is_value = isinstance(entry, SSAValue)
        if is_open(extent):
            known = (
                isinstance(entry, AllAttr)
                or is_value
                and (isinstance(entry.type, TileType) or walks(entry, extent, self.analysis))
            )
            limit = None if known else extent
        else:
            limit = extent_of(self.analysis.binding(entry).upper) if is_value and is_range(entry) else None
        if limit is not None:
            raise UnsupportedError(
                "whether this block stays inside of its array is not known: extents of the array, or of what the block "
                "walks, differ from call to call",
                location_of(op),
                notes=["a dimension is walked by a range whose limit is its own extent: in (%m) of tile.dim"],
            )

    def _range(self, entry: SSAValue, extent: int, may_pad: bool) -> Dim:
        """A block of a grid's range, or of a loop that walks one such block, where it starts at a block's boundary.

        With ``may_pad`` the array may be padded in front so that it does.
        """
        outer, first = self._outer(entry), self.analysis.begin(entry)
        if outer is not None:
            lanes = self.analysis.binding(outer).size
            start = first if outer is unshifted(entry) else self.analysis.begin(outer)
            assert isinstance(start.const, int)
            front = max(-start.const, -start.const % lanes) if may_pad else 0
            if (dim := self._block(start + front, lanes, outer)) is not None:
                return replace(dim, walk=self._part(entry, outer), front=front)
        dim = (self._placed(entry, first) if may_pad else None) or self._held(entry, first)
        return dim or walked(first, self.analysis.binding(entry).size, extent)

    def _block(self, start: IndexExpr, lanes: int, range: SSAValue) -> Dim | None:
        """Blocks of some lanes that begin at multiples of these, which the grid's numbers tell; else None."""
        index = over_axes(floordiv(start, lanes), self.axes) if start.divisor % lanes == 0 else None
        return Dim("block", lanes, index, range, last=index.eval(self.last, [])) if index is not None else None

    def _placed(self, entry: SSAValue, start: IndexExpr) -> Dim | None:
        """A block of a size of its own that a cell puts at one of its multiples."""
        whole = unshifted(entry)
        if not isinstance(whole.owner, WholeOp) or start.is_constant or not start.range.is_natural:
            return None
        return self._block(start, self.analysis.binding(whole).size, whole)

    def _held(self, entry: SSAValue, start: IndexExpr) -> Dim | None:
        """A part, at a place that a number tells, of the block that a grid's range moves."""
        range = holder(start, self.analysis.binding(entry).size, self.axes, self.analysis)
        if range is None:
            return None
        begin = self.analysis.begin(range)
        dim = self._block(begin, self.analysis.binding(range).size, range)
        return dim and replace(dim, walk=(start - begin).divisor)

    def _outer(self, entry: SSAValue) -> SSAValue | None:
        """The grid's range whose block holds every block of ``entry``, or None."""
        range, bound = unshifted(entry), self.analysis.binding(entry)
        if bound.owner is self.grid:
            return range if over_axes(self.analysis.begin(entry), self.axes) is not None else None
        if entry is not range or not isinstance(bound.owner, ForOp):
            return None
        outer = walked_range(bound)
        if outer is None or self.analysis.binding(outer).owner is not self.grid:
            return None
        begins_with = self.analysis.expr(bound.lower) == self.analysis.begin(outer)
        return outer if begins_with and self.analysis.binding(outer).size % bound.size == 0 else None

    def _part(self, entry: SSAValue, outer: SSAValue) -> int:
        """Of which number a loop's parts of an outer block are multiples; 0 where it is, or may be, whole."""
        own = unshifted(entry)
        at_begin = (self.analysis.begin(own) - self.analysis.begin(outer)).range.number == 0
        return 0 if own is outer or at_begin or visits(own) is not None else self.analysis.binding(entry).size


def holder(start: IndexExpr, size: int, axes: Iterable[SSAValue], analysis: IndexAnalysis) -> SSAValue | None:
    """The range of several blocks, one of which contains the ``size`` elements from ``start`` on; else None."""
    for range in axes:
        begin, rest = analysis.begin(range), analysis.binding(range).size - size
        if rest >= 0 and begin.range.number is None and ValueRange(0, rest).covers((start - begin).range):
            return range
    return None


def walked(start: IndexExpr, size: int, extent: int) -> Dim:
    """A whole dimension that blocks of ``size`` walk: rounded up so that the last one fits. One of all is as ``:``."""
    divisor, only = start.divisor or size, start.range.number
    if only == 0 and size == extent:
        return Dim("whole", extent, plain=True)
    aligned = divisor % size == 0
    walk = divisor if only is None else only
    if is_open(extent):
        return _open_walked(start, size, extent)
    reach = -(-extent // size) * size if aligned else extent - 1 + size
    if only is not None:
        reach = max(extent, only + size)
    elif (last := start.range.high) is not None:
        reach = min(reach, max(0, last) + size)  # a loop that never runs has no last block
    return Dim("whole", max(extent, reach), walk=walk, step=size if aligned else 0, dynamic=True)


def _open_walked(start: IndexExpr, size: int, extent: OpenExtent) -> Dim:
    """The same of an extent that differs from call to call, which blocks walk from its beginning to its end."""
    if start.divisor % size:
        extent.needed()
    return Dim("whole", padded(extent, size), walk=start.divisor, step=size, dynamic=True)


def joined(needs: Sequence[Dim], extent: int) -> Dim:
    """One window that serves all accesses of a dimension."""
    if len(needs) == 1:
        return needs[0]
    if len({replace(need, walk=0 if need.kind == "block" else need.walk) for need in needs}) == 1:
        return replace(needs[0], walk=math.gcd(*(need.walk for need in needs)))
    wholes = [_as_whole(need, extent) for need in needs]
    steps = {whole.step for whole in wholes if whole.dynamic}
    return Dim(
        "whole",
        largest([whole.size for whole in wholes]),
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
        walk = 0 if constant else divisor(need.index)
        return Dim("whole", extent, walk=walk, step=1, dynamic=not constant, plain=constant)
    reach = padded(extent, need.size)
    if need.range is not None and binding(need.range).trips == 1:  # one block, which holds the dimension
        return Dim("whole", reach, plain=True)
    return Dim("whole", reach, walk=need.size, step=need.size, dynamic=True)


def widened(window: Window, number: int) -> Window:
    """The window with one dimension made whole."""
    extent = window.type.get_shape()[number]
    dims = list(window.dims)
    dims[number] = _as_whole(dims[number], extent)
    return replace(window, dims=tuple(dims))
