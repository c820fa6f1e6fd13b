"""Value ranges: between which integers a number lies, and what divides it.

The one answer for bounds, signs, divisors, widths and comparisons that always hold. An end that is not known is None;
``divisor`` divides every value (0 where only 0 is one). The transfer functions hold for unbounded integers, with
NumPy's ``n // 0 == n % 0 == 0``; `ValueRange.wrapped` is what a width makes of them.

    ValueRange(0, 1000) // 8 * 8        # 0 to 1000 in steps of 8
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

_INF = math.inf


@dataclass(frozen=True)
class ValueRange:
    """The multiples of ``divisor`` from ``low`` to ``high``, as tight as these can say; `EMPTY` where there is none."""

    low: int | None = None
    high: int | None = None
    divisor: int = 1

    def __post_init__(self) -> None:
        low, high, divisor = self.low, self.high, self.divisor
        if divisor != 1 or (low is not None and high is not None and low >= high):
            self.__dict__.update(zip(("low", "high", "divisor"), _normal(low, high, abs(divisor)), strict=True))

    @staticmethod
    @lru_cache(maxsize=4096)
    def exactly(number: int) -> ValueRange:
        """One number."""
        return ValueRange(number, number)

    @staticmethod
    @cache
    def of_bits(bits: int, signed: bool = True) -> ValueRange:
        """What an integer type of a width holds."""
        return ValueRange(-(1 << bits - 1), (1 << bits - 1) - 1) if signed else ValueRange(0, (1 << bits) - 1)

    @property
    def is_empty(self) -> bool:
        """Whether there is no value at all, as in a loop that never runs."""
        return self.low is not None and self.high is not None and self.low > self.high

    @property
    def number(self) -> int | None:
        """The only value, where there is but one."""
        return self.low if self.low is not None and self.low == self.high else None

    @property
    def is_natural(self) -> bool:
        """Whether no value is below 0."""
        return self.is_empty or (self.low is not None and self.low >= 0)

    @property
    def is_bounded(self) -> bool:
        """Whether both ends are known."""
        return self.low is not None and self.high is not None

    @property
    def size(self) -> int | None:
        """How many integers lie between the ends, these included."""
        return None if self.low is None or self.high is None else self.high - self.low + 1

    def __contains__(self, number: int) -> bool:
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            return False
        return number % self.divisor == 0 if self.divisor else number == 0

    def covers(self, other: ValueRange) -> bool:
        """Whether every value of another range is between the ends of this one."""
        if other.is_empty:
            return True
        return self._least <= other._least and other._most <= self._most

    def fits(self, bits: int, signed: bool = True) -> bool:
        """Whether an integer type holds every value."""
        return ValueRange.of_bits(bits, signed).covers(self)

    def wraps(self, bits: int, signed: bool = True) -> bool:
        """Whether some value may not fit an integer type."""
        return not self.fits(bits, signed)

    # Sets.

    def union(self, other: ValueRange) -> ValueRange:
        """The smallest range that holds both."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        ends = min(self._least, other._least), max(self._most, other._most)
        return _between(*ends, math.gcd(self.divisor, other.divisor))

    def intersection(self, other: ValueRange) -> ValueRange:
        """The values that are in both."""
        ends = max(self._least, other._least), min(self._most, other._most)
        return _between(*ends, math.lcm(self.divisor, other.divisor))

    # Transfer functions.

    def __neg__(self) -> ValueRange:
        return EMPTY if self.is_empty else _between(-self._most, -self._least, self.divisor)

    def __add__(self, other: ValueRange) -> ValueRange:
        if self.is_empty or other.is_empty:
            return EMPTY
        divisor = math.gcd(self.divisor, other.divisor)
        return _between(self._least + other._least, self._most + other._most, divisor)

    def __sub__(self, other: ValueRange) -> ValueRange:
        return self + -other

    def __mul__(self, other: ValueRange) -> ValueRange:
        if self.is_empty or other.is_empty:
            return EMPTY
        corners = [0 if 0 in (a, b) else a * b for a in self._ends for b in other._ends]
        return _hull(corners, self.divisor * other.divisor)

    def times(self, factor: int) -> ValueRange:
        """The product with a number."""
        if self.is_empty or factor == 0:
            return EMPTY if self.is_empty else ValueRange.exactly(0)
        ends = (self._least * factor, self._most * factor)
        return _between(min(ends), max(ends), self.divisor * factor)

    def __floordiv__(self, other: ValueRange) -> ValueRange:
        if self.is_empty or other.is_empty:
            return EMPTY
        by = other.number
        divisor = self.divisor // by if by and self.divisor % by == 0 else 1
        corners = [_floor(a, b) for part in other._signs() for a in self._ends for b in part._ends]
        return _hull([*corners, *([0] if 0 in other else [])], divisor)

    def __mod__(self, other: ValueRange) -> ValueRange:
        if self.is_empty or other.is_empty:
            return EMPTY
        by = other.number
        if by and self.low is not None and self.high is not None and self.low // by == self.high // by:
            return self + ValueRange.exactly(-(self.low // by) * by)
        return _between(*self._rest(other), math.gcd(self.divisor, other.divisor))

    def _rest(self, other: ValueRange) -> tuple[float, float]:
        """The ends of a remainder: it has the divisor's sign, and is no larger than a number of that sign."""
        low, high = min(0, other._least + 1), max(0, other._most - 1)
        if self._least >= 0 <= other._least:
            high = min(high, self._most)
        if self._most <= 0 >= other._most:
            low = max(low, self._least)
        return low, high

    def truncdiv(self, other: ValueRange) -> ValueRange:
        """The quotient rounded towards 0."""
        if self.is_empty or other.is_empty:
            return EMPTY
        by = other.number
        divisor = self.divisor // by if by and self.divisor % by == 0 else 1
        corners = [_truncated(a, b) for part in other._signs() for a in self._ends for b in part._ends]
        return _hull([*corners, *([0] if 0 in other or 0 in self else [])], divisor)

    def rem(self, other: ValueRange) -> ValueRange:
        """The remainder with the dividend's sign."""
        if self.is_empty or other.is_empty:
            return EMPTY
        most = max(0, abs(other)._most - 1)
        low, high = max(min(0, self._least), -most), min(max(0, self._most), most)
        return _between(low, high, math.gcd(self.divisor, other.divisor))

    def __abs__(self) -> ValueRange:
        above, below = self.intersection(ValueRange(0, None)), -self.intersection(ValueRange(None, 0))
        return above.union(below)

    def minimum(self, other: ValueRange) -> ValueRange:
        """The smaller of two numbers."""
        return -(-self).maximum(-other)

    def maximum(self, other: ValueRange) -> ValueRange:
        """The larger of two numbers."""
        if self.is_empty or other.is_empty:
            return EMPTY
        if self._least >= other._most or other._least >= self._most:
            return self if self._least >= other._most else other
        ends = max(self._least, other._least), max(self._most, other._most)
        return _between(*ends, math.gcd(self.divisor, other.divisor))

    def bitand(self, other: ValueRange) -> ValueRange:
        """Both numbers' common bits: no more than a number that is not negative has."""
        if self.is_empty or other.is_empty:
            return EMPTY
        most = [one._most for one in (self, other) if one._least >= 0]
        divisor = max(_low_bit(self.divisor), _low_bit(other.divisor)) if self.divisor and other.divisor else 0
        return _between(0 if most else -_INF, min(most, default=_INF), divisor)

    def bitor(self, other: ValueRange) -> ValueRange:
        """The bits of either number; of numbers below 0 nothing is known."""
        if self.is_empty or other.is_empty:
            return EMPTY
        if self._least < 0 or other._least < 0:
            return ValueRange()
        divisor = _low_bit(math.gcd(self.divisor, other.divisor))
        return _between(max(self._least, other._least), _all_bits(max(self._most, other._most)), divisor)

    def bitxor(self, other: ValueRange) -> ValueRange:
        """The bits that differ; of numbers below 0 nothing is known."""
        either = self.bitor(other)
        if either.is_empty or either._least < 0:
            return either
        return _between(0, either._most, _low_bit(math.gcd(self.divisor, other.divisor)))

    def wrapped(self, bits: int, signed: bool = True) -> ValueRange:
        """What an integer type holds after it cut off what does not fit."""
        if self.fits(bits, signed):
            return self
        held = ValueRange.of_bits(bits, signed)
        return _between(held._least, held._most, math.gcd(self.divisor, 1 << bits))

    def __str__(self) -> str:
        if self.is_empty:
            return "nothing"
        low, high = ("..." if end is None else str(end) for end in (self.low, self.high))
        return f"{low} to {high}" + (f" by {self.divisor}" if self.divisor > 1 and self.number is None else "")

    @property
    def _least(self) -> float:
        return -_INF if self.low is None else self.low

    @property
    def _most(self) -> float:
        return _INF if self.high is None else self.high

    @property
    def _ends(self) -> tuple[float, float]:
        return self._least, self._most

    def _signs(self) -> Iterable[ValueRange]:
        """The values above 0 and those below it."""
        parts = (self.intersection(ValueRange(1, None)), self.intersection(ValueRange(None, -1)))
        return [part for part in parts if not part.is_empty]


def _normal(low: int | None, high: int | None, divisor: int) -> tuple[int | None, int | None, int]:
    """The ends at multiples of the divisor; one number's divisor is itself."""
    if divisor == 0:
        return (0, 0, 0) if (low or 0) <= 0 <= (high or 0) else (0, -1, 0)
    low = None if low is None else -(-low // divisor) * divisor
    high = None if high is None else high // divisor * divisor
    if low is None or high is None or low < high:
        return low, high, divisor
    return (0, -1, 0) if low > high else (low, high, abs(low))


def _between(low: float, high: float, divisor: int = 1) -> ValueRange:
    """A range from ends that may be infinite."""
    if low > high:
        return EMPTY
    return ValueRange(None if low == -_INF else int(low), None if high == _INF else int(high), divisor)


def _hull(numbers: list[float], divisor: int) -> ValueRange:
    return _between(min(numbers), max(numbers), divisor) if numbers else EMPTY


def _floor(a: float, b: float) -> float:
    """The quotient rounded down, of ends of ranges; by 0 never."""
    if abs(b) == _INF:
        return 0 if abs(a) == _INF or a == 0 or (a > 0) == (b > 0) else -1
    return a * (1 if b > 0 else -1) if abs(a) == _INF else a // b


def _truncated(a: float, b: float) -> float:
    if abs(b) == _INF:
        return 0
    if abs(a) == _INF:
        return a * (1 if b > 0 else -1)
    return abs(a) // abs(b) * (1 if (a > 0) == (b > 0) else -1)


def _low_bit(number: int) -> int:
    """The largest power of two that divides a number."""
    return number & -number


def _all_bits(number: float) -> float:
    return number if number == _INF else (1 << int(number).bit_length()) - 1


#: No value at all.
EMPTY = ValueRange(0, -1)
#: Any integer.
ANY = ValueRange()
