"""Open extents: dimensions of arrays that differ from call to call, as numbers that nobody can read.

An `OpenExtent` stands where a shape has a number: in specs, in types of the IR (as ``?``), in a kernel's Python. It is
equal to itself only. Whatever needs the number, arithmetic, an order, a conversion, is refused, so no decision of the
compiler can rest on it. Two dimensions of one extent are known to be as long as each other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import Any, Literal, NoReturn, TypeGuard

from kopt.errors import UnsupportedError

#: Extents beyond are compiled in: blocks that begin inside still end within 32 bits.
MOST = 1 << 30
#: Elements, and bytes, of what no memory of a chip is known to hold.
UNBOUNDED = 1 << 62
#: What xDSL has in a shape for an extent that is no number.
_DYNAMIC = -(1 << 63)
#: What stands for the first open extent where only a number will do (meta tensors of torch): an odd number that is
#: larger than extents beside it.
_FIRST = (1 << 19) + 7
#: Numbers from here on in the shape of a meta tensor are open extents, or were made of one.
LEAST = 1 << 19


class NeedsConstant(UnsupportedError):
    """The kernel needs a number that differs from call to call."""


class OpenExtent(int):
    """The extent ``name``, number ``number`` of a kernel's; every call's is a multiple of ``multiple``.

    It is ``least`` at least. ``now`` is what it is in the call that the kernel is compiled in: what suits that call may
    be chosen by it.
    """

    name: str
    number: int
    multiple: int
    now: int
    least: int
    #: Of one that follows from another: that one, the size of blocks, and whether it is their number or their elements.
    source: tuple[OpenExtent, int, Literal["blocks", "elements"]] | None

    def __new__(cls, name: str, number: int = 0, multiple: int = 1, now: int = 1, least: int = 1) -> OpenExtent:
        self = super().__new__(cls, _FIRST + 2 * number)
        self.name, self.number, self.multiple, self.now, self.least = name, number, multiple, now, least
        self.source = None
        return self

    @property
    def stand_in(self) -> int:
        """The number that stands for it in shapes of meta tensors."""
        return _FIRST + 2 * self.number

    def require(self, multiple: int) -> None:
        """States that every call's is a multiple of a number, too."""
        self.multiple = math.lcm(self.multiple, multiple)

    def needed(self, *_: Any, **__: Any) -> NoReturn:
        """Refuses what needs the number."""
        raise NeedsConstant(
            f"the extent {self.name}, which differs from call to call, has to be a number here",
            notes=[f"walk the dimension by hl.tile({self.name}), or leave it out of dynamic=: each extent is compiled"],
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OpenExtent):
            return self.name == other.name
        return type(other) is int and other == _DYNAMIC

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return "?"

    def __repr__(self) -> str:
        return f"OpenExtent({self.name!r})"

    def __format__(self, spec: str) -> str:
        return "?"

    def __reduce__(self) -> Any:
        if self.source is not None:
            extent, size, kind = self.source
            return (padded if kind == "elements" else blocks), (extent, size)
        return OpenExtent, (self.name, self.number, self.multiple, self.now, self.least)

    __lt__ = __le__ = __gt__ = __ge__ = needed
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = needed
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = needed
    __divmod__ = __rdivmod__ = __pow__ = __rpow__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = needed
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = needed
    __neg__ = __pos__ = __abs__ = __invert__ = __round__ = __floor__ = __ceil__ = __trunc__ = needed
    __bool__ = __int__ = __index__ = __float__ = __complex__ = needed
    bit_length = bit_count = as_integer_ratio = to_bytes = needed


def is_open(extent: Any) -> TypeGuard[OpenExtent]:
    """Whether an extent differs from call to call."""
    return type(extent) is OpenExtent


def open_extents(extents: Iterable[Any]) -> list[OpenExtent]:
    """The open ones among extents, each once."""
    return list(dict.fromkeys(extent for extent in extents if type(extent) is OpenExtent))


