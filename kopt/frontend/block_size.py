"""Sizes of blocks as the kernel's Python sees them: numbers that notice who reads them.

Sizes are chosen after the import, and a block that ends with its array has fewer valid lanes. So a size is a number
where a shape is asked for, a device number in arithmetic on device values, and noted where Python computes with it.
What Python makes of it must be the same for the last block, whose kernel this is too; else it is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, NoReturn

from kopt.frontend.lengths import Length, agreed, computed
from kopt.frontend.state import unsupported
from kopt.frontend.tracer import BlockInfo

#: What gives how many lanes are valid, as a device number.
Count = Callable[[], Any]


class BlockSize(int):
    """The size of a block: a number that remembers which block (and which loop) it is of.

    Whatever reads the number, by Python's arithmetic, comparisons or conversions, is noted on the block: another size
    then means another import. ``lanes`` is the number without a note. ``count`` tells the size of a loaded block from
    ``tile.block_size``: on device values, and in quotients, it counts valid lanes only, as torch would on the last,
    shorter block; ``ragged`` says that there may be such a block. ``length`` gives what the size is in each block, of
    ``tile.block_size`` too where it is the size of a dimension; ``own`` says that it is the block's size itself, not
    one that follows from it.
    """

    tag: str
    block: BlockInfo | None
    count: Count | None
    ragged: bool
    length: Callable[[], Length | int]
    own: bool

    def __new__(
        cls,
        size: int,
        tag: str = "",
        block: BlockInfo | None = None,
        count: Count | None = None,
        ragged: bool = False,
        length: Callable[[], Length | int] | None = None,
        own: bool = True,
    ) -> BlockSize:
        self = super().__new__(cls, size)
        self.tag, self.block, self.count, self.ragged = tag, block, count, ragged
        self.length, self.own = length or (lambda: self.lanes), own
        return self

    @property
    def lanes(self) -> int:
        """The number, for whoever keeps the block's dimension with it."""
        return int.__int__(self)

    @property
    def read(self) -> Length | int:
        """What Python reads: the number of lanes that there are."""
        return self.length() if self.ragged else self.lanes

    def note(self, read: bool = True) -> None:
        """What is computed follows from the size; Python may have read the number."""
        if self.block is not None:
            self.block.observed = True
            self.block.read |= read

    def counted(self) -> Any:
        """How many lanes are valid, as a device number."""
        assert self.count is not None
        self.note(read=False)
        return self.count()


def is_short(value: Any) -> bool:
    """Whether a value is a block's size of which the last block may have another."""
    return isinstance(value, BlockSize) and value.ragged


def valid(value: Any) -> Any:
    """The number of valid lanes that a ragged block's size stands for; anything else as it is."""
    return value.counted() if is_short(value) else value


def plain(value: Any) -> Any:
    """What a library's function gets: sizes of blocks as ordinary numbers, which are read then."""
    if isinstance(value, BlockSize):
        return number(value)
    if isinstance(value, slice):
        return slice(*map(plain, (value.start, value.stop, value.step)))
    if isinstance(value, Shape):
        return tuple(map(plain, value))
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    return {key: plain(item) for key, item in value.items()} if type(value) is dict else value


def number(size: BlockSize) -> int:
    """The number that a size is in every block. Refuses one that differs in the last."""
    return _settled(int, size)


def varies(value: Any) -> bool:
    """Whether a number is the size of a ragged block, and another one in the last."""
    if not is_short(value):
        return False
    value.note()
    return not agreed(computed(int, value.read))


def follows(compute: Callable[..., Any], count: Callable[..., Any], *operands: Any, stays: bool = True) -> Any:
    """What follows from sizes and numbers: a number where all blocks have it, else a size, of which ``count`` counts.

    ``compute`` takes Python's numbers, ``count`` the device's. What does not stay a size is counted at once.
    """
    sizes = [each for each in operands if isinstance(each, BlockSize)]
    for size in sizes:
        size.note()
    full = compute(*(each.lanes if isinstance(each, BlockSize) else each for each in operands))
    if not any(size.ragged for size in sizes):
        return full
    length = computed(compute, *map(_read, operands))
    if agreed(length) == [full]:
        return full
    if not stays:
        return count(*map(valid, operands))
    block = next(size.block for size in sizes if size.ragged)
    return BlockSize(full, "", block, lambda: count(*map(valid, operands)), True, lambda: length, False)


