"""Forms of SSA values: ``index`` values, integers, integer tiles and their conditions, by rules for operations.

Rules are written with `Forms`; `kopt.ir.from_ssa.IndexAnalysis` has all of them. A range's block begins at
``lower + size · number``. Values of no known form keep their name, with what is known of their range. Arithmetic of
``index`` values is that of the integers; integers wrap in their width.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import IndexType, IntegerType, Signedness
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import (
    DimAttr,
    LoadOp,
    RangeType,
    ShiftOp,
    TileType,
    WholeOp,
    element_of,
    is_gather,
    range_type,
    tile_type,
)
from kopt.ir.atoms import Atom, BlockNumber, Symbol
from kopt.ir.choices import minimum, wrap
from kopt.ir.condition import Condition, Named, comparison
from kopt.ir.division import floordiv
from kopt.ir.index_expr import ZERO, IndexExpr, lane, number, of_atom, symbol
from kopt.ir.polynomial import Coefficient, parameter
from kopt.ir.ranges import Binding, binding, unshifted
from kopt.ir.rewriting import NotPlaced, moved
from kopt.ir.value_range import ANY, ValueRange

#: What a value is: a number a lane, or whether something holds.
Form = IndexExpr | Condition
_UNIT = DimAttr(1)
#: Expressions of more atoms than this keep the value's name instead: chains of any length stay cheap.
_HEAVY = 64
#: The lanes of a block whose size is not chosen yet: no chip has room for more, and indices to them fit 32 bits.
_LANES = ValueRange(1, 1 << 24)


def own_name(value: SSAValue, fact: str) -> Hashable:
    """A value's name is the value, that of its block number too; what else is asked of it stands beside it."""
    return (value, fact) if fact not in ("", "block") else value


