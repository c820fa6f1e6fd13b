"""Contiguous runs: what the lanes of a block count one by one, from some first element on.

Of ``start + 64·row + lane`` with 64 lanes in 4 rows all 256 are one run; with rows 100 apart, each row is one. Lanes
that go in groups, ``(i // 4)·8 + j % 8``, are a run a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, prod

from kopt.ir.atoms import Atom, Lane, Select, Symbol, Wrap
from kopt.ir.condition import Condition, Named
from kopt.ir.division import FloorDiv, Mod, floordiv, mod
from kopt.ir.factoring import taken_out
from kopt.ir.index_expr import ZERO, IndexExpr, lane, of_atom
from kopt.ir.polynomial import Coefficient, content
from kopt.ir.rewriting import NotPlaced, Rewriting

#: The dimension that the lanes of a group stand along while they are looked at.
_INSIDE = -1


@dataclass(frozen=True)
class Peeled:
    """The ``lanes`` of one dimension, which count in groups of ``size``: downwards where ``backward``."""

    dim: int
    lanes: Coefficient
    size: Coefficient
    backward: bool

    @property
    def is_whole(self) -> bool:
        """Whether all lanes are one group."""
        return self.size == self.lanes


@dataclass(frozen=True)
class ElementRun:
    """Elements from ``start`` on. ``dims`` count them, the innermost first.

    Dimensions that are peeled whole are gone from ``start``; one that is peeled in groups has one lane a group there.
    """

    start: IndexExpr
    dims: tuple[Peeled, ...] = ()

    @property
    def length(self) -> Coefficient:
        """How many elements follow one another."""
        return prod((peeled.size for peeled in self.dims), start=1)

    def expr(self) -> IndexExpr:
        """The expression that it was peeled from."""
        total, pitch, groups = ZERO, 1, {}
        for peeled in self.dims:
            counted = lane(peeled.dim, peeled.lanes)
            if not peeled.is_whole:
                groups[peeled.dim] = floordiv(counted, peeled.size)
                counted = mod(counted, peeled.size)
            total = total + (peeled.size - 1 - counted if peeled.backward else counted) * pitch
            pitch = pitch * peeled.size
        grouped = Rewriting(lambda atom: groups.get(atom.dim) if isinstance(atom, Lane) else None)
        return grouped.expr(self.start) + total


def contiguous(expr: IndexExpr) -> ElementRun:
    """The longest run of an expression's lanes that is found: of whole dimensions, then of groups of one more."""
    run = ElementRun(expr)
    while not run.dims or run.dims[-1].is_whole:
        found = _longer(run)
        if found is None:
            break
        run = found
    return run


def repeated(expr: IndexExpr, one: Lane) -> Coefficient:
    """How many lanes of a dimension, in groups from the first one on, an expression is the same in: 1 where it is not.

    ``numbers[i // 4]`` of 16 lanes is the same in groups of 4.
    """
    if one.dim not in expr.along:
        return one.size
    if one in expr.terms or any(isinstance(atom, Symbol) and one.dim in atom.dims for atom in expr.atoms()):
        return 1
    return next((size for size in _sizes(expr, one) if _is_alike(_grouped(expr, one, size))), 1)


def _is_alike(grouped: IndexExpr | None) -> bool:
    """Whether the lanes inside of a group are no matter."""
    return grouped is not None and _INSIDE not in grouped.along


def _longer(run: ElementRun) -> ElementRun | None:
    pitch = run.length
    for one in sorted({atom for atom in run.start.atoms() if isinstance(atom, Lane)}, key=lambda one: -one.dim):
        for size in _sizes(run.start, one):
            if (found := _split(run.start, one, size, pitch)) is not None:
                return ElementRun(found[0], (*run.dims, Peeled(one.dim, one.size, size, found[1])))
    return None


