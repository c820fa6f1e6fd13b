"""Physical layouts: how an array must stand in memory so that Mosaic takes the blocks that a kernel reads.

Pure. Mosaic wants the last two dimensions of a block to be whole, or multiples of 128 lanes and 8 sublanes (32 for
8-bit elements); blocks of rank-1 arrays whole, multiples of 1024, or powers of two from 128 lanes of 32 bits on; and
dynamic offsets into a block to be such multiples too. What does not fit, and ``align-accesses`` has not aligned, is
made to fit on the host:

| found | layout | cost |
|---|---|---|
| ``x[b0=4, :]``: short blocks of rows | split rows: ``(n/4, 4, m)``, block ``(_, 4, m)`` | a reshape, a pad |
| ``x[:, b1=64]``: narrow blocks of lanes | split lanes: ``(m/64, n, 64)`` | a transposition |
| ``x[b0=8]`` of rank 1 | ``(n/8, 1, 8)``, block ``(_, 1, 8)`` | a reshape |
| ``x[%i, b1=128]``: rows by number, moving lanes | split lanes: ``(m/128, n, 128)`` | a transposition |
| ``x[i, :]``: one row | ``(n, 1, m)``, block ``(_, 1, m)`` | a reshape |
| ``x[b0=8, i, :]``: rows of which one is taken | ``(h, n, m)``, block ``(_, 8, m)`` | a transposition |
| ``x[:, 3]``: one lane | ``(m, 1, n)`` | a transposition |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType

from kopt.analysis.storage import stored_bits
from kopt.analysis.windows import Dim, Window
from kopt.dialects.tile import TileType
from kopt.open_extents import MOST, UNBOUNDED, blocks, is_open, open_extents, padded
from kopt.targets.budget import Budget
from kopt.targets.tiling import FLAT, LANES, round_up, sublanes


def legal_block(size: int, extent: int, bits: int, position: int, rank: int = 2) -> int:
    """The smallest legal block of at least ``size`` lanes, for a dimension that a grid walks.

    Args: ``position`` counts from the end (-1 the lanes, -2 the sublanes); ``rank`` is the array's. A block that
    reaches the extent is the extent itself; dimensions further out take any size.
    """
    most = MOST if is_open(extent) else extent
    if size >= most or position < -2:
        return max(1, min(size, most))
    if rank == 1:
        return min(_flat(size, bits), most)
    return min(round_up(size, LANES if position == -1 else sublanes(bits)), most)


def _flat(size: int, bits: int) -> int:
    power = 1 << (size - 1).bit_length()
    least = LANES * 32 // bits if bits <= 32 else LANES
    return min(max(power, least), round_up(size, FLAT)) if size > least else least


def _reached(dim: Dim, extent: int) -> int:
    """The extent that a dimension needs so that no block lies wholly outside the array."""
    if is_open(extent):  # blocks begin inside: they are of a range that walks the dimension
        return extent if not dim.front else extent.needed()
    total = dim.front + extent
    return (dim.last + 1) * dim.size if dim.kind == "block" and dim.last * dim.size >= total else total


PartKind = Literal["all", "outer", "inner", "unit"]


@dataclass(frozen=True)
class PhysicalDim:
    """One physical dimension: a logical one, the outer or inner part of a split one, or a unit."""

    kind: PartKind
    dim: int = -1


@dataclass(frozen=True)
class Layout:
    """How a logical array stands physically.

    Each dimension is padded to ``padded``, of which ``front`` elements stand before it (none where left out), split
    into blocks of ``splits`` lanes (0: not), and the ``parts`` are put in order. ``blocks`` are the lanes of each part
    in a window, 0 where the window has one element of it and the kernel does not see it. ``reason`` says what Mosaic
    would have refused.
    """

    padded: tuple[int, ...]
    splits: tuple[int, ...]
    parts: tuple[PhysicalDim, ...]
    blocks: tuple[int, ...]
    reason: str | None = None
    front: tuple[int, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether the array stands as it is."""
        return self.reason is None

    def extent(self, part: PhysicalDim) -> int:
        """The physical extent of a part."""
        if part.kind == "unit":
            return 1
        split, padded = self.splits[part.dim], self.padded[part.dim]
        return {"all": padded, "outer": blocks(padded, max(1, split)), "inner": split}[part.kind]

    @property
    def shape(self) -> tuple[int, ...]:
        """The physical shape."""
        return tuple(self.extent(part) for part in self.parts)


class LayoutProblem(Exception):
    """A window that no layout makes legal; the message says why."""


