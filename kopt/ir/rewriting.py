"""Substitution in index expressions and conditions, of atoms and of sizes. What comes of it is simplified again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from kopt.ir.atoms import Atom, BlockNumber, Dims, Element, Extremum, Lane, Select, Symbol, Wrap
from kopt.ir.choices import maximum, minimum, select, wrap
from kopt.ir.condition import Comparison, Condition, Junction, Named, comparison, conjunction, disjunction
from kopt.ir.division import FloorDiv, Mod, floordiv, mod
from kopt.ir.index_expr import ZERO, IndexExpr, of_atom, symbol
from kopt.ir.polynomial import Coefficient, substituted
from kopt.ir.value_range import ANY, ValueRange


class NotPlaced(Exception):
    """A name stands along a dimension whose lanes became something else."""


class Rewriting:
    """One substitution. ``replace`` gives the expression for an atom, or None to look inside; ``sizes`` is by name."""

    def __init__(
        self,
        replace: Callable[[Atom], IndexExpr | None],
        sizes: Mapping[Hashable, Coefficient] | None = None,
        rename: Callable[[Named], Condition] | None = None,
    ):
        self._replace = replace
        self._sizes = sizes or {}
        self._rename = rename
        self._known: dict[Atom, IndexExpr] = {}

    def expr(self, expr: IndexExpr) -> IndexExpr:
        """An expression after it."""
        total = IndexExpr(self._size(expr.const))
        for atom, factor in expr.terms.items():
            if atom not in self._known:
                self._known[atom] = self._atom(atom)
            total = total + self._known[atom] * self._size(factor)
        return total

    def condition(self, condition: Condition) -> Condition:
        """A condition after it."""
        if isinstance(condition, Comparison):
            return comparison(condition.relation, self.expr(condition.expr))
        if isinstance(condition, Junction):
            parts = [self.condition(part) for part in condition.conditions]
            return conjunction(parts) if condition.every else disjunction(parts)
        return self._rename(condition) if self._rename is not None and isinstance(condition, Named) else condition

    def _size(self, value: Coefficient) -> Coefficient:
        return value if isinstance(value, int) else substituted(value, self._sizes)

    def _atom(self, atom: Atom) -> IndexExpr:
        if (found := self._replace(atom)) is not None:
            return found
        if isinstance(atom, FloorDiv):
            return floordiv(self.expr(atom.dividend), self.expr(atom.divisor))
        if isinstance(atom, Mod):
            return mod(self.expr(atom.dividend), self.expr(atom.divisor))
        if isinstance(atom, Extremum):
            return (maximum if atom.largest else minimum)(*map(self.expr, atom.operands))
        if isinstance(atom, Select):
            return select(self.condition(atom.condition), self.expr(atom.then), self.expr(atom.otherwise))
        if isinstance(atom, Wrap):
            return wrap(atom.bits, self.expr(atom.inner), atom.signed)
        if isinstance(atom, Element):
            return element(atom.name, [*map(self.expr, atom.lanes)], atom.range, [*map(self.expr, atom.by)])
        if isinstance(atom, BlockNumber | Lane):
            return of_atom(replace(atom, size=self._size(atom.size)))
        return of_atom(atom)


def substitute(
    expr: IndexExpr,
    atoms: Mapping[Atom, IndexExpr] | None = None,
    sizes: Mapping[Hashable, Coefficient] | None = None,
) -> IndexExpr:
    """An expression with others for ``atoms``, and coefficients for the block ``sizes`` of some names."""
    return Rewriting((atoms or {}).get, sizes or {}).expr(expr)


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
    return Rewriting(lambda atom: ZERO if isinstance(atom, Lane) and atom.dim not in along else None).expr(expr)


def moved(places: Mapping[int, int]) -> Rewriting:
    """The same block with its dimensions at other places; those that are not named have one lane."""

    def move(atom: Atom) -> IndexExpr | None:
        if isinstance(atom, Lane):
            return of_atom(Lane(places[atom.dim], atom.size))
        if isinstance(atom, Symbol) and atom.dims:
            return of_atom(replace(atom, dims=tuple(places[dim] for dim in atom.dims)))
        return None

    return Rewriting(move, rename=lambda name: replace(name, dims=tuple(places[dim] for dim in name.dims)))


def at_lanes(lanes: Mapping[int, IndexExpr]) -> Rewriting:
    """The block that has lane ``lanes[dim]`` of each dimension. Raises `NotPlaced` where a condition's name cannot
    follow."""

    def place(dim: int) -> int:
        found = lanes[dim].atom
        if not isinstance(found, Lane):
            raise NotPlaced
        return found.dim

    def move(atom: Atom) -> IndexExpr | None:
        if isinstance(atom, Lane):
            return lanes[atom.dim]
        if isinstance(atom, Symbol) and atom.dims:
            return element(atom.name, [lanes[dim] for dim in atom.dims], atom.range)
        return None

    return Rewriting(move, rename=lambda name: replace(name, dims=tuple(map(place, name.dims))))
