"""Facts about lanes whose validity types no longer tell: of reshapes, joins, slices and picks of tagged dimensions.

A fact is a tile of predicates over some dimensions of a value. `kopt.analysis.validity` has the rules that make the
facts of an op's result of those of its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects import tile
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.jagged import ValidOp as JaggedValidOp
from kopt.dialects.tile import RangeType, TileType
from kopt.dialects.tile.types import DimLike
from kopt.ir.ranges import always_full, unshifted
from kopt.walk import walk


@dataclass(frozen=True, eq=False)
class LaneFact:
    """Lanes of some dimensions are valid where ``mask`` holds, a tile of plain dimensions, one for each of ``dims``.

    ``items`` are the dimensions whose lanes own the others (those of a jagged loop): an item of no lanes is valid all
    the same. With ``prefix`` the valid lanes of the only dimension are the first ones, and one at least.
    """

    mask: SSAValue
    dims: tuple[int, ...]
    items: tuple[int, ...] = ()
    prefix: bool = False


Facts = tuple[LaneFact, ...]
#: Gives the facts of an op's result, with the builder of facts; those of the op's operands are known by then.
Rule = Callable[["LaneFacts", Any, SSAValue], Facts]


class LaneFacts:
    """Builds the facts of values right after what they speak of; each value's once.

    ``rule_of`` gives the rule for a value, or None where its tags tell everything.
    """

    def __init__(self, rule_of: Callable[[SSAValue], Rule | None]):
        self._rule_of = rule_of
        self._known: dict[SSAValue, Facts] = {}
        self._ranges: dict[tuple[SSAValue, bool], SSAValue | None] = {}
        self._scopes: dict[Operation, dict[str, SSAValue]] = {}
        #: What was inserted last behind an op, or at the start of a block.
        self._last: dict[Operation | Block, Operation] = {}

    def of(self, value: SSAValue) -> SSAValue | None:
        """The validity that the type of ``value`` does not tell, or None."""
        return self._over(value, self.facts(value))

    def along(self, value: SSAValue, dims: Sequence[int]) -> SSAValue | None:
        """As `of`, of what concerns some dimensions only."""
        return self._over(value, concerning(self.facts(value), dims))

    def plain(self, value: SSAValue) -> SSAValue | None:
        """As `of`, without tags."""
        shape = tile.tile_type(value).shape
        return self.joined(self.facts(value), list(range(len(shape))), shape, value)

    def _over(self, value: SSAValue, facts: Facts) -> SSAValue | None:
        dims = tile.tile_type(value).dims.data
        return self.joined(facts, list(range(len(dims))), dims, value)

    def settle(self, value: SSAValue, like: SSAValue) -> None:
        """Says that a value has the valid lanes of another."""
        self._known[value] = self.facts(like)

    def carry(self, value: SSAValue, mask: SSAValue) -> None:
        """Says where the validity of a value is that is carried beside it."""
        self._known[value] = (LaneFact(mask, tuple(range(tile.tile_type(value).rank))),)

    def facts(self, value: SSAValue) -> Facts:
        """What is known of the lanes of a value, besides its tags."""
        stack = [value]
        while stack:
            top = stack[-1]
            missing = [] if top in self._known else self._sources(top)
            if missing:
                stack += missing
                continue
            stack.pop()
            if top not in self._known:
                rule = self._rule_of(top)
                self._known[top] = () if rule is None else rule(self, top.owner, top)
        return self._known[value]

    def _sources(self, value: SSAValue) -> list[SSAValue]:
        """The operands whose facts the rule of a value asks for, and that are not known."""
        owner = value.owner
        if self._rule_of(value) is None or not isinstance(owner, Operation):
            return []
        return [each for each in tiles(owner.operands) if each not in self._known]

    def tagged(self, value: SSAValue, dims: Sequence[int]) -> Facts:
        """What the tags of some dimensions of a value say."""
        tags = tile.tile_type(value).tags
        found = [self._tagged(value, dim) for dim in dims if tags[dim]]
        return tuple(fact for fact in found if fact is not None)

    def _tagged(self, value: SSAValue, dim: int) -> LaneFact | None:
        tags = tile.tile_type(value).tags
        range = self.range_of(value, tags[dim])
        if range is None:
            return None
        loop = jagged_loop(range)
        owners = () if loop is None else loop.lengths_type.tags
        owned = bool(owners) and set(owners) <= set(tags)
        if (range, owned) not in self._ranges:
            self._ranges[range, owned] = self._range_validity(range, loop if owned else None)
        mask = self._ranges[range, owned]
        if mask is None:
            return None
        items = tuple(tags.index(owner) for owner in owners) if owned else ()
        return self.sorted(LaneFact(mask, (*items, dim), items, prefix=loop is None), value)

    def range_of(self, value: SSAValue, tag: str) -> SSAValue | None:
        """The range that a tag of a value's type names."""
        top = _outermost(value)
        if top not in self._scopes:
            self._scopes[top] = _ranges(top)
        return self._scopes[top].get(tag)

    def _range_validity(self, range: SSAValue, items: JaggedForOp | None) -> SSAValue | None:
        """A plain tile that holds on a range's valid lanes, for all that is in its scope."""
        if items is not None:
            lanes = self.insert(JaggedValidOp(range, items.lengths), range)
            limits = [self.range_of(range, tag) for tag in tile.tile_type(lanes).tags]
            return self.insert(tile.MaskOp(lanes, limits, 0, TileType(tile.tile_type(lanes).shape, i1)), range)
        if jagged_loop(range) is None and always_full(range):
            return None
        lanes = self.insert(tile.ValidOp(range), range)
        return self.insert(tile.ReshapeOp(lanes, TileType(tile.tile_type(lanes).shape, i1)), range)

    def sorted(self, fact: LaneFact, at: SSAValue) -> LaneFact:
        """A fact whose dimensions increase."""
        order = sorted(range(len(fact.dims)), key=fact.dims.__getitem__)
        if order == list(range(len(order))):
            return fact
        mask = self.insert(tile.TransposeOp(fact.mask, order), at)
        return replace(fact, mask=mask, dims=tuple(fact.dims[n] for n in order))

    def spread(self, fact: LaneFact, dims: Sequence[int], sizes: Sequence[DimLike], at: SSAValue) -> SSAValue:
        """A fact's mask over more dimensions, which have ``sizes``."""
        wide = TileType(sizes, i1)
        if fact.mask.type == wide:
            return fact.mask
        return self.insert(tile.BroadcastOp(fact.mask, [dims.index(dim) for dim in fact.dims], wide), at)

    def joined(self, facts: Facts, dims: Sequence[int], sizes: Sequence[DimLike], at: SSAValue) -> SSAValue | None:
        """Where all of some facts hold, over some dimensions."""
        result: SSAValue | None = None
        for fact in facts:
            mask = self.spread(fact, dims, sizes, at)
            result = mask if result is None else self.insert(tile.ELEMENTWISE["and"](result, mask), at)
        return result

    def insert(self, op: Operation, at: SSAValue) -> SSAValue:
        """Puts an op right after what makes a value, behind what was put there before."""
        owner = at.owner
        last = self._last.get(owner) or (owner if isinstance(owner, Operation) else None)
        assert last is not None or isinstance(owner, Block)
        place = InsertPoint.after(last) if last is not None else InsertPoint.at_start(owner)  # pyright: ignore
        if isinstance(owner, Operation):
            op.location = owner.location
        elif (around := owner.parent_op()) is not None:
            op.location = around.location
        Rewriter.insert_op(op, place)
        self._last[owner] = op
        return op.results[0]


