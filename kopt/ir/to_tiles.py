"""Index expressions as integer tiles, and conditions as tiles of truth values: a number for each lane of a block.

Each part is computed along the dimensions that it differs along, and repeated along others where it meets what differs
there. What is the same in all lanes is an ``index``. Lanes are iotas, those of a range its `tile.index`; quotients and
remainders by powers of two are shifts and masks.

    (4 * n + lane(0, 8))[:, None] // 2 + lane(1, 16)[None, :]    =>    4·n as an index, splat, add of an iota, shr by 1,
                                                                       of 8 lanes; a broadcast of both to 8 x 16, add
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, i1, i32, i64
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import (
    ELEMENTWISE,
    ArangeOp,
    BroadcastOp,
    CastOp,
    DimAttr,
    FullOp,
    IndexOp,
    RangeType,
    ReshapeOp,
    SelectOp,
    SliceOp,
    SplatOp,
    TileType,
    TransposeOp,
    tile_type,
)
from kopt.ir.atoms import Atom, BlockNumber, Element, Extremum, Lane, Select, Symbol, Wrap
from kopt.ir.condition import Comparison, Condition, Junction, Named, Truth
from kopt.ir.division import FloorDiv, Mod
from kopt.ir.forms import wide_dims
from kopt.ir.index_expr import IndexExpr
from kopt.ir.to_ssa import IndexWriter
from kopt.ir.widths import is_power_of_two, suffices

#: A number in all lanes, known now or as an ``index``; or a tile.
Value = int | SSAValue
Dims = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """What is written of an expression: along these dimensions of the block, in increasing order."""

    value: Value
    dims: Dims = ()

    @property
    def is_tile(self) -> bool:
        """Whether it has lanes, or is the tile of a single one."""
        return isinstance(self.value, SSAValue) and isinstance(self.value.type, TileType)


class TileWriter:
    """Makes ops by ``add``; ``begin`` says where a range's block begins, by the analysis that made the expressions."""

    def __init__(self, add: Callable[[Operation], SSAValue], begin: Callable[[SSAValue], IndexExpr]):
        self._add = add
        self._begin = begin

    @staticmethod
    def can_write(expr: IndexExpr) -> bool:
        """Whether there are ops for all of an expression: where block sizes are chosen, and names are values."""
        return _is_written(expr) and all(map(_can_write, expr.atoms()))

    def value(self, expr: IndexExpr, dims: Sequence[DimAttr], element: IntegerType | None = None) -> SSAValue:
        """An expression as a tile of a block's dimensions: of i32 unless the numbers need i64, or of an ``element``.

        Of an element type only what it holds of the numbers is right.
        """
        fits = suffices(expr, 32)
        if element is None:
            element = i32 if fits and expr.range.fits(32) else i64
        writing = _Writing(self._add, self._begin, dims, i32 if fits and element == i32 else i64)
        found = writing.tile(writing.expr(expr), tuple(range(len(dims))))
        return found if element == writing.element else self._add(CastOp(found, element))

    def condition(self, condition: Condition, dims: Sequence[DimAttr]) -> SSAValue:
        """A condition as a tile of a block's dimensions."""
        fits = all(suffices(part, 32) and part.range.fits(32) for part in condition.parts)
        writing = _Writing(self._add, self._begin, dims, i32 if fits else i64)
        return writing.tile(writing.condition(condition), tuple(range(len(dims))), i1)