class Shape(tuple[Any, ...]):
    """The sizes of a block's dimensions, as ``torch.Size`` is."""

    def numel(self) -> Any:
        """How many elements there are."""
        return reduce(operator.mul, self) if self else 1

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Shape(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        return Shape((*self, *other)) if isinstance(other, tuple) else NotImplemented


def _read(value: Any) -> Any:
    return value.read if isinstance(value, BlockSize) else value


def _settled(compute: Callable[..., Any], *operands: Any) -> Any:
    """What Python computes with sizes, where it is the same for all blocks."""
    for each in operands:
        if isinstance(each, BlockSize):
            each.note()
    read = list(map(_read, operands))
    if not any(isinstance(each, Length) for each in read):
        return compute(*read)
    return found[0] if (found := agreed(computed(compute, *read))) else _refuse()


def _refuse() -> NoReturn:
    unsupported(
        "how many lanes the last block has is not known while the kernel is imported, and Python reads it here",
        "choose a block size that divides the distance walked, or compute with the size on device values",
        "the size that was configured is tile.block_size",
        id="ragged-lanes",
    )


def _reading(name: str) -> Callable[..., Any]:
    """Python's own question: the answer is the same for the last block, or refused."""
    ask = getattr(operator, name) if name in _COMPARE else getattr(int, name)

    def method(self: BlockSize, *args: Any) -> Any:
        if any(not isinstance(each, int | float | str | None) for each in args):
            self.note()
            return NotImplemented
        return _settled(ask, self, *args)

    return method


def _arithmetic(name: str, swapped: bool, stays: bool) -> Callable[..., Any]:
    """An operator whose result, of a ragged block's size, is one that can still be a shape (``stays``) or a count."""
    compute = getattr(operator, name)

    def method(self: BlockSize, other: Any) -> Any:
        if not isinstance(other, int | float):
            self.note()
            return NotImplemented
        pair = (other, self) if swapped else (self, other)
        made = follows(compute, compute, *pair, stays=stays and not isinstance(other, float))
        return _times(made, *pair) if name == "mul" and type(made) is int else made

    return method


def _times(product: int, *factors: Any) -> Any:
    """A multiple of ``tile.block_size`` is as long as the blocks under way where it is the size of a dimension."""
    block = next(each.block for each in factors if isinstance(each, BlockSize))
    length = lambda: computed(operator.mul, *(f.length() if isinstance(f, BlockSize) else f for f in factors))  # noqa: E731
    return BlockSize(product, "", block, length=length, own=False)


def _unary(name: str) -> Callable[..., Any]:
    compute = getattr(operator, name)
    return lambda self: follows(compute, compute, self)


_COMPARE = "__eq__ __ge__ __gt__ __le__ __lt__ __ne__".split()
#: What Python may ask of a number, but for how it computes.
_READS = """
    __bool__ __ceil__ __divmod__ __float__ __floor__ __format__ __hash__ __index__ __int__ __rdivmod__ __repr__
    __round__ __str__ __trunc__ as_integer_ratio bit_count bit_length
""".split()
_UNARY = "__abs__ __invert__ __neg__ __pos__".split()
#: Operators that keep a size a size, and those that do not.
_KEEP, _LEAVE = ("add", "sub", "mul", "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift"), ("truediv", "pow")

for _name in (*_READS, *_COMPARE):
    setattr(BlockSize, _name, _reading(_name))
for _name in _UNARY:
    setattr(BlockSize, _name, _unary(_name))
for _name in (*_KEEP, *_LEAVE):
    setattr(BlockSize, f"__{_name.strip('_')}__", _arithmetic(_name, False, _name in _KEEP))
    setattr(BlockSize, f"__r{_name.strip('_')}__", _arithmetic(_name, True, _name in _KEEP))