def jagged_loop(range: SSAValue) -> JaggedForOp | None:
    """The jagged loop that binds a range, if one does."""
    owner = unshifted(range).owner
    loop = owner.parent_op() if isinstance(owner, Block) else None
    return loop if isinstance(loop, JaggedForOp) else None


def concerning(facts: Facts, dims: Sequence[int]) -> Facts:
    """The facts that speak of some dimensions."""
    return tuple(fact for fact in facts if not set(fact.dims).isdisjoint(dims))


def tiles(values: Sequence[SSAValue]) -> list[SSAValue]:
    """Those that are tiles."""
    return [value for value in values if isinstance(value.type, TileType)]


def _ranges(top: Operation) -> dict[str, SSAValue]:
    """Each range in an op by its tag: a tag names one binding."""
    found: dict[str, SSAValue] = {}
    for op in walk(top):
        bound = [*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)]
        for value in bound:
            if isinstance(value.type, RangeType) and not isinstance(value.owner, tile.ShiftOp):
                found[value.type.tag] = value
    return found


def _outermost(value: SSAValue) -> Operation:
    """The grid that a value is in; else what is outermost."""
    owner = value.owner
    op = owner if isinstance(owner, Operation) else owner.parent_op()
    assert op is not None
    while not isinstance(op, tile.GridOp) and (around := op.parent_op()) is not None:
        op = around
    return op
