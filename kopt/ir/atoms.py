"""The atoms of index expressions: what a sum counts that is no sum itself.

| atom | means |
|---|---|
| `Symbol` | a number that keeps its name: an SSA value, an argument; a tile of them along ``dims`` of the block |
| `BlockNumber` | the number of a loop's block: what ``size`` is multiplied by to reach the block's begin |
| `Lane` | the lane number along one dimension of the block |
| `Element` | a lane of a tile that keeps its name, by expressions; maybe loaded, by an index |
| `Extremum` | the least or the largest of some expressions |
| `Select` | one of two expressions, by a condition |
| `Wrap` | what an integer type holds of an expression that may not fit it |

Quotients and remainders are in `kopt.ir.division`. Names are opaque: anything that can be hashed. Each atom knows its
`ValueRange`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kopt.cached_property import cached_property
from kopt.ir.polynomial import Coefficient, quotient, range_of
from kopt.ir.value_range import ANY, EMPTY, ValueRange

if TYPE_CHECKING:
    from kopt.ir.condition import Condition
    from kopt.ir.index_expr import IndexExpr

Dims = frozenset[int]
_NOWHERE: Dims = frozenset()


class Atom:
    """Base of the atoms."""

    dims: object
    range: ValueRange
    #: Whether a sum may have it in two parts, which `joined` puts together.
    divides: ClassVar[bool] = False

    @property
    def along(self) -> Dims:
        """The dimensions of the block that it differs along."""
        return _NOWHERE

    @property
    def parts(self) -> tuple[IndexExpr, ...]:
        """The expressions that it is made of."""
        return ()

    @property
    def weight(self) -> int:
        """How many atoms it is made of, itself included."""
        return 1 + sum(part.weight for part in self.parts)

    def scaled(self, factor: Coefficient) -> ValueRange:
        """What its product with a coefficient may be."""
        return self.range.times(factor) if isinstance(factor, int) else self.range * range_of(factor)

    @property
    def open_end(self) -> Coefficient | None:
        """The largest value of what counts from 0 on, where block sizes say which that is."""
        return None

    def joined(self, expr: IndexExpr) -> IndexExpr | None:
        """A sum that has it, with its other part put to it; None where the sum gets no simpler."""
        return None


@dataclass(frozen=True)
class Symbol(Atom):
    """A number that keeps its name. Of a tile, one for each lane along ``dims`` of the block."""

    name: Hashable
    dims: tuple[int, ...] = ()
    range: ValueRange = ANY

    @property
    def along(self) -> Dims:
        return frozenset(self.dims)

    def __str__(self) -> str:
        return f"{_text(self.name)}" + (f"[{', '.join(map(str, self.dims))}]" if self.dims else "")


@dataclass(frozen=True)
class BlockNumber(Atom):
    """The number of a block of ``size`` elements; ``reach`` is what ``size`` times it may be, whatever the size is."""

    name: Hashable
    size: Coefficient
    reach: ValueRange

    @cached_property
    def range(self) -> ValueRange:
        """The numbers of blocks."""
        return self._reach // range_of(self.size)

    @cached_property
    def _reach(self) -> ValueRange:
        return self.reach.intersection(ValueRange(divisor=self.size)) if isinstance(self.size, int) else self.reach

    def scaled(self, factor: Coefficient) -> ValueRange:
        by = quotient(factor, self.size) if self.size != 1 else None
        return super().scaled(factor) if by is None else self._reach * range_of(by)

    def __str__(self) -> str:
        return f"block({_text(self.name)})"


@dataclass(frozen=True)
class Lane(Atom):
    """The lane number along dimension ``dim`` of the block, which has ``size`` lanes there."""

    dim: int
    size: Coefficient

    @property
    def along(self) -> Dims:
        return frozenset((self.dim,))

    @cached_property
    def range(self) -> ValueRange:
        """From 0 to below the size."""
        most = range_of(self.size).high
        return ValueRange(0, None if most is None else most - 1)

    @property
    def open_end(self) -> Coefficient | None:
        return None if isinstance(self.size, int) else self.size - 1

    def __str__(self) -> str:
        return f"lane({self.dim}: {self.size})"


class Computed(Atom):
    """Base of the atoms that are made of expressions."""

    @cached_property
    def along(self) -> Dims:
        return frozenset[int]().union(*(part.along for part in self.parts))

    @cached_property
    def weight(self) -> int:
        return super().weight


@dataclass(frozen=True, eq=False)
class Element(Computed):
    """The lane ``lanes`` of a tile that keeps its name, one expression for each of the tile's dimensions.

    Of a tile that is loaded ``by`` an index list, that list at these lanes: equal lists, equal numbers.
    `kopt.ir.rewriting.element` makes them.
    """

    name: Hashable
    lanes: tuple[IndexExpr, ...]
    range: ValueRange = ANY
    by: tuple[IndexExpr, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Element) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[Hashable, bool, tuple[IndexExpr, ...]]:
        return self.name, bool(self.by), self.parts

    @property
    def parts(self) -> tuple[IndexExpr, ...]:
        return self.by or self.lanes

    def __str__(self) -> str:
        return f"{_text(self.name)}[{', '.join(map(str, self.parts))}]"


@dataclass(frozen=True, eq=False)
class Extremum(Computed):
    """The least or the ``largest`` of some expressions, in any order."""

    largest: bool
    operands: tuple[IndexExpr, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Extremum) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[bool, frozenset[IndexExpr]]:
        return self.largest, frozenset(self.operands)

    @property
    def parts(self) -> tuple[IndexExpr, ...]:
        return self.operands

    @cached_property
    def range(self) -> ValueRange:
        """What the extremum may be."""
        return self.of(tuple(operand.range for operand in self.operands), self.largest)

    @staticmethod
    def of(ranges: tuple[ValueRange, ...], largest: bool) -> ValueRange:
        """What the extremum of numbers in some ranges may be."""
        total, *others = ranges
        for one in others:
            total = total.maximum(one) if largest else total.minimum(one)
        return total

    def __str__(self) -> str:
        return f"{'max' if self.largest else 'min'}({', '.join(sorted(map(str, self.operands)))})"


@dataclass(frozen=True)
class Select(Computed):
    """``then`` where a condition holds, ``otherwise`` elsewhere."""

    condition: Condition
    then: IndexExpr
    otherwise: IndexExpr

    @property
    def parts(self) -> tuple[IndexExpr, ...]:
        return *self.condition.parts, self.then, self.otherwise

    @cached_property
    def along(self) -> Dims:
        return self.condition.along | self.then.along | self.otherwise.along

    @cached_property
    def range(self) -> ValueRange:
        """What either arm may be where it is taken."""
        return self.chosen(self.then, self.otherwise)

    def chosen(self, then: IndexExpr, otherwise: IndexExpr) -> ValueRange:
        """What either of two expressions may be where the condition holds, and where it does not."""
        return self.condition.range_of(then).union(self.condition.negated().range_of(otherwise))

    def __str__(self) -> str:
        return f"({self.condition} ? {self.then} : {self.otherwise})"


@dataclass(frozen=True)
class Wrap(Computed):
    """What an integer type of ``bits`` holds of an expression."""

    bits: int
    signed: bool
    inner: IndexExpr

    @property
    def parts(self) -> tuple[IndexExpr, ...]:
        return (self.inner,)

    @cached_property
    def range(self) -> ValueRange:
        """What the type holds of it."""
        return EMPTY if self.inner.range.is_empty else self.inner.range.wrapped(self.bits, self.signed)

    def __str__(self) -> str:
        return f"{'i' if self.signed else 'u'}{self.bits}({self.inner})"


def _text(name: Hashable) -> str:
    return str(getattr(name, "name_hint", None) or name)