def fits_scalar_memory(type: MemRefType) -> bool:
    """Whether an array whose single elements are read may stand in scalar memory: a small one of 32-bit elements."""
    element, shape = type.element_type, type.get_shape()
    assert isinstance(element, FixedBitwidthType)
    return element.bitwidth == 32 and Budget.is_scalar_memory(scalar_words(shape))


def scalar_words(shape: Sequence[int]) -> int:
    """Words of scalar memory that an array takes: rows are padded to 128 elements there too."""
    if open_extents(shape):
        return UNBOUNDED
    return math.prod(shape[:-1]) * round_up(shape[-1], LANES) if len(shape) > 1 else math.prod(shape)


def stands_in_scalar_memory(window: Window) -> bool:
    """Whether only single elements of a small array are loaded, which the kernel is given in 32 bits."""
    fits = Budget.is_scalar_memory(scalar_words(window.type.get_shape()))
    return fits and not window.written and loads_scalars(window)


def loads_scalars(window: Window) -> bool:
    """Whether all that is loaded are single elements, which the kernel is given in 32 bits."""
    scalars = all(isinstance(load.result.type, TileType) and load.result.type.rank == 0 for load in window.loads)
    return scalars and stored_bits(window.type) == 32


def lanes_dim(window: Window) -> int:
    """The dimension of an array that its layout puts along the lanes: the last of which there is more than one."""
    return max((number for number, dim in enumerate(window.dims) if dim.kind != "point"), default=-1)


def layout(window: Window) -> Layout:
    """The layout of a memref that makes its window legal. Raises `LayoutProblem` where there is none."""
    return _LayoutInference(window).run()


def has_layout(window: Window) -> bool:
    """Whether a window is legal in some layout."""
    try:
        layout(window)
    except LayoutProblem:
        return False
    return True