def _sizes(expr: IndexExpr, one: Lane) -> Iterator[Coefficient]:
    """How many lanes may count together: all, or what quotients, remainders and conditions tell apart."""
    yield one.size
    if not isinstance(one.size, int):
        return
    sizes = {gcd(one.size, size) for atom in expr.atoms() if one.dim in atom.along for size in _parts(atom, one)}
    while more := {gcd(a, b) for a in sizes for b in sizes} - sizes:
        sizes |= more
    yield from sorted(sizes - {1, one.size}, reverse=True)


def _parts(atom: Atom, one: Lane) -> Iterator[int]:
    """How many lanes an atom may take for one, by itself."""
    if isinstance(atom, FloorDiv | Mod) and (by := atom.divisor.number):
        pitch = content(atom.dividend.coefficient(one)) or 1
        yield from (by, by // gcd(by, pitch))
        yield from (gcd(by, part) for part in _pitches(atom.dividend, one))
        yield from (gcd(by, content(factor)) for factor in atom.dividend.terms.values())
    elif isinstance(atom, Wrap):
        yield from (gcd(1 << atom.bits, part) for part in _pitches(atom.inner, one))
    elif isinstance(atom, Select):
        yield from (part for expr in atom.condition.parts for part in _pitches(expr, one))


def _pitches(expr: IndexExpr, one: Lane) -> Iterator[int]:
    """What divides all of a sum that stays along a dimension, where its lanes count up, and where they count down."""
    others = [atom.scaled(factor).divisor for atom, factor in expr.terms.items() if one.dim not in atom.along]
    if isinstance(expr.const, int):
        yield from (gcd(expr.const + last, *others) for last in (0, 1))


def _split(expr: IndexExpr, one: Lane, size: Coefficient, pitch: Coefficient) -> tuple[IndexExpr, bool] | None:
    """The first element of each group of ``size`` lanes, and whether they go backwards; None if not by ``pitch``."""
    inside, found = Lane(_INSIDE, size), _grouped(expr, one, size)
    if found is None:
        return None
    found = taken_out(found, inside)
    step = found.coefficient(inside)
    if step not in (pitch, -pitch):
        return None
    first = found - IndexExpr(0, {inside: step})
    if _INSIDE in first.along:
        return None
    return (first, False) if step == pitch else (first - (size - 1) * pitch, True)


def _grouped(expr: IndexExpr, one: Lane, size: Coefficient) -> IndexExpr | None:
    """An expression over groups of ``size`` lanes and those inside of one; None where a name does not say more."""
    groups = groups_of(one.size, size)
    inside, outside = Lane(_INSIDE, size), of_atom(Lane(one.dim, groups)) * size if groups != 1 else ZERO

    def replace(atom: Atom) -> IndexExpr | None:
        if isinstance(atom, Symbol) and one.dim in atom.dims:
            raise NotPlaced
        return outside + of_atom(inside) if atom == one else None

    def rename(name: Named) -> Condition:
        if one.dim in name.dims:
            raise NotPlaced
        return name

    try:
        return Rewriting(replace, rename=rename).expr(expr)
    except NotPlaced:
        return None


@dataclass(frozen=True)
class Strided:
    """The lanes of one dimension: from ``start``, which differs only along others, by ``step`` from lane to lane."""

    start: IndexExpr
    step: Coefficient


def strided(expr: IndexExpr, dim: int) -> Strided | None:
    """How an expression counts along a dimension, by 0 where it is the same; None where it does otherwise."""
    step: Coefficient = 0
    for atom, factor in expr.terms.items():
        if isinstance(atom, Lane) and atom.dim == dim:
            step, expr = factor, expr - IndexExpr(0, {atom: factor})
    return None if dim in expr.along else Strided(expr, step)


def groups_of(lanes: Coefficient, size: Coefficient) -> Coefficient:
    """How many groups of a size the lanes are."""
    if size == 1:
        return lanes
    return lanes // size if isinstance(lanes, int) and isinstance(size, int) and size else 1
