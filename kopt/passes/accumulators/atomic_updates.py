"""Accesses of a target become gets and puts of its scratch block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.windows import Accesses
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import (
    COMBINING_OPS,
    ELEMENTWISE,
    CastOp,
    FullOp,
    LoadOp,
    MaskOp,
    SelectOp,
    StoreOp,
    element_of,
    is_float,
    is_range,
    literal,
    literal_value,
    tile_type,
)
from kopt.dialects.tile.index_list import block_axes
from kopt.ir.ranges import unshifted
from kopt.passes.accumulators.block import AccumulatorBlock
from kopt.passes.accumulators.place import ScratchAccess


class Updates:
    """Rewrites every access of one target; see `rewrite`."""

    def __init__(self, block: AccumulatorBlock):
        self.block = block
        self.exact = block.target.turns is not None
        """Whether each update is rounded to the target's type, since its effect may be seen."""

    def rewrite(self) -> None:
        """Puts the ops that do on the scratch block what each access does in memory in its place."""
        rewrites: dict[type[Operation], Callable[[ScratchAccess, Accesses], None]] = {
            RmwOp: self._rmw,
            CasOp: self._cas,
            LoadOp: self._load,
            StoreOp: self._store,
        }
        for access in self.block.target.accesses:
            values = list(access.operands)
            rewrites[type(access)](ScratchAccess(self.block, access), access)
            erase_dead(values)

    def _rmw(self, place: ScratchAccess, op: Accesses) -> None:
        assert isinstance(op, RmwOp)
        old = place.get()
        old.name_hint = "old"
        value = place.spread(self._wide(op.value, place))
        if op.kind.data != "xchg":
            value = place.build.add(ELEMENTWISE[COMBINING_OPS[op.kind.data]](old, value))
        self._update(place, op, old, value)

    def _cas(self, place: ScratchAccess, op: Accesses) -> None:
        assert isinstance(op, CasOp)
        old = place.get()
        expected, desired = (place.spread(self._wide(value, place)) for value in (op.expected, op.desired))
        equal = place.build.add(ELEMENTWISE["eq"](old, expected))
        self._update(place, op, old, place.build.add(SelectOp(equal, desired, old)))

    def _update(self, place: ScratchAccess, op: RmwOp | CasOp, old: SSAValue, new: SSAValue) -> None:
        """Writes the new lanes that count, and gives the old ones to who uses them."""
        if self.exact:
            new = place.build.cast(place.build.cast(new, self.block.outside), self.block.element)
        kept = place.kept(op.mask)
        if kept is not None:
            new = place.build.add(SelectOp(kept, new, old))
        new.name_hint = "new"
        place.put(new)
        for previous in op.results:
            if previous.first_use is not None:
                self._give(place, previous, place.collapse(old))
        Rewriter.erase_op(op)

    def _load(self, place: ScratchAccess, op: Accesses) -> None:
        assert isinstance(op, LoadOp)
        value = place.collapse(place.get())
        if op.pad is not None:
            axes = block_axes(op.entries, place.shape)
            ranges = [e if is_range(e := op.entries[axis.position]) else None for axis in axes]
            limits = [unshifted(e) if isinstance(e, SSAValue) else None for e in ranges]
            value = place.build.add(MaskOp(value, limits, literal(literal_value(op.pad), self.block.element)))
        if op.mask is not None:
            other = literal_value(op.other) if op.other is not None else 0
            value = place.build.add(SelectOp(op.mask, value, place.build.add(FullOp(other, tile_type(value)))))
        self._give(place, op.result, value)
        Rewriter.erase_op(op)

    def _store(self, place: ScratchAccess, op: Accesses) -> None:
        assert isinstance(op, StoreOp)
        value = place.spread(place.build.cast(op.value, self.block.element))
        kept = place.kept(op.mask)
        place.put(value if kept is None else place.build.add(SelectOp(kept, value, place.get())))
        Rewriter.erase_op(op)

    def _wide(self, value: SSAValue, place: ScratchAccess) -> SSAValue:
        """A value in the scratch block's type: as it was before it was rounded to the target's, where that is free."""
        cast = value.owner
        if isinstance(cast, CastOp) and not self.exact and is_float(self.block.outside):
            if element_of(cast.input) == self.block.element:
                return cast.input
        return place.build.cast(value, self.block.element)

    def _give(self, place: ScratchAccess, result: SSAValue, value: SSAValue) -> None:
        value = place.build.cast(value, self.block.outside)
        value.name_hint = result.name_hint
        result.replace_all_uses_with(value)


def erase_dead(values: Sequence[SSAValue]) -> None:
    """Erases the roundings that values were made by and that nothing uses any more."""
    for value in values:
        if isinstance(value.owner, CastOp) and value.first_use is None:
            Rewriter.erase_op(value.owner)
