"""Index expressions: ``constant + Σ coefficient · atom``, exactly, over the dimensions of a block.

One normal form for index arithmetic of every kind (see `kopt.ir.atoms`): sums are merged, so equal terms cancel;
quotients and remainders are taken apart as far as ranges allow. Coefficients may be polynomials in block sizes: one
form serves every candidate size. Equal forms mean equal numbers; equal numbers may have different forms.

    i = block_number("i", size, ValueRange(0, 999)) * size + lane(0, size)      # tile.index of a range
    (i * 8 + lane(1, 8)) // 8 == i
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kopt.ir.atoms import Atom, BlockNumber, Dims, Element, Extremum, FloorDiv, Lane, Mod, Select, Symbol
from kopt.ir.polynomial import Coefficient, content, range_of
from kopt.ir.value_range import ANY, ValueRange

if TYPE_CHECKING:
    from kopt.ir.runs import Run

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
        if any(_open_end(atom) is not None for atom in self.terms):
            total = total.intersection(self._between_ends())
        choices = [atom for atom in self.terms if isinstance(atom, Extremum | Select)]
        if len(self.terms) == 1 or not 0 < len(choices) <= _CHOICES:
            return total
        return total.intersection(self._chosen(choices[0]))

    def _between_ends(self) -> ValueRange:
        """What numbers with open ends leave: ``size - 1 - lane`` is never below 0, whatever the size is."""
        ends = {atom: end for atom in self.terms if (end := _open_end(atom)) is not None}
        low = high = IndexExpr(self.const, {atom: factor for atom, factor in self.terms.items() if atom not in ends})
        for atom, end in ends.items():
            sign, most = _sign(self.terms[atom]), end * self.terms[atom]
            if sign == 0:
                return ANY
            low, high = (low, high + most) if sign > 0 else (low + most, high)
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

    def direction(self, atom: Atom) -> int | None:
        """1 where it never falls as an atom grows, -1 where it never rises, 0 where neither; None where not known."""
        signs = {sign for sign in self._directions(atom) if sign != 0}
        return None if None in signs or len(signs) > 1 else signs.pop() if signs else 0

    def _directions(self, atom: Atom) -> Iterator[int | None]:
        for own, factor in self.terms.items():
            inner = 1 if own == atom else _direction_inside(own, atom)
            yield inner * _sign(factor) or None if inner else inner

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
        return _recombined(result) if self._divides or other._divides else result

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

    def __floordiv__(self, divisor: IndexExpr | Coefficient) -> IndexExpr:
        from kopt.ir.division import floordiv

        return floordiv(self, divisor if isinstance(divisor, IndexExpr) else IndexExpr(divisor))

    def __mod__(self, divisor: IndexExpr | Coefficient) -> IndexExpr:
        from kopt.ir.division import mod

        return mod(self, divisor if isinstance(divisor, IndexExpr) else IndexExpr(divisor))

    @cached_property
    def _divides(self) -> bool:
        return any(isinstance(atom, FloorDiv | Mod) for atom in self.terms)

    # Other forms.

    def substitute(
        self, atoms: Mapping[Atom, IndexExpr] | None = None, sizes: Mapping[Hashable, Coefficient] | None = None
    ) -> IndexExpr:
        """With expressions for ``atoms``, and coefficients for the block ``sizes`` of some names."""
        from kopt.ir.rewriting import Rewriting

        return Rewriting((atoms or {}).get, sizes or {}).expr(self)

    def evaluate(self, arrays: Mapping[Hashable, Any], shape: Sequence[int] = ()) -> Any:
        """The numbers, as NumPy has them, for a block of ``shape``; ``arrays`` holds what names stand for."""
        from kopt.ir.evaluation import Evaluation

        return Evaluation(arrays, shape).expr(self)

    def delinearize(self, shape: Sequence[Coefficient]) -> tuple[IndexExpr, ...]:
        """As the element numbers in a row-major array of ``shape``; what is too large goes to the first."""
        from kopt.ir.division import delinearized

        return delinearized(self, shape)

    def peel_contiguous(self) -> Run:
        """As the first element and the length of what lanes count one by one."""
        from kopt.ir.runs import contiguous

        return contiguous(self)

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


def element(
    name: Hashable, lanes: Sequence[IndexExpr], range: ValueRange = ANY, by: Sequence[IndexExpr] = ()
) -> IndexExpr:
    """A lane of a tile that keeps its name; of one that is loaded ``by`` an index list, any lane with that list.

    At a lane number of the block along each dimension it is a `Symbol`.
    """
    if by:
        along = frozenset[int]().union(*(part.along for part in by))
        lanes = [_at_first_lanes(one, along) for one in lanes]
    places = [atom.dim for one in lanes if isinstance(atom := one.atom, Lane)]
    if not by and len({*places}) == len(lanes):
        return symbol(name, places, range)
    return of_atom(Element(name, tuple(lanes), range, tuple(by)))


def _at_first_lanes(expr: IndexExpr, along: Dims) -> IndexExpr:
    """An expression at the first lane of all dimensions but some."""
    if expr.along <= along:
        return expr
    from kopt.ir.rewriting import Rewriting

    return Rewriting(lambda atom: ZERO if isinstance(atom, Lane) and atom.dim not in along else None).expr(expr)


def lane(dim: int, size: Coefficient) -> IndexExpr:
    """The lane number along a dimension of ``size`` lanes."""
    return of_atom(Lane(dim, size))


def block_number(name: Hashable, size: Coefficient, reach: ValueRange) -> IndexExpr:
    """The number of a block of ``size``; ``reach`` is what its begin may be beyond the loop's lower bound."""
    return of_atom(BlockNumber(name, size, reach))


def factors(expr: IndexExpr) -> int:
    """The largest number that divides every coefficient of a sum, whatever its atoms are; 0 where it has none."""
    from math import gcd

    return gcd(*(content(factor) for factor in expr.terms.values()))


def _factor(factor: Coefficient) -> str:
    return str(factor) if isinstance(factor, int) else f"({factor})"


def _open_end(atom: Atom) -> Coefficient | None:
    """The largest value of a lane number or a remainder, from 0 on, where block sizes say which that is."""
    if isinstance(atom, Lane):
        return None if isinstance(atom.size, int) else atom.size - 1
    if not isinstance(atom, Mod) or not atom.divisor.is_constant or isinstance(atom.divisor.const, int):
        return None
    return atom.divisor.const - 1 if _sign(atom.divisor.const) > 0 else None


def _sign(factor: Coefficient) -> int:
    """1 for a factor that is above 0, -1 for one below, 0 where that is not known."""
    known = range_of(factor)
    if known.low is not None and known.low > 0:
        return 1
    return -1 if known.high is not None and known.high < 0 else 0


def _direction_inside(own: Atom, atom: Atom) -> int | None:
    if isinstance(own, FloorDiv) and atom not in own.divisor.atoms():
        least = own.divisor.range.low
        inner = own.dividend.direction(atom)
        return inner if inner == 0 or (least is not None and least > 0) else None
    if isinstance(own, Extremum):
        signs = {operand.direction(atom) for operand in own.operands} - {0}
        return signs.pop() if len(signs) == 1 else None if signs else 0
    return None if any(inner == atom for part in own.parts for inner in part.atoms()) else 0


def _recombined(expr: IndexExpr) -> IndexExpr:
    from kopt.ir.division import recombined

    return recombined(expr)