class Forms:
    """The forms of values, by the ``rules`` of a subclass.

    ``assumed`` bounds some of them, and the numbers of some ranges' blocks; the sizes of ``open_tags`` are not chosen
    yet.
    ``names`` gives the name of a value or of a fact about it: ``block`` (the number of a range's block), ``longest``
    and ``valid`` (of a jagged range); empty for the value itself. With ``sums``, an ``index`` that is no sum of
    numbers of blocks and other indices keeps its name: what is written again is written with values that there are.
    With ``numbered``, the number of a loop's block keeps its name where there is but one block, as an index map over a
    grid does.
    """

    #: What each operation says of its result, before that is held in the result's type; None: nothing.
    rules: ClassVar[Mapping[type, Callable[[Any, Any], Form | ValueRange | None]]]

    def __init__(
        self,
        assumed: Mapping[SSAValue, ValueRange] | None = None,
        open_tags: Collection[str] = (),
        names: Callable[[SSAValue, str], Hashable] = own_name,
        sums: bool = False,
        numbered: bool = False,
    ):
        self._assumed = assumed or {}
        self._name = names
        self._lanes: dict[str, Coefficient] = {}
        self._open = frozenset(open_tags)
        self._sums, self._numbered = sums, numbered
        self.merged: Callable[[SSAValue, int], Coefficient | None] = lambda value, dim: None
        self._known: dict[SSAValue, Form] = {}
        self._begins: dict[SSAValue, IndexExpr] = {}
        self._bound: dict[SSAValue, Binding] = {}
        self._valid: dict[tuple[SSAValue, int, tuple[str, ...]], Condition] = {}

    # Values.

    def expr(self, value: SSAValue | int) -> IndexExpr:
        """What an ``index`` value, an integer or an integer tile is."""
        if isinstance(value, int):
            return number(value)
        found = self._form(value)
        assert isinstance(found, IndexExpr), f"{value} is no number"
        return found

    def condition(self, value: SSAValue) -> Condition:
        """When a truth value, or a lane of a tile of them, holds."""
        found = self._form(value)
        assert isinstance(found, Condition), f"{value} is no condition"
        return found

    def range(self, value: SSAValue | int) -> ValueRange:
        """What a value may be."""
        return self.expr(value).range

    def first(self, entry: SSAValue | int) -> IndexExpr:
        """The number of the first element of an entry of an index list: of a range's block, or the one it names."""
        if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
            return self.begin(entry)
        return self.expr(entry)

    def elements(self, entry: SSAValue | int) -> IndexExpr:
        """The numbers of the elements of an entry of an index list, its lanes from dimension 0 on."""
        if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
            return self.lanes(entry)
        return self.expr(entry)

    # Ranges.

    def binding(self, range: SSAValue) -> Binding:
        """Who binds a range, through shifts."""
        if (base := unshifted(range)) not in self._bound:
            self._bound[base] = binding(base)
        return self._bound[base]

    def begin(self, range: SSAValue) -> IndexExpr:
        """The first element of a range's block."""
        base = unshifted(range)
        if base not in self._begins:
            first = self.expr(self.binding(base).lower)
            self._begins[base] = first + self.number(base) * self.size(base)
        return self._begins[base] if base is range else self._begins[base] + self.shift(range)

    def end(self, range: SSAValue) -> IndexExpr:
        """One past the last valid element of a range's block."""
        base = unshifted(range)
        return minimum(self.begin(base) + self.size(base), self.upper(base)) + self.shift(range)

    def number(self, range: SSAValue) -> IndexExpr:
        """The number of a range's block in its loop."""
        bound = self.binding(range)
        distance = self.upper(range) - self.expr(bound.lower)
        most = distance.range.high
        reach, size = ValueRange(0, None if most is None else most - 1), self.size(bound.value)
        if (known := self._assumed.get(bound.value)) is not None and isinstance(size, int):
            reach = reach.intersection(known * ValueRange(size, size))
        found = BlockNumber(self._name(bound.value, "block"), size, reach)
        return IndexExpr(0, {found: 1}) if self._numbered and not isinstance(bound.owner, WholeOp) else of_atom(found)

    def count(self, range: SSAValue) -> IndexExpr:
        """How many blocks a range's loop has."""
        bound = self.binding(range)
        distance = self.upper(range) - self.expr(bound.lower)
        return floordiv(distance + self.size(bound.value) - 1, self.size(bound.value))

    def upper(self, range: SSAValue) -> IndexExpr:
        """Where the loop of a range ends; of a jagged one, the longest of its lengths."""
        bound = self.binding(range)
        if isinstance(bound.owner, JaggedForOp):
            most = self.range(bound.owner.lengths).high
            return symbol(
                self._name(bound.value, "longest"), range=ValueRange(0, None if most is None else max(most, 0))
            )
        return self.expr(bound.upper)

    def lanes(self, range: SSAValue, dim: int = 0) -> IndexExpr:
        """The element numbers of a range's lanes along a dimension."""
        return self.begin(range) + lane(dim, self.size(range))

    def valid(self, range: SSAValue, dim: int, tags: Sequence[str] = ()) -> Condition:
        """Whether lanes along a dimension are inside their range; ``tags`` are those of the block's dimensions."""
        key = (unshifted(range), dim, tuple(tags))
        if key not in self._valid:
            self._valid[key] = self._inside(*key)
        return self._valid[key]

    def _inside(self, base: SSAValue, dim: int, tags: Sequence[str]) -> Condition:
        lanes, owner = self.lanes(base, dim), self.binding(base).owner
        if not isinstance(owner, JaggedForOp):
            return comparison("ge", self.upper(base) - lanes - 1)
        if not set(owner.lengths_type.tags) <= set(tags):
            return Named(self._name(base, "valid"), (dim,))
        places = {n: tags.index(tag) for n, tag in enumerate(owner.lengths_type.tags)}
        return comparison("ge", moved(places).expr(self.expr(owner.lengths)) - lanes - 1)

    def size(self, range: SSAValue) -> Coefficient:
        """How many lanes a range's block has."""
        return self.lanes_of(range_type(range).dim)

    def lanes_of(self, dim: DimAttr) -> Coefficient:
        """How many lanes a dimension has: of an open tag, a parameter of that name."""
        tag = dim.tag.data
        if tag not in self._open:
            return dim.size.data
        if tag not in self._lanes:
            self._lanes[tag] = parameter(tag, _LANES)
        return self._lanes[tag]

    def lanes_along(self, value: SSAValue, dim: int) -> Coefficient:
        """How many lanes a dimension of a tile has; ``merged`` knows those of plain ones that are made of blocks."""
        found = self.merged(value, dim)
        return self.lanes_of(tile_type(value).dims.data[dim]) if found is None else found

    def shift(self, range: SSAValue) -> IndexExpr:
        """How far a range is shifted, through all of its shifts."""
        total = ZERO
        while isinstance(range.owner, ShiftOp):
            total = total + self.expr(range.owner.offset)
            range = range.owner.range
        return total

    # The forms, without recursion: operands first.

    def _form(self, value: SSAValue) -> Form:
        todo = [value]
        while todo:
            missing = (
                [] if todo[-1] in self._known else [one for one in self._needs(todo[-1]) if one not in self._known]
            )
            if missing:
                todo += missing
            elif (one := todo.pop()) not in self._known:
                self._known[one] = self._computed(one)
        return self._known[value]

    def _needs(self, value: SSAValue) -> Iterator[SSAValue]:
        """The values whose forms a value's form is made of."""
        op = value.owner
        if isinstance(op, Operation) and type(op) in self.rules:
            for operand in op.operands if not isinstance(op, LoadOp) else gathering(op):
                if isinstance(operand.type, RangeType):
                    yield from _bounds(operand)
                elif _has_form(operand.type):
                    yield operand

    def _computed(self, value: SSAValue) -> Form:
        return self._kept(self._found(value), value)

    def _found(self, value: SSAValue) -> Form | ValueRange | None:
        """What the op of a value says of it, before it is held in the value's type."""
        rule = self.rules.get(type(value.owner))
        try:
            return rule(self, value.owner) if rule is not None else None
        except NotPlaced:
            return None

    def _kept(self, found: Form | ValueRange | None, value: SSAValue) -> Form:
        """The form of a value: what is found, unless it is too long, or else its name."""
        if isinstance(found, Condition):
            return found if sum(part.weight for part in found.parts) <= _HEAVY else self.named(value)
        if isinstance(found, IndexExpr):
            found = held(found, value.type)
            if found.weight <= _HEAVY and not (self._sums and value.type == _INDEX and not _is_sum(found)):
                return found
            found = found.range
        return self.named(value, found or ANY)

    def named(self, value: SSAValue, known: ValueRange = ANY) -> Form:
        """A value as the name that it keeps; ``known`` is what it would be if it were not held in its type."""
        element, dims = element_of(value.type), wide_dims(value.type)
        if element == _TRUTH:
            return Named(self._name(value, ""), dims)
        if isinstance(element, IntegerType):
            known = known.wrapped(element.width.data, is_signed(element))
        return symbol(self._name(value, ""), dims, known.intersection(self._assumed.get(value, ANY)))

    @property
    def keeps_names(self) -> bool:
        """Whether what is no sum keeps its name, so that it is written with values that there are."""
        return self._sums