class _Writing:
    """One block: what its dimensions are, and in which type its numbers are computed."""

    def __init__(
        self,
        add: Callable[[Operation], SSAValue],
        begin: Callable[[SSAValue], IndexExpr],
        dims: Sequence[DimAttr],
        element: IntegerType,
    ):
        self._add, self._begin, self._dims, self.element = add, begin, dims, element
        self._indices = IndexWriter(add, self._as_index, begin)

    # Sums.

    def expr(self, expr: IndexExpr) -> Part:
        """An expression along the dimensions that it differs along: what differs along few of them first."""
        ranges, expr = self._lanes_of_ranges(expr)
        scalars = IndexExpr(0, {atom: factor for atom, factor in expr.terms.items() if _is_scalar(atom)})
        others = {atom: factor for atom, factor in expr.terms.items() if atom not in scalars.terms}
        const, parts = expr.const, list[Part]()
        for atom, factor in sorted(others.items(), key=lambda term: (len(term[0].along), term[1] < 0)):  # pyright: ignore
            if isinstance(atom, Lane):
                parts.append(self._iota(atom, const, factor))
                const = 0
            else:
                parts.append(Part(0) if factor == 0 else self._times(self._atom(atom), factor))
        parts += ranges
        scalars = scalars + const
        total = Part(scalars.const if not scalars.terms else self._indices.value(scalars))  # pyright: ignore
        for part in sorted(parts, key=lambda part: len(part.dims)):
            total = self._sum(total, part)
        return total

    def _lanes_of_ranges(self, expr: IndexExpr) -> tuple[list[Part], IndexExpr]:
        """The multiples of ranges' lanes that a sum counts, and the rest."""
        parts: list[Part] = []
        for block in [atom for atom in expr.terms if isinstance(atom, BlockNumber)]:
            for lane, factor in [(atom, f) for atom, f in expr.terms.items() if isinstance(atom, Lane)]:
                lanes = self._lanes(block, lane)
                rest = expr if lanes is None else expr - lanes * factor
                if len(rest.terms) < len(expr.terms) - 1 and isinstance(factor, int):
                    expr = rest
                    numbers = self._add(IndexOp(block.name))  # pyright: ignore[reportArgumentType]
                    parts.append(self._times(Part(self._typed(numbers), (lane.dim,)), factor))
        return parts, expr

    def _lanes(self, block: BlockNumber, lane: Lane) -> IndexExpr | None:
        """The element numbers of a range, where they are a dimension of the block."""
        range = block.name
        if not isinstance(range, SSAValue) or not isinstance(range.type, RangeType):
            return None
        found = self._begin(range) + IndexExpr(0, {lane: 1})
        return found if range.type.dim == self._dims[lane.dim] and found.range.fits(32) else None

    def _iota(self, lane: Lane, start: object, step: object) -> Part:
        assert isinstance(lane.size, int) and isinstance(start, int) and isinstance(step, int)
        type = TileType([lane.size], self.element)
        return Part(self._add(ArangeOp(self._held(start), self._held(step), type)), (lane.dim,))

    def _times(self, part: Part, factor: object) -> Part:
        assert isinstance(factor, int)
        return part if factor == 1 else self._compute("mul", part, Part(factor))

    def _sum(self, first: Part, second: Part) -> Part:
        if first.value == 0 and not first.is_tile:
            return second
        return self._compute("add", first, second)

    # Atoms.

    def _atom(self, atom: Atom) -> Part:
        if isinstance(atom, FloorDiv | Mod):
            return self._division(atom)
        if isinstance(atom, Extremum):
            first, *others = sorted(map(self.expr, atom.operands), key=lambda part: -len(part.dims) - part.is_tile)
            for other in others:
                first = self._compute("maximum" if atom.largest else "minimum", first, other)
            return first
        if isinstance(atom, Select):
            return self._select(self.condition(atom.condition), self.expr(atom.then), self.expr(atom.otherwise))
        if isinstance(atom, Wrap):
            return self._wrap(atom)
        if isinstance(atom, Lane):
            return self._iota(atom, 0, 1)
        if isinstance(atom, Element):
            return self._slice(atom)
        assert isinstance(atom, Symbol) and isinstance(atom.name, SSAValue)
        return self._placed(atom.name, atom.dims)

    def _slice(self, atom: Element) -> Part:
        """Lanes of a value: single ones, and every n-th along dimensions of the block."""
        assert isinstance(atom.name, SSAValue) and isinstance(atom.name.type, TileType)
        kept = [DimAttr(atom.name.type.shape[n]) for n in wide_dims(atom.name.type)]
        steps = [step for lanes in atom.lanes if (step := _step(lanes)) is not None]
        dims = [step.dim for step in steps if step.dim is not None]
        if [step.size for step in steps if step.dim is not None] == [dim.size.data for dim in kept]:
            return self._placed(atom.name, dims)
        bounds = zip(*((step.begin, step.size, step.step) for step in steps), strict=True)
        value = self._add(SliceOp(self._reshaped(self._typed(atom.name), kept), *bounds))
        value = self._reshaped(value, [DimAttr(step.size) for step in steps if step.dim is not None])
        return self._along(value, dims)

    def _division(self, atom: FloorDiv | Mod) -> Part:
        dividend, by = self.expr(atom.dividend), atom.divisor.number
        if by is not None and is_power_of_two(by):
            name, number = ("shr", by.bit_length() - 1) if isinstance(atom, FloorDiv) else ("and", by - 1)
            return self._compute(name, dividend, Part(number))
        names = ("floordiv", "truncdiv") if isinstance(atom, FloorDiv) else ("mod", "rem")
        is_plain = by is not None and by > 0 and atom.dividend.range.is_natural  # how it is rounded is no matter then
        return self._compute(names[is_plain], dividend, self.expr(atom.divisor))

    def _wrap(self, atom: Wrap) -> Part:
        """The low bits: by a mask, or shifted up and down again for the sign."""
        inner, high = self.expr(atom.inner), self.element.width.data - atom.bits
        if high <= 0:
            return inner
        if not atom.signed:
            return self._compute("and", inner, Part((1 << atom.bits) - 1))
        return self._compute("shr", self._compute("shl", inner, Part(high)), Part(high))

    def _select(self, condition: Part, then: Part, otherwise: Part) -> Part:
        dims = _together(condition, then, otherwise)
        taken = self.tile(condition, dims, i1)
        return Part(self._add(SelectOp(taken, self.tile(then, dims), self.tile(otherwise, dims))), dims)

    def _placed(self, value: SSAValue, places: Sequence[int]) -> Part:
        """A value along the dimensions of the block that its own stand along."""
        if not isinstance(value.type, TileType):
            wanted = i1 if value.type == i1 else self.element
            value = value if value.type in (wanted, IndexType()) else self._as_index(value)
            return Part(self._add(SplatOp(value, TileType([], wanted))))
        kept = [value.type.dims.data[n] for n in wide_dims(value.type)]
        return self._along(self._reshaped(self._typed(value), kept), places)

    def _along(self, value: SSAValue, places: Sequence[int]) -> Part:
        """A tile whose dimensions stand along some of the block's, in any order."""
        order = sorted(range(len(places)), key=places.__getitem__)
        if order != list(range(len(order))):
            value = self._add(TransposeOp(value, order))
        return Part(value, tuple(sorted(places)))

    # Conditions.

    def condition(self, condition: Condition) -> Part:
        """A condition along the dimensions that it differs along."""
        if isinstance(condition, Truth):
            return Part(int(condition.value))
        if isinstance(condition, Comparison):
            return self._comparison(condition)
        if isinstance(condition, Junction):
            first, *others = sorted(map(self.condition, condition.conditions), key=lambda part: len(part.dims))
            for other in others:
                first = self._compute("and" if condition.every else "or", other, first, i1)
            return first
        assert isinstance(condition, Named) and isinstance(condition.name, SSAValue)
        held = self._placed(condition.name, condition.dims)
        return (
            held if condition.holds else Part(self._add(ELEMENTWISE["not"](self.tile(held, held.dims, i1))), held.dims)
        )

    def _comparison(self, condition: Comparison) -> Part:
        """A sum against what it must be: what is subtracted stands on the other side, where both sides fit."""
        expr, relation, bits = condition.expr, str(condition.relation), self.element.width.data
        less = IndexExpr(0, {a: -f for a, f in expr.terms.items() if isinstance(f, int) and f < 0})
        more = expr + less
        if more.terms and relation == "ge" and expr.const == -1:
            relation, more = "gt", more + 1
        elif more.terms:
            more, less = more - expr.const, less - expr.const
        if not all(side.range.fits(bits) and suffices(side, bits) for side in (more, less)):
            more, less, relation = expr, IndexExpr(), str(condition.relation)
        return self._compute(relation, self.expr(more), self.expr(less))

    # Tiles.

    def tile(self, part: Part, dims: Dims, element: IntegerType | None = None) -> SSAValue:
        """A part along more dimensions, which increase."""
        return self._as_type(part, dims, TileType([self._dims[dim] for dim in dims], element or self.element))

    def _as_type(self, part: Part, dims: Dims, type: TileType) -> SSAValue:
        if isinstance(part.value, int):
            return self._add(FullOp(part.value if type.element_type == i1 else self._held(part.value), type))
        if not part.is_tile:
            return self._add(SplatOp(part.value, type))
        if part.value.type == type:
            return part.value
        value = self._reshaped(part.value, [type.dims.data[dims.index(dim)] for dim in part.dims])
        return value if value.type == type else self._add(BroadcastOp(value, [dims.index(d) for d in part.dims], type))

    def _reshaped(self, value: SSAValue, dims: Sequence[DimAttr]) -> SSAValue:
        """The same lanes; tags that they do not have there are left to a broadcast."""
        type = tile_type(value)
        own = [type.dims.data[n] for n in wide_dims(type)]
        known = len(own) == len(dims)
        kept = [dim if known and dim == own[n] else DimAttr(dim.size.data) for n, dim in enumerate(dims)]
        return value if list(type.dims.data) == kept else self._add(ReshapeOp(value, type.with_dims(kept)))

    def _compute(self, name: str, first: Part, second: Part, element: IntegerType | None = None) -> Part:
        values, dims = self._alike(first, second, element)
        return Part(self._add(ELEMENTWISE[name](*values)), dims)

    def _alike(self, first: Part, second: Part, element: IntegerType | None = None) -> tuple[list[SSAValue], Dims]:
        """Two parts as tiles of one type; a number has that of a tile beside it."""
        dims = _together(first, second)
        tiles = [part.value for part in (first, second) if part.is_tile and part.dims == dims]
        known = {tile_type(value) for value in tiles if isinstance(value, SSAValue)}
        type = TileType([self._dims[dim] for dim in dims], element or self.element)
        if len(known) == 1:
            (type,) = known
        return [self._as_type(part, dims, type) for part in (first, second)], dims

    def _typed(self, value: SSAValue) -> SSAValue:
        type = tile_type(value)
        return value if type.element_type in (self.element, i1) else self._add(CastOp(value, self.element))

    def _as_index(self, value: SSAValue) -> SSAValue:
        return value if value.type == IndexType() else self._add(arith.IndexCastOp(value, IndexType()))

    def _held(self, number: int) -> int:
        """What the type of the numbers holds of one."""
        half = 1 << self.element.width.data - 1
        return (number + half) % (2 * half) - half


