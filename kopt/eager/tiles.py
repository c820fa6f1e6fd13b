"""Tiles, and the loops that give them: ``hl.tile``, ``hl.grid``, ``hl.jagged_tile``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from kopt.eager.blocks import Block, LoopAxis, OpenBlockSize, block
from kopt.eager.state import current, quietly, refuse
from kopt.eager.values import BlockSize, Number


class Tile:
    """One block of a loop, ``shift`` elements further; in arithmetic it is the numbers of its elements."""

    def __init__(self, axis: LoopAxis, shift: int = 0):
        self.axis, self.shift = axis, shift
        self._begin, self._end = axis.begin, axis.end

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented  # the mode of a run has it first

    @property
    def begin(self) -> Number:
        """The first element."""
        self.axis.count()
        number = Number(self._begin)
        number.axis = self.axis
        return number

    @property
    def end(self) -> Number:
        """One past the last element."""
        self.axis.walk()
        return Number(self._end)

    @property
    def block_size(self) -> BlockSize:
        """The size that blocks have but for the last."""
        self.axis.walk()
        return BlockSize(self.axis.block_size, self.axis)

    @property
    def id(self) -> Number:
        """The number of the block."""
        self.axis.count()
        return Number((self._begin - self.axis.first) // self.axis.block_size)

    @property
    def count(self) -> Number:
        """How many blocks there are."""
        self.axis.walk()
        return Number(-(-self.axis.extent // self.axis.block_size))

    @property
    @quietly
    def index(self) -> Block:
        """The numbers of its elements."""
        self.axis.walk()
        first, last = self._begin + self.shift, self._end + self.shift
        numbers = torch.arange(first, last, dtype=torch.int32, device=current().device)
        return block(numbers, (self.axis,), self)

    @property
    def shape(self) -> tuple[int, ...]:
        """The block's, as the kernel sees it."""
        return (self.block_size,)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Block) and not other.ndim and not other.dtype.is_floating_point:
            other = int(other)
        return Tile(self.axis, self.shift + other) if isinstance(other, int) else self.index + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.index, name)


def _operator(name: str) -> Any:
    return lambda self, *others: getattr(self.index, name)(*others)


for _name in (
    "rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and rand or ror xor rxor lshift rshift "
    "lt le gt ge eq ne neg invert abs getitem"
).split():
    setattr(Tile, f"__{_name}__", _operator(f"__{_name}__"))
Tile.__hash__ = object.__hash__


def tile(begin_or_end: Any, end_or_none: Any = None, /, block_size: Any = None) -> Iterator[Any]:
    """``hl.tile``: the cells of a product, in order."""
    bounds, sizes, unpack = _bounds(begin_or_end, end_or_none, block_size)
    rank = len(bounds)
    axes = [
        LoopAxis(*bound, *_block(bound, size, number, rank))
        for number, (bound, size) in enumerate(zip(bounds, sizes, strict=True))
    ]
    return _cells(axes, unpack)


def grid(begin_or_end: Any, end_or_none: Any = None, /, step: Any = None) -> Iterator[Any]:
    """``hl.grid``: the numbers of a product, in order."""
    bounds, steps, unpack = _bounds(begin_or_end, end_or_none, step)
    walks = [range(first, last, int(each or 1)) for (first, last), each in zip(bounds, steps, strict=True)]
    return _numbers(walks, unpack)


def jagged_tile(parent: Any, /, block_size: Any = None) -> Iterator[Any]:
    """``hl.jagged_tile``: blocks up to the largest length; `jagged` knows which lanes the items have."""
    advice = "load the lengths of a tile of items: hl.jagged_tile(lengths[tile])"
    if not isinstance(parent, Block) or not parent.ndim or None in parent.axes:
        refuse("hl.jagged_tile needs the lengths of a tile of items", advice, id="jagged")
    if parent.dtype.is_floating_point or parent.dtype == torch.bool:
        refuse(f"lengths are integers, found {parent.dtype}", id="jagged")
    last = max(0, int(parent.max())) if parent.numel() else 0
    size, open = _block(None, block_size, 0, 1)
    return _cells([LoopAxis(0, last, size, open, parent)], True)


