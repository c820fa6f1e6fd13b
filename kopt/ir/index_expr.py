"""Index expressions: ``constant + Σ coefficient · atom``, exactly, over the dimensions of a block.

One normal form for index arithmetic of every kind (see `kopt.ir.atoms`): sums are merged, so equal terms cancel;
quotients and remainders (`kopt.ir.division`) are taken apart as far as ranges allow. Coefficients may be polynomials in
block sizes: one form serves every candidate size. Equal forms mean equal numbers; equal numbers may have different
forms.

    i = block_number("i", size, ValueRange(0, 999)) * size + lane(0, size)      # tile.index of a range
    floordiv(i * 8 + lane(1, 8), 8) == i
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

from kopt.cached_property import cached_property
from kopt.ir.atoms import Atom, BlockNumber, Dims, Extremum, Lane, Select, Symbol
from kopt.ir.polynomial import Coefficient, content, range_of, sign
from kopt.ir.value_range import ANY, ValueRange

#: More choices than this are not tried one by one when a sum's range is asked for.
_CHOICES = 3


@dataclass(frozen=True, eq=False)
class IndexExpr:
    """``const`` plus the ``terms``, none with coefficient 0, in order of appearance. Immutable."""

    const: Coefficient = 0
    terms: Mapping[Atom, Coefficient] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, IndexExpr) and self.const == other.const and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.const, frozenset(self.terms.items())))

    # What is known of it.

    @property
    def number(self) -> int | None:
        """The number that it is, where that is known now."""
        return self.const if not self.terms and isinstance(self.const, int) else None

    @property
    def is_constant(self) -> bool:
        """Whether nothing but block sizes changes it."""
        return not self.terms

    @property
    def atom(self) -> Atom | None:
        """The atom that it is, where it is no more than that."""
        if self.const == 0 and len(self.terms) == 1:
            ((atom, factor),) = self.terms.items()
            return atom if factor == 1 else None
        return None

    @property
    def is_affine(self) -> bool:
        """Whether it is a sum of numbers of blocks and lanes: of nothing loaded, no quotient, no choice."""
        return all(isinstance(atom, BlockNumber | Lane) for atom in self.terms)

    def counts(self, name: Hashable) -> bool:
        """Whether it is a sum in which the number of a range's block stands."""
        return any(isinstance(atom, BlockNumber) and atom.name is name for atom in self.terms)

    @cached_property
    def along(self) -> Dims:
        """The dimensions of the block that it differs along."""
        return frozenset[int]().union(*(atom.along for atom in self.terms))

    @cached_property
    def weight(self) -> int:
        """How many atoms it is made of."""
        return 1 + sum(atom.weight for atom in self.terms)

    @property
    def divisor(self) -> int:
        """The largest number known to divide it; 0 where it is 0."""
        return self.range.divisor

    @cached_property
    def range(self) -> ValueRange:
        """What it may be. A choice beside other terms is also made for them all: ``min(a + 8, n) - a`` is at most 8."""
        total = range_of(self.const)
        for atom, factor in self.terms.items():
            total = total + atom.scaled(factor)
        if any(atom.open_end is not None for atom in self.terms):
            total = total.intersection(self._between_ends())
        choices = [atom for atom in self.terms if isinstance(atom, Extremum | Select)]
        if len(self.terms) == 1 or not 0 < len(choices) <= _CHOICES:
            return total
        return total.intersection(self._chosen(choices[0]))

    def _between_ends(self) -> ValueRange:
        """What numbers with open ends leave: ``size - 1 - lane`` is never below 0, whatever the size is."""
        ends = {atom: end for atom in self.terms if (end := atom.open_end) is not None}
        low = high = IndexExpr(self.const, {atom: factor for atom, factor in self.terms.items() if atom not in ends})
        for atom, end in ends.items():
            up, most = sign(self.terms[atom]), end * self.terms[atom]
            if up == 0:
                return ANY
            low, high = (low, high + most) if up > 0 else (low + most, high)
        return ValueRange(low.range.low, high.range.high)

    def _chosen(self, choice: Extremum | Select) -> ValueRange:
        factor = self.terms[choice]
        if not isinstance(factor, int):
            return ANY
        rest = self - IndexExpr(0, {choice: factor})
        if isinstance(choice, Select):
            return choice.chosen(rest + choice.then * factor, rest + choice.otherwise * factor)
        ranges = tuple((rest + operand * factor).range for operand in choice.operands)
        return Extremum.of(ranges, choice.largest == (factor > 0))

    def coefficient(self, atom: Atom) -> Coefficient:
        """What an atom of the sum is multiplied by; 0 for others."""
        return self.terms.get(atom, 0)

    def atoms(self) -> Iterator[Atom]:
        """All atoms, those inside of others too, each as often as it stands there."""
        todo = list(self.terms)
        while todo:
            yield (atom := todo.pop())
            todo += [inner for part in atom.parts for inner in part.terms]

    # Arithmetic.

    def __add__(self, other: IndexExpr | Coefficient) -> IndexExpr:
        if not isinstance(other, IndexExpr):
            return self if other == 0 else IndexExpr(self.const + other, self.terms)
        if not other.terms and other.const == 0:
            return self
        if not other.terms or not self.terms:
            return IndexExpr(self.const + other.const, self.terms or other.terms)
        terms = dict(self.terms)
        for atom, factor in other.terms.items():
            total = terms.get(atom, 0) + factor
            if total == 0:
                del terms[atom]
            else:
                terms[atom] = total
        result = IndexExpr(self.const + other.const, terms)
        return recombined(result) if self._divides or other._divides else result

    def __mul__(self, factor: Coefficient) -> IndexExpr:
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return IndexExpr(self.const * factor, {atom: own * factor for atom, own in self.terms.items()})

    def __neg__(self) -> IndexExpr:
        return self * -1

    def __sub__(self, other: IndexExpr | Coefficient) -> IndexExpr:
        return self + -other

    def __rsub__(self, other: Coefficient) -> IndexExpr:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    @cached_property
    def _divides(self) -> bool:
        return any(atom.divides for atom in self.terms)

    def __str__(self) -> str:
        parts = [f"{atom}" if factor == 1 else f"{_factor(factor)}·{atom}" for atom, factor in self.terms.items()]
        parts = sorted(parts) + ([str(self.const)] if self.const != 0 or not parts else [])
        return " + ".join(parts)