class _LayoutInference:
    def __init__(self, window: Window):
        self.window = window
        self.shape = tuple(map(_reached, window.dims, window.type.get_shape()))
        self.splits = [0] * len(self.shape)
        self.parts = [PhysicalDim("all", number) for number in range(len(self.shape))]
        self.reasons: list[str] = []
        if self.shape != window.type.get_shape():
            self.reasons.append("blocks that begin before the array or lie beyond it")

    def run(self) -> Layout:
        if self._end_in_lanes():
            self._legal_lanes()
            self._legal_sublanes()
        shape = tuple(padded(n, s) if s else n for n, s in zip(self.shape, self.splits, strict=True))
        plan = Layout(shape, tuple(self.splits), tuple(self.parts), (), "; ".join(self.reasons) or None)
        blocks = tuple(self._block(plan, position) for position in range(len(self.parts)))
        front = tuple(dim.front for dim in self.window.dims)
        return Layout(plan.padded, plan.splits, plan.parts, blocks, plan.reason, front)

    # Which parts the kernel sees.

    def _dim(self, part: PhysicalDim) -> Dim:
        return self.window.dims[part.dim]

    def _kept(self, part: PhysicalDim) -> bool:
        if part.kind in ("unit", "inner"):
            return True
        dim = self._dim(part)
        return dim.kind == "whole" or (dim.kind == "block" and part.kind == "all")

    # Making the last two legal.

    def _end_in_lanes(self) -> bool:
        """Puts a dimension that has lanes last: single elements and rows picked by number go to the front.

        False where there is none, and units stand for lanes and rows.
        """
        lanes = [part for part in self.parts if self._kept(part) and not self._picked(part)]
        if not lanes:
            self._note(PhysicalDim("unit"), "single elements")
            self.parts += [PhysicalDim("unit")] * 2
            return False
        if self.parts[-1] != lanes[-1]:
            self._note(self.parts[-1], "single elements along the lanes")
            last = self.parts.index(lanes[-1])
            self.parts = [*self.parts[last + 1 :], *self.parts[: last + 1]]
        return True

    def _picked(self, part: PhysicalDim) -> bool:
        """Whether a whole dimension is only ever indexed by dynamic numbers of single elements."""
        dim = self._dim(part)
        return dim.kind == "whole" and dim.step == 1 and not dim.plain

    def _legal_lanes(self) -> None:
        part = self.parts[-1]
        dim, extent = self._dim(part), self.shape[part.dim]
        if self._lanes_fit(dim, extent):
            return
        self._note(part, f"blocks of {dim.step or dim.size} lanes")
        self._split(part)
        self.parts = [PhysicalDim("outer", part.dim), *self.parts[:-1], PhysicalDim("inner", part.dim)]

    def _lanes_fit(self, dim: Dim, extent: int) -> bool:
        lanes = LANES if len(self.parts) > 1 else _flat(1, self.window.bits)
        if dim.kind == "whole":
            return not dim.dynamic or (dim.walk % lanes == 0 and not self._moves_both())
        if dim.walk % lanes:
            return False
        if len(self.parts) > 1:
            return dim.size == extent or dim.size % LANES == 0
        return legal_block(dim.size, extent, self.window.bits, -1, rank=1) == dim.size or dim.size == extent

    def _moves_both(self) -> bool:
        """Whether single rows are picked out of blocks of lanes that move too: Mosaic takes one of the two."""
        if len(self.parts) < 2 or self.window.bits != 32:  # other rows are separated or aligned
            return False
        lanes, rows = self._dim(self.parts[-1]), self._dim(self.parts[-2])
        picked = rows.kind == "whole" and rows.dynamic and rows.step == 1 and rows.walk % sublanes(32) != 0
        return picked and lanes.step > 0 and not lanes.plain

    def _legal_sublanes(self) -> None:
        if len(self.parts) < 2:
            return
        part = self.parts[-2]
        if part.kind == "outer" or not self._kept(part):
            self._note(part, "single rows")
            if not self._bring_rows():
                self.parts.insert(len(self.parts) - 1, PhysicalDim("unit"))
        elif not self._rows_fit(self._dim(part), self.shape[part.dim]):
            self._separate_rows(part)

    def _bring_rows(self) -> bool:
        """Puts the dimension that is the kernel's own before the lanes there, where its blocks are legal rows."""
        seen = [place for place, part in enumerate(self.parts[:-1]) if self._kept(part)]
        if not seen or (part := self.parts[seen[-1]]).kind != "all" or self._picked(part):
            return False
        if self._dim(part).size == 1 or not self._rows_fit(self._dim(part), self.shape[part.dim]):
            return False
        outside = self.parts[seen[-1] + 1 : -1]
        self.parts = [*outside, *self.parts[: seen[-1] + 1], self.parts[-1]]
        return True

    def _rows_fit(self, dim: Dim, extent: int) -> bool:
        rows = sublanes(self.window.bits)
        if dim.kind == "whole":
            return not dim.dynamic or dim.walk % rows == 0 or (dim.step == 1 and self.window.bits == 32)
        parts_fit = self.window.bits == 32 or dim.walk % rows == 0
        return parts_fit and (dim.size == extent or dim.size % rows == 0)

    def _separate_rows(self, part: PhysicalDim) -> None:
        dim = self._dim(part)
        self._note(part, "single rows" if self._picked(part) else f"blocks of {dim.step or dim.size} rows")
        if self._picked(part):
            self.parts.insert(len(self.parts) - 1, PhysicalDim("unit"))
            return
        self._split(part)
        self.parts[-2:-1] = [PhysicalDim("outer", part.dim), PhysicalDim("inner", part.dim)]

    def _split(self, part: PhysicalDim) -> None:
        dim = self._dim(part)
        lanes = dim.step if dim.kind == "whole" else dim.size
        if (dim.kind == "whole" and (dim.plain or lanes == 0)) or dim.walk % lanes:
            raise LayoutProblem(
                f"dimension {part.dim} of {self.window.type} is read in blocks that start at multiples of {dim.walk}, "
                f"which Mosaic takes only as multiples of {LANES} lanes or {sublanes(self.window.bits)} rows"
            )
        self.splits[part.dim] = lanes

    def _note(self, part: PhysicalDim, what: str) -> None:
        self.reasons.append(f"{what} of dimension {part.dim}" if part.dim >= 0 else what)

    # The window's lanes of each part.

    def _block(self, plan: Layout, position: int) -> int:
        part = plan.parts[position]
        if part.kind in ("unit", "inner"):
            return plan.extent(part)
        dim = self._dim(part)
        if not self._kept(part):
            return 0
        if part.kind == "outer" or dim.kind == "block":
            return plan.extent(part) if part.kind == "outer" else dim.size
        return self._whole(dim.size, plan.extent(part), position - len(plan.parts), len(plan.parts))

    def _whole(self, size: int, extent: int, position: int, rank: int) -> int:
        """A whole dimension that is rounded up beyond its extent is rounded up to a legal block."""
        if is_open(size) or is_open(extent):
            return size
        if size <= extent or position < -2:
            return max(size, extent)
        if rank == 1:
            return _flat(size, self.window.bits)
        return round_up(size, LANES if position == -1 else sublanes(self.window.bits))