def static_range(begin_or_end: Any, end_or_none: Any = None, /, step: Any = 1) -> range:
    """``hl.static_range``: Python's."""
    first, last = (0, begin_or_end) if end_or_none is None else (begin_or_end, end_or_none)
    return range(int(first), int(last), int(step or 1))


def register_block_size(min_or_max: int, max_or_none: int | None = None, /) -> BlockSize:
    """``hl.register_block_size``."""
    low, high = (1, min_or_max) if max_or_none is None else (min_or_max, max_or_none)
    open = current().open_block(lambda: max(int(low), _uneven(int(high))))
    open.walked = True
    return BlockSize(open.size, open=open)


def _bounds(begin_or_end: Any, end: Any, sizes: Any) -> tuple[list[tuple[int, int]], list[Any], bool]:
    """First and last element and block size (or step) of each dimension; whether it was one number."""
    begin, end = (None, begin_or_end) if end is None else (begin_or_end, end)
    unpack = not isinstance(end, list | tuple)
    ends = [end] if unpack else list(end)
    begins = [0] * len(ends) if begin is None else [begin] if unpack else list(begin)
    each = [sizes] if unpack and not isinstance(sizes, list | tuple) else list(sizes or [None] * len(ends))
    if not len(begins) == len(each) == len(ends):
        refuse(f"begin, end and sizes need as many entries, found {len(begins)}, {len(ends)}, {len(each)}", id="shapes")
    return [(_bound(b), _bound(e)) for b, e in zip(begins, ends, strict=True)], each, unpack


def _bound(value: Any) -> int:
    """A number of elements; one that is computed in floats is cut off."""
    if isinstance(value, Tile):
        refuse("a tile is no bound of a loop", "use tile.begin and tile.end", id="loop-bounds")
    if isinstance(value, float):
        refuse(f"loop bounds are integers, found {value}", id="loop-bounds")
    return int(value)


def _block(bound: tuple[int, int] | None, size: Any, number: int, rank: int) -> tuple[int, OpenBlockSize | None]:
    """The block size of one dimension, and what registered it."""
    if size is None:
        extent = None if bound is None else bound[1] - bound[0]
        open = current().open_block(lambda: 1 if number < rank - 2 else _uneven(extent))
        return open.size, open
    if isinstance(size, Tile):
        size = size.block_size
    if isinstance(size, BlockSize):
        return int(size), size.open or (size.axis.open if size.axis is not None else None)
    if not isinstance(size, int) or size < 1:
        refuse("a block size is a positive number", id="index")
    return int(size), None


def _uneven(extent: int | None) -> int:
    """A block size that does not divide the extent, for a few blocks."""
    if extent is None:
        return 13
    if extent < 3:
        return 1
    return next(size for size in itertools.count(extent // 3 + 1) if extent % size or size >= extent)


def _cells(axes: list[LoopAxis], unpack: bool) -> Iterator[Any]:
    """Blocks of all dimensions, the last one fastest."""
    with current().loop(axes) as visit:
        starts = [range(axis.first, axis.last, axis.block_size) for axis in axes]
        for begins in itertools.product(*starts):
            visit()
            for axis, begin in zip(axes, begins, strict=True):
                axis.begin, axis.end = begin, min(begin + axis.block_size, axis.last)
            tiles = tuple(map(Tile, axes))
            yield tiles[0] if unpack else tiles


def _numbers(walks: list[range], unpack: bool) -> Iterator[Any]:
    with current().loop([]) as visit:
        for cell in itertools.product(*walks):
            visit()
            numbers = tuple(map(Number, cell))
            yield numbers[0] if unpack else numbers


def real_size(size: Any) -> tuple[int, LoopAxis | None]:
    """One size of a shape, and the loop it is of: a tile or block size is as long as the block under way."""
    if isinstance(size, Tile):
        size.axis.walk()
        return size._end - size._begin, size.axis
    return size.real() if isinstance(size, BlockSize) else (int(size), None)


def slice_bound(bound: Any) -> int | None:
    """A bound of a slice; a block size that was added to it is that of the block under way."""
    if isinstance(bound, Number) and bound.bound is not None:
        return bound.bound
    return None if bound is None else int(bound)
