"""The lanes that items have of jagged loops, as values at one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from kopt.analysis.jagged import Items, loops_around
from kopt.analysis.validity import ValidityBuilder
from kopt.dialects.jagged import ValidOp
from kopt.dialects.tile import BroadcastOp, TileType, TransposeOp


class ItemValidity(ValidityBuilder):
    """As `ValidityBuilder`, of the lanes that items have instead of those inside a range.

    ``of(value)`` speaks of dimensions that lost their tags; `lanes` of those that have them.
    """

    def __init__(self, user: Operation):
        super().__init__(InsertPoint.before(user))
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
        return valid if len(places) == type.rank else self._spread(valid, sorted(places), type)

    def all_lanes(self, type: TileType) -> list[SSAValue]:
        """`lanes` of every loop that limits a type."""
        found = [self.lanes(type, items) for items in self.loops]
        return [mask for mask in found if mask is not None]

    def both(self, masks: Iterable[SSAValue | None]) -> SSAValue | None:
        """Where all of some masks hold; None without any."""
        return self._all(list(masks))

    def _spread(self, valid: SSAValue, places: Sequence[int], type: TileType) -> SSAValue:
        return self._insert(BroadcastOp(valid, places, type.with_element(i1)))

    def _tagged_type(self, op: Operation, type: TileType, tags: list[str]) -> list[SSAValue | None]:
        lost = set(tags)
        return [self.lanes(type, items) for items in self.loops if not lost.isdisjoint(items.tags)]
