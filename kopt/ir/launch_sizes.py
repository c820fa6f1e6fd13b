"""A launch's model at chosen block sizes, and what follows from sizes in it: full blocks, trips, what moves.

What the builder finds in the IR holds for all sizes; all that does not is here, for it and for `with_sizes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from kopt.ir.atoms import Atom, BlockNumber, Element, Select, Symbol
from kopt.ir.condition import Condition, Junction, Named
from kopt.ir.index_expr import IndexExpr, of_atom
from kopt.ir.launch_model import Axis, LaneMask, LaunchModel, Live, ModelAccess, Name, Operand, Order, Source, Work
from kopt.ir.polynomial import Coefficient, quotient, substituted
from kopt.ir.rewriting import Rewriting
from kopt.ir.value_range import ValueRange


def with_sizes(model: LaunchModel, sizes: Mapping[str, int]) -> LaunchModel:
    """The model with numbers for the sizes of some tags: what building it at these sizes gives."""
    return _Sizing(model, sizes).model()


class _Sizing:
    """One substitution in a model. The numbers of blocks have the reach that their axis has at the sizes."""

    def __init__(self, model: LaunchModel, sizes: Mapping[str, int]):
        self._model = model
        self._sizes: dict[Hashable, Coefficient] = {**sizes}
        self._numbers: dict[str, IndexExpr] = {}
        self._rewriting = Rewriting(self._number, self._sizes)

    def model(self) -> LaunchModel:
        model = self._model
        axes = settled_axes([self._axis(axis) for axis in model.axes])
        sources = {source.name: source for source in model.sources}
        return replace(
            model,
            axes=axes,
            operands=tuple(map(self._operand, model.operands)),
            accesses=tuple(settled_access(self._access(access), sources) for access in model.accesses),
            work=tuple(map(self._work, model.work)),
            live=widest(map(self._live, model.live)),
            factors=tuple(replace(one, shape=tuple(map(self._size, one.shape))) for one in model.factors),
            orders=settled_orders(model.orders, axes),
            code=model.code.sized(self._size),
            sizes={**model.sizes, **{axis.tag: axis.size for axis in axes if axis.tag in self._sizes}},
        )

    def _axis(self, axis: Axis) -> Axis:
        lower, upper = self._rewriting.expr(axis.lower), self._rewriting.expr(axis.upper)
        size = self._size(axis.size)
        self._numbers[axis.tag] = block_number_of(axis.tag, size, upper - lower)
        return replace(axis, size=size, lower=lower, upper=upper)

    def _number(self, atom: Atom) -> IndexExpr | None:
        return self._numbers.get(atom.name) if isinstance(atom, BlockNumber) else None  # pyright: ignore

    def _size(self, size: Coefficient) -> Coefficient:
        return substituted(size, self._sizes)

    def _operand(self, operand: Operand) -> Operand:
        return replace(operand, shape=tuple(map(self._size, operand.shape)))

    def _access(self, access: ModelAccess) -> ModelAccess:
        condition = None if access.condition is None else self._rewriting.condition(access.condition)
        return replace(access, relation=access.relation.rewritten(self._rewriting), condition=condition)

    def _work(self, work: Work) -> Work:
        mask = work.mask
        mask = mask and LaneMask(self._rewriting.condition(mask.condition), self._dims(mask.dims))
        return replace(work, dims=self._dims(work.dims), mask=mask)

    def _dims(self, dims: tuple[tuple[str, Coefficient], ...]) -> tuple[tuple[str, Coefficient], ...]:
        return tuple((tag, self._size(size)) for tag, size in dims)

    def _live(self, live: Live) -> Live:
        values, passing = (
            tuple((tuple(map(self._size, shape)), bits) for shape, bits in some) for some in (live.values, live.passing)
        )
        return replace(live, values=values, passing=passing)


def block_number_of(tag: str, size: Coefficient, distance: IndexExpr) -> IndexExpr:
    """The number of a block of an axis that walks ``distance`` elements."""
    most = distance.range.high
    return of_atom(BlockNumber(tag, size, ValueRange(0, None if most is None else most - 1)))


# Axes.


def settled_axes(axes: Iterable[Axis]) -> tuple[Axis, ...]:
    """Axes with what their sizes say: whether their blocks are full, and what may become of them."""
    known: dict[str, Axis] = {}
    for axis in axes:
        parent = known.get(axis.parent or "")
        axis = replace(axis, whole=_is_whole(axis, parent))
        known[axis.tag] = replace(axis, may=frozenset(form for form in _FORMS if _may(form, axis, parent)))
    return tuple(known.values())


_FORMS = ("grid", "loop", "walked", "unrolled", "peeled", "split")


def _is_whole(axis: Axis, parent: Axis | None) -> bool:
    """Whether every block is full: the size divides the distance, or one full block of the axis around it."""
    if parent is not None:
        return parent.whole and quotient(parent.size, axis.size) is not None
    return axis.extent.is_constant and quotient(axis.extent.const, axis.size) is not None


def _may(form: str, axis: Axis, parent: Axis | None) -> bool:
    if form == axis.form:
        return True
    if form == "unrolled":
        return axis.form == "loop" and axis.trips.number is not None
    if form == "peeled":
        return axis.form == "loop" and (axis.compared or not axis.whole)
    if form not in axis.may:
        return False
    if axis.form == "loop" and (trips := axis.trips.number) is not None and trips < 2:
        return False
    return form != "grid" or parent is None or _is_part(axis, parent)


def _is_part(axis: Axis, parent: Axis) -> bool:
    """Whether full blocks of an axis make each block of another, as far as sizes are known."""
    if not isinstance(parent.size, int) or not isinstance(axis.size, int):
        return True
    return parent.whole and parent.size % axis.size == 0 and parent.size > axis.size


def settled_orders(orders: Iterable[Order], axes: Iterable[Axis]) -> tuple[Order, ...]:
    """Orders without those in which a loop is an axis of the grid that cannot be one at its size."""
    loops = {axis.tag for axis in axes if axis.form == "loop" and "grid" not in axis.may}
    return tuple(order for order in orders if loops.isdisjoint(order.axes))


# Accesses.


def settled_access(access: ModelAccess, sources: Mapping[Name, Source]) -> ModelAccess:
    """An access with the axes that its indices move with, and the accesses that they are made of."""
    moves, loads = set[str](), dict[str, None]()
    for name in _names(access.relation.indices):
        if isinstance(name, str):
            moves.add(name)
        elif name in sources:
            moves |= sources[name].moves
            loads |= dict.fromkeys(sources[name].loads)
    return replace(access, moves=frozenset(moves & {*access.path}), address=tuple(sorted(loads)))


def names_of(axes: Iterable[Axis], accesses: Iterable[ModelAccess]) -> Iterator[Name]:
    """The names that occur in the expressions of axes and accesses."""
    exprs = [end for axis in axes for end in (axis.lower, axis.upper)]
    for access in accesses:
        exprs += access.relation.indices
        yield from _names_in(access.relation.domain)
        if access.condition is not None:
            yield from _names_in(access.condition)
    yield from (name for name in _names(exprs) if isinstance(name, Name))


def _names(exprs: Iterable[IndexExpr]) -> Iterator[Name | str]:
    """The names that expressions are made of, those of conditions too; of block numbers the tags."""
    for expr in exprs:
        for atom in expr.atoms():
            if isinstance(atom, BlockNumber | Symbol | Element):
                yield atom.name  # pyright: ignore[reportReturnType]
            elif isinstance(atom, Select):
                yield from _facts(atom.condition)


def _names_in(condition: Condition) -> Iterator[Name]:
    """The names that a condition is made of."""
    yield from (name for name in (*_facts(condition), *_names(condition.parts)) if isinstance(name, Name))


def _facts(condition: Condition) -> Iterator[Name]:
    """The conditions without a form that one is made of; those of its expressions are not looked at."""
    if isinstance(condition, Junction):
        for part in condition.conditions:
            yield from _facts(part)
    elif isinstance(condition, Named):
        yield condition.name  # pyright: ignore[reportReturnType]


# Values.

#: How many of a body's places others are compared with: of many statements that takes time linear in their number.
_COMPARED = 8


def widest(places: Iterable[Live]) -> tuple[Live, ...]:
    """Of each body the places whose values are not among those of one of the few places that have the most."""
    found = list(places)
    counts = [Counter(live.values) for live in found]
    kept: dict[tuple[str, ...], list[int]] = {}
    for own in sorted(range(len(found)), key=lambda number: -len(found[number].values)):
        others = kept.setdefault(found[own].path, [])
        if not any(_holds(counts[other], counts[own]) for other in others[:_COMPARED]):
            others.append(own)
    return tuple(found[number] for number in sorted(number for numbers in kept.values() for number in numbers))


def _holds(large: Counter, small: Counter) -> bool:
    """Whether a collection has each value at least as often as another one."""
    return all(large[value] >= count for value, count in small.items())
