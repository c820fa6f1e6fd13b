"""The lanes that items have of jagged loops, as values at one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from kopt.analysis.jagged import Items, loops_around
from kopt.analysis.lane_facts import Facts, LaneFact
from kopt.analysis.validity import LaneValidity
from kopt.dialects.builder import Builder
from kopt.dialects.jagged import ValidOp
from kopt.dialects.tile import BroadcastOp, ReshapeOp, TileType, tile_type


class ItemValidity(LaneValidity):
    """As `LaneValidity`, of the lanes that items have instead of those inside a range.

    ``of(value)`` speaks of dimensions that lost their tags; `lanes` of those that have them.
    """

    def __init__(self, user: Operation):
        super().__init__()
        self._build = Builder(user)
        self.loops = loops_around(user)

    def lanes(self, type: TileType, items: Items) -> SSAValue | None:
        """The lanes of a type that some items have, or None where it does not have all of their dimensions."""
        places = items.dims_of(type)
        if places is None:
            return None
        valid = self._build.add(ValidOp(items.range, items.lengths))
        valid = self._build.transpose(valid, sorted(range(len(places)), key=places.__getitem__))
        if len(places) == type.rank:
            return valid
        return self._build.add(BroadcastOp(valid, sorted(places), type.with_element(i1)))

    def all_lanes(self, type: TileType) -> list[SSAValue]:
        """`lanes` of every loop that limits a type."""
        found = [self.lanes(type, items) for items in self.loops]
        return [mask for mask in found if mask is not None]

    def both(self, masks: Iterable[SSAValue | None]) -> SSAValue | None:
        """Where all of some masks hold; None without any."""
        return reduce(self._build.both, masks, None)

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
