"""The lanes that items have of jagged loops, as values at one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.jagged import Items, loops_around
from kopt.analysis.lane_facts import Facts, LaneFact
from kopt.analysis.validity import ValidityBuilder
from kopt.dialects.jagged import ValidOp
from kopt.dialects.tile import ELEMENTWISE, BroadcastOp, ReshapeOp, TileType, TransposeOp, tile_type


class ItemValidity(ValidityBuilder):
    """As `ValidityBuilder`, of the lanes that items have instead of those inside a range.

    ``of(value)`` speaks of dimensions that lost their tags; `lanes` of those that have them.
    """

    def __init__(self, user: Operation):
        super().__init__()
        self._at = InsertPoint.before(user)
        self.loops = loops_around(user)

    def lanes(self, type: TileType, items: Items) -> SSAValue | None:
        """The lanes of a type that some items have, or None where it does not have all of their dimensions."""
        places = items.dims_of(type)
        if places is None:
            return None
        valid = self._insert(ValidOp(items.range, items.lengths))
        order = sorted(range(len(places)), key=places.__getitem__)
        if order != list(range(len(places))):
            valid = self._insert(TransposeOp(valid, order))
        if len(places) == type.rank:
            return valid
        return self._insert(BroadcastOp(valid, sorted(places), type.with_element(i1)))

    def all_lanes(self, type: TileType) -> list[SSAValue]:
        """`lanes` of every loop that limits a type."""
        found = [self.lanes(type, items) for items in self.loops]
        return [mask for mask in found if mask is not None]

    def both(self, masks: Iterable[SSAValue | None]) -> SSAValue | None:
        """Where all of some masks hold; None without any."""
        result: SSAValue | None = None
        for mask in masks:
            if mask is not None:
                result = mask if result is None else self._insert(ELEMENTWISE["and"](result, mask))
        return result

    def tagged(self, value: SSAValue, dims: Sequence[int]) -> Facts:
        """What loops over items say of some dimensions."""
        facts: list[LaneFact] = []
        for items in self.loops:
            places = items.dims_of(tile_type(value))
            if places is not None and not set(places).isdisjoint(dims):
                valid = self.insert(ValidOp(items.range, items.lengths), items.range)
                plain = self.insert(ReshapeOp(valid, TileType(tile_type(valid).shape, i1)), items.range)
                facts.append(self.sorted(LaneFact(plain, places, places[:-1]), value))
        return tuple(facts)

    def _insert(self, op: Operation) -> SSAValue:
        Rewriter.insert_op(op, self._at)
        return op.results[0]
