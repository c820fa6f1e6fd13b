"""What a kernel computes with besides blocks while it runs as Python: the numbers of loops, and block sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.eager.blocks import Block, LoopAxis, OpenBlockSize, block
from kopt.eager.state import as_torch, current


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

    axis: LoopAxis | None
    open: OpenBlockSize | None
    times: int

    def __new__(
        cls, size: int, axis: LoopAxis | None = None, open: OpenBlockSize | None = None, times: int = 1
    ) -> BlockSize:
        self = super().__new__(cls, size)
        self.axis, self.open, self.times = axis, open, times
        return self

    def __mul__(self, other: Any) -> Any:
        product = int.__mul__(self, other)
        if product is NotImplemented or not isinstance(other, int):
            return product
        return BlockSize(product, self.axis, self.open, self.times * int(other))

    __rmul__ = __mul__

    def real(self) -> tuple[int, LoopAxis | None]:
        """How long the block under way is, and its loop; the size itself where none walks such blocks."""
        axis = self.axis or current().axis_of(self.open)
        if axis is None:
            return int(self), None
        return axis.size * self.times, axis if self.times == 1 else None


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
    axis: LoopAxis | None = None
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
            total.bound = int(self) + other.real()[0]
        return total

    __radd__ = __add__

    def __floordiv__(self, other: Any) -> Any:
        if self.axis is not None and type(other) is int:
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
    with as_torch():
        return block(torch.tensor(number, dtype=dtype, device=current().device))
