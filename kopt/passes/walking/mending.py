"""Sums that are rescaled at each visit by how much the maximum has changed on which they depend.

    %t = tile.reduce max %x [1]     %e = tile.exp (%x - %t)     %s = tile.reduce add %e [1]
becomes, in a loop that carries ``%m`` and ``%a``,
    %n = tile.maximum %m, (tile.reduce max %part [1])
    %f = tile.exp (%m - %n)
    %s = tile.add (%a * %f), (tile.reduce add (tile.exp (%part - %n)) [1])
"""

from __future__ import annotations

from math import isclose

from xdsl.ir import Operation, SSAValue

from kopt.analysis.walks.rescaling import Rescaling
from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    CastOp,
    DimAttr,
    FullOp,
    ReshapeOp,
    SelectOp,
    neutral,
    tile_type,
)
from kopt.passes.parts import Parts

_E = ELEMENTWISE


class Mending:
    """Rescales what a loop carries: ``old`` and ``new`` are the maximum before and after a visit."""

    def __init__(self, how: Rescaling, parts: Parts, old: SSAValue, new: SSAValue, source: Operation):
        self.how, self.parts, self.old, self.new, self.source = how, parts, old, new, source

    def rescaled(self, carried: SSAValue) -> SSAValue:
        """What was summed with the old maximum as if it had been with the new one.

        A maximum that stays scales by 1, though it be infinite; beside one that was -inf, all was 0. Where the kernel
        subtracts -inf itself, that 0 may be NaN, and is dropped.
        """
        one = self._full(1)
        stays = self._add(_E["eq"](self._lanes(self.old), self._lanes(self.new)))
        none = self._full(neutral(self.how.top.kind.data, tile_type(self.old).element_type))
        fresh = self._add(_E["eq"](self._lanes(self.old), none))
        kept = self._add(_E["or"](stays, fresh)) if self.how.guarded else stays
        factor = self._over(self._add(SelectOp(kept, one, self._factor())), carried)
        if tile_type(factor) != tile_type(carried):
            factor = self._add(CastOp(factor, tile_type(carried).element_type))
        scaled = self._add(_E["mul"](carried, factor))
        if self.how.guarded:
            return scaled
        dropped = self._over(self._add(_E["and"](fresh, self._add(_E["not"](stays)))), carried)
        return self._add(SelectOp(dropped, self._add(FullOp(0, tile_type(carried))), scaled))

    def _factor(self) -> SSAValue:
        """``exp(rate * (new - old))`` of the shift."""
        before = Parts(self.parts.loop)
        before.changes(self.how.top.result, self.old)
        old, new = (self._lanes(parts.now(self.how.shift)) for parts in (before, self.parts))
        rate = self.how.rate
        change = self._add(_E["sub"](new, old) if rate > 0 else _E["sub"](old, new))
        if not isclose(abs(rate), 1):
            change = self._add(_E["mul"](change, self._full(abs(rate))))
        return self._add(_E["exp"](change))

    def _dims(self) -> list[DimAttr]:
        return [dim for dim in tile_type(self.how.shift).dims.data if dim != DimAttr(1)]

    def _lanes(self, value: SSAValue) -> SSAValue:
        """A value without dimensions of one lane."""
        type = tile_type(value).with_dims(self._dims())
        return value if value.type == type else self._add(ReshapeOp(value, type))

    def _full(self, number: float) -> SSAValue:
        return self._add(FullOp(number, tile_type(self.old).with_dims(self._dims())))

    def _over(self, value: SSAValue, carried: SSAValue) -> SSAValue:
        """A value in all lanes of what is carried."""
        type = tile_type(carried).with_element(tile_type(value).element_type)
        return value if value.type == type else self._add(BroadcastOp(value, self.how.dims, type))

    def _add(self, op: Operation) -> SSAValue:
        return self.parts.add(op, self.source)