_TRUTH = IntegerType(1)
_INDEX = IndexType()


def is_number(type: Attribute) -> bool:
    """Whether a type, or that of a tile's lanes, is one of integers and no truth values."""
    element = element_of(type)
    return element != _TRUTH and isinstance(element, IndexType | IntegerType)


def is_signed(type: IntegerType) -> bool:
    """Whether a type holds numbers below 0; those without a sign do."""
    return type.signedness.data != Signedness.UNSIGNED


def held(expr: IndexExpr, type: Attribute) -> IndexExpr:
    """What a type holds of an expression."""
    element = element_of(type)
    return wrap(element.width.data, expr, is_signed(element)) if isinstance(element, IntegerType) else expr


def wide_dims(type: Attribute) -> tuple[int, ...]:
    """The dimensions of a tile but for plain ones of one lane."""
    return tuple(n for n, dim in enumerate(type.dims.data) if dim != _UNIT) if isinstance(type, TileType) else ()


def gathering(load: LoadOp) -> Sequence[SSAValue]:
    """The indices of a load with a tile among them; none of other loads."""
    return load.indices if any(map(is_gather, load.indices)) else ()


def _is_sum(expr: IndexExpr) -> bool:
    """Whether an expression is a sum of numbers of blocks and ``index`` values."""
    return all(isinstance(atom, BlockNumber) or _is_index(atom) for atom in expr.terms)


def _is_index(atom: Atom) -> bool:
    name = atom.name if isinstance(atom, Symbol) else None
    return isinstance(name, SSAValue) and name.type == _INDEX


def _has_form(type: Attribute) -> bool:
    return isinstance(element_of(type), IndexType | IntegerType)


def _bounds(range: SSAValue) -> Iterator[SSAValue]:
    while isinstance(range.owner, ShiftOp):
        yield range.owner.offset
        range = range.owner.range
    bound: Binding = binding(range)
    yield from (end for end in (bound.lower, bound.upper) if isinstance(end, SSAValue))
