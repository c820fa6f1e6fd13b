"""What a kernel computes with while it runs as Python: blocks, tiles, and the numbers of loops.

A block is a torch tensor that remembers which loop each of its dimensions is of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(eq=False)
class OpenBlock:
    """A block size that the kernel leaves open. ``given`` where the configuration or the kernel itself says it."""

    size: int
    given: bool = False
    #: Whether the kernel asks for where its blocks begin or for their numbers, and whether it uses them as lanes.
    counted: bool = False
    walked: bool = False


@dataclass(eq=False)
class Axis:
    """One dimension of one loop under way, and the block that is being visited, ``begin`` to ``end``.

    ``first`` and ``last`` bound the loop; ``lengths`` are those of a jagged one, of which ``last`` is the largest.
    """

    first: int
    last: int
    block_size: int
    open: OpenBlock | None = None
    lengths: Block | None = None
    begin: int = 0
    end: int = 0

    @property
    def extent(self) -> int:
        """How many elements the loop walks."""
        return max(0, self.last - self.first)

    @property
    def size(self) -> int:
        """How many elements the block has."""
        return self.end - self.begin

    def walk(self) -> None:
        """Notes that the kernel uses the block's lanes."""
        if self.open is not None:
            self.open.walked = True

    def count(self) -> None:
        """Notes that the kernel uses the block's place."""
        if self.open is not None:
            self.open.counted = True


Axes = tuple[Axis | None, ...]
#: The ``lanes`` of a tile's elements moved by a number.
SHIFTED = "shifted"


class Block(torch.Tensor):
    """A device value. ``axes`` has the loop of each dimension, None for a plain one.

    ``lanes`` tells index vectors that number elements in order: the tile that they are, ``SHIFTED`` for one
    that a number was added to, or True for others.
    """

    __torch_function__ = torch._C._disabled_torch_function_impl  # pyright: ignore
    axes: Axes
    lanes: Any


def block(value: torch.Tensor, axes: Sequence[Axis | None] | None = None, lanes: Any = None) -> Block:
    """A tensor as a device value."""
    made = value.as_subclass(Block)
    made.axes = tuple(axes) if axes is not None and len(axes) == value.ndim else (None,) * value.ndim
    made.lanes = lanes
    return made


def axes_of(value: Any) -> Axes:
    """The loops of a value's dimensions."""
    return getattr(value, "axes", None) or (None,) * value.ndim


def plain(value: Any) -> Any:
    """A device value as an ordinary tensor, inside tuples and lists too."""
    if isinstance(value, Block):
        return value.as_subclass(torch.Tensor)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(plain, value))
    if type(value) in (tuple, list):
        return type(value)(map(plain, value))
    if type(value) is dict:
        return {key: plain(item) for key, item in value.items()}
    return int(value) if isinstance(value, Number | BlockSize) else value


class BlockSize(int):
    """The configured size of a block; as the size of a dimension it is that of the block under way."""

    axis: Axis | None
    open: OpenBlock | None
    times: int

    def __new__(cls, size: int, axis: Axis | None = None, open: OpenBlock | None = None, times: int = 1) -> BlockSize:
        self = super().__new__(cls, size)
        self.axis, self.open, self.times = axis, open, times
        return self

    def __mul__(self, other: Any) -> Any:
        product = int.__mul__(self, other)
        if product is NotImplemented or not isinstance(other, int):
            return product
        return BlockSize(product, self.axis, self.open, self.times * int(other))

    __rmul__ = __mul__


def _whole(name: str) -> Callable[..., Any]:
    """Arithmetic of loops' numbers that stays a number of loops."""
    plainly = getattr(int, name)

    def method(self: Number, *others: Any) -> Any:
        result = plainly(self, *others)
        return Number(result) if type(result) is int else result

    return method


def _compared(name: str) -> Callable[..., Any]:
    """Comparisons give what comparisons of device values give, so that ``~`` and torch's functions take them."""
    plainly = getattr(int, name)

    def method(self: Number, other: Any) -> Any:
        result = plainly(self, other)
        return scalar(result, torch.bool) if isinstance(result, bool) else result

    return method


class Number(int):
    """A number that loops compute. torch takes it for a Python integer, or as an int32 where it wants a tensor."""

    #: The block that begins here; and, of a sum with a block size, where the block under way ends.
    axis: Axis | None = None
    bound: int | None = None

    __sub__, __rsub__ = _whole("__sub__"), _whole("__rsub__")
    __mul__ = __rmul__ = _whole("__mul__")
    __rfloordiv__ = _whole("__rfloordiv__")
    __mod__, __rmod__ = _whole("__mod__"), _whole("__rmod__")
    __and__ = __rand__ = _whole("__and__")
    __or__ = __ror__ = _whole("__or__")
    __xor__ = __rxor__ = _whole("__xor__")
    __lshift__, __rlshift__ = _whole("__lshift__"), _whole("__rlshift__")
    __rshift__, __rrshift__ = _whole("__rshift__"), _whole("__rrshift__")
    __neg__, __pos__, __abs__, __invert__ = map(_whole, ("__neg__", "__pos__", "__abs__", "__invert__"))
    __lt__, __le__, __gt__, __ge__ = map(_compared, ("__lt__", "__le__", "__gt__", "__ge__"))
    __eq__, __ne__ = map(_compared, ("__eq__", "__ne__"))
    __hash__ = int.__hash__

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented  # the mode of a run has it first

    def __add__(self, other: Any) -> Any:
        result = int.__add__(self, other)
        if result is NotImplemented:
            return result
        total = Number(result)
        if isinstance(other, BlockSize):
            from kopt.eager.tiles import real_size

            total.bound = int(self) + real_size(other)[0]
        return total

    __radd__ = __add__

    def __floordiv__(self, other: Any) -> Any:
        if self.axis is not None and type(other) is int:
            from kopt.eager.state import current

            current().shares(self.axis, other)
        result = int.__floordiv__(self, other)
        return result if result is NotImplemented else Number(result)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(tensor_of(self), name)


def tensor_of(number: int) -> Block:
    """A number of a loop as a tensor of rank 0."""
    return scalar(int(number), torch.int32)


def scalar(number: Any, dtype: torch.dtype) -> Block:
    """A number as a device value."""
    from kopt.eager.state import as_torch, current

    with as_torch():
        return block(torch.tensor(number, dtype=dtype, device=current().device))