def _together(*parts: Part) -> Dims:
    return tuple(sorted({dim for part in parts for dim in part.dims}))


def _is_scalar(atom: Atom) -> bool:
    """Whether an atom is written as an ``index``: it is made of blocks' numbers and scalars, and wraps nowhere."""
    return IndexWriter.can_write(IndexExpr(0, {atom: 1})) and not any(
        isinstance(one, Wrap) or (isinstance(one, Symbol) and isinstance(one.name.type, TileType))  # pyright: ignore
        for one in IndexExpr(0, {atom: 1}).atoms()
    )


def _can_write(atom: Atom) -> bool:
    if isinstance(atom, Symbol | BlockNumber):
        return isinstance(atom.name, SSAValue)
    if isinstance(atom, Lane):
        return isinstance(atom.size, int)
    if isinstance(atom, Element) and not (isinstance(atom.name, SSAValue) and _is_sliced(atom.lanes)):
        return False
    return all(map(_is_written, atom.parts)) and (not isinstance(atom, Select) or _is_named(atom.condition))


@dataclass(frozen=True)
class _Step:
    """``size`` lanes of a value from ``begin`` on, in steps, along ``dim`` of the block; or a single lane of it."""

    begin: int
    size: int = 1
    step: int = 1
    dim: int | None = None


def _step(lanes: IndexExpr) -> _Step | None:
    """The lanes of a value that an expression counts in steps; None of others."""
    begin = lanes.const
    if not isinstance(begin, int) or begin < 0 or len(lanes.terms) > 1:
        return None
    for atom, step in lanes.terms.items():
        if not isinstance(atom, Lane) or not isinstance(atom.size, int) or not isinstance(step, int) or step < 1:
            return None
        return _Step(begin, atom.size, step, atom.dim)
    return _Step(begin)


def _is_sliced(lanes: Sequence[IndexExpr]) -> bool:
    """Whether lanes of a value are counted in steps, along a dimension of its own each."""
    steps = [*map(_step, lanes)]
    dims = [step.dim for step in steps if step is not None and step.dim is not None]
    return None not in steps and len({*dims}) == len(dims)


def _is_written(expr: IndexExpr) -> bool:
    return isinstance(expr.const, int) and all(isinstance(factor, int) for factor in expr.terms.values())


def _is_named(condition: Condition) -> bool:
    if isinstance(condition, Junction):
        return all(map(_is_named, condition.conditions))
    return not isinstance(condition, Named) or isinstance(condition.name, SSAValue)