def called_shape(extents: Iterable[int]) -> tuple[int, ...]:
    """A shape as it is in the call that its kernel is compiled in."""
    return tuple(extent.now if isinstance(extent, OpenExtent) else extent for extent in extents)


def is_multiple(extent: int, number: int) -> bool:
    """Whether an extent is known to be a multiple of a number, in every call."""
    return (extent.multiple if isinstance(extent, OpenExtent) else extent) % number == 0


def check_known(extents: Iterable[Any]) -> None:
    """Raises `NeedsConstant` where an extent is open."""
    for extent in open_extents(extents):
        extent.needed()


def fits(shape: Iterable[int], wanted: Iterable[int]) -> bool:
    """Whether a shape is one of those that a shape with open extents stands for."""
    return all(isinstance(want, OpenExtent) or have == want for have, want in zip(shape, wanted, strict=True))


def padded(extent: int, size: int) -> int:
    """The elements of an extent's blocks, where the last one is filled up."""
    if not isinstance(extent, OpenExtent):
        return -(-extent // size) * size
    return extent if extent.multiple % size == 0 else _following(extent, size, "elements")


def blocks(extent: int, size: int) -> int:
    """How many blocks of a size an extent has, of which the last one need not be full."""
    if not isinstance(extent, OpenExtent):
        return -(-extent // size)
    if size == 1:
        return extent
    if extent.source is not None and extent.source[1:] == (size, "elements"):
        extent = extent.source[0]
    return _following(extent, size, "blocks")


def largest(sizes: Collection[int]) -> int:
    """The largest of some sizes: of open ones the one that all are, or that fills up blocks of the others."""
    known = dict.fromkeys(sizes)
    if len(known) == 1 or not any(map(is_open, known)):
        return max(sizes)
    filled = {size.source[0] for size in known if is_open(size) and size.source is not None}
    rest = [size for size in known if size not in filled]
    return rest[0] if len(rest) == 1 else max(sizes)


def elements(shape: Iterable[int]) -> tuple[Fraction, tuple[str, ...]]:
    """How many elements an array has: a number, and what it is multiplied by of open extents."""
    number, names = Fraction(1), list[str]()
    for extent in shape:
        known, name = _factors(extent) if isinstance(extent, OpenExtent) else (Fraction(extent), None)
        number *= known
        names += [] if name is None else [name]
    return number, tuple(sorted(names))


def _factors(extent: OpenExtent) -> tuple[Fraction, str | None]:
    """An open extent as a number and the name of an open one: blocks that are filled up have so many elements each."""
    if extent.source is None:
        return Fraction(1), extent.name
    of, size, kind = extent.source
    if kind == "elements":
        return Fraction(size), blocks(of, size).name  # pyright: ignore[reportAttributeAccessIssue]
    if of.multiple % size:
        return Fraction(1), extent.name
    number, name = _factors(of)
    return number / size, name


def _following(extent: OpenExtent, size: int, kind: Literal["blocks", "elements"]) -> OpenExtent:
    number, multiple = -(-extent.now // size), extent.multiple // size if extent.multiple % size == 0 else 1
    if kind == "elements":
        number, multiple = number * size, math.lcm(extent.multiple, size)
    made = OpenExtent(f"{kind} of {size} in {extent.name}", extent.number, multiple, number)
    made.source = extent, size, kind
    return made


def spelled(extent: int, names: Mapping[OpenExtent, str]) -> str:
    """An extent in an emitted module of JAX, where open ones have names: ``pl.cdiv(x_size_0, 64) * 64``."""
    if not isinstance(extent, OpenExtent):
        return str(extent)
    if extent.source is None:
        return names[extent]
    of, size, kind = extent.source
    return f"pl.cdiv({spelled(of, names)}, {size})" + (f" * {size}" if kind == "elements" else "")


def plain_name(extent: OpenExtent) -> str:
    """A name for it in emitted code: ``x.size(0)`` is ``x_size_0``."""
    return extent.name.replace(".", "_").replace("(", "_").removesuffix(")")