ZERO = IndexExpr()


def number(value: Coefficient) -> IndexExpr:
    """A number, or one that block sizes make."""
    return IndexExpr(value)


def of_atom(atom: Atom) -> IndexExpr:
    """An atom by itself, or the number that it must be."""
    known = atom.range.number
    return IndexExpr(0, {atom: 1}) if known is None else IndexExpr(known)


def symbol(name: Hashable, dims: Sequence[int] = (), range: ValueRange = ANY) -> IndexExpr:
    """A number that keeps its name; of a tile, one for each lane along ``dims``."""
    return of_atom(Symbol(name, tuple(dims), range))


def lane(dim: int, size: Coefficient) -> IndexExpr:
    """The lane number along a dimension of ``size`` lanes."""
    return of_atom(Lane(dim, size))


def block_number(name: Hashable, size: Coefficient, reach: ValueRange) -> IndexExpr:
    """The number of a block of ``size``; ``reach`` is what its begin may be beyond the loop's lower bound."""
    return of_atom(BlockNumber(name, size, reach))


def factors(expr: IndexExpr) -> int:
    """The largest number that divides every coefficient of a sum, whatever its atoms are; 0 where it has none."""
    return gcd(*(content(factor) for factor in expr.terms.values()))


def _factor(factor: Coefficient) -> str:
    return str(factor) if isinstance(factor, int) else f"({factor})"


def recombined(expr: IndexExpr) -> IndexExpr:
    """A sum with quotients and remainders of the same number put together."""
    for atom in expr.terms if len(expr.terms) > 1 else ():
        if atom.divides and (found := atom.joined(expr)) is not None:
            return found
    return expr
