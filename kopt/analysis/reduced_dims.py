"""Row statistics that loops carry: what reductions along lanes give, and what is computed of it lane by lane.

Pure: `carried_rows` finds them, ``keep-reduced-dims`` rewrites them.

A reduction of ``rows x columns`` gives a number for each row. It stands in the sublanes where the rows were, and is
spread along lanes without moving, as a value of ``rows x 1``. As a value of ``rows`` it stands in lanes: each way
there and back is a relayout.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, SSAValue, Use

from kopt.analysis.storage import is_narrow
from kopt.analysis.ties import HANDING, Ties, carrying, in_loop
from kopt.dialects.tile import (
    ELEMENTWISE,
    CastOp,
    DimAttr,
    FullOp,
    ReduceOp,
    ReshapeOp,
    SelectOp,
    TileType,
    element_of,
    tile_type,
)
from kopt.walk import walk

_LANE_BY_LANE = (*ELEMENTWISE.values(), SelectOp, CastOp)
_TIES = Ties(lambda op: op.operands if isinstance(op, _LANE_BY_LANE) else ())


def kept(type: TileType) -> TileType:
    """The type with a last dimension of one lane."""
    return type.with_dims((*type.dims.data, DimAttr(1)))


def keeps(op: Operation, value: SSAValue) -> bool:
    """Whether an op does no more than to give a value that dimension."""
    return isinstance(op, ReshapeOp) and op.result.type == kept(tile_type(value))


@dataclass(frozen=True)
class Rows:
    """Values that are computed of each other lane by lane, or handed on by loops and branches: all of one shape."""

    values: tuple[SSAValue, ...]

    @property
    def given(self) -> list[SSAValue]:
        """Those that other ops make, constants left out."""
        return [value for value in self._computed if not _TIES.makes(value)]

    @property
    def _computed(self) -> list[SSAValue]:
        """All but constants, of which other ops have their own."""
        return [value for value in self.values if not isinstance(value.owner, FullOp)]

    def taken(self, value: SSAValue) -> list[Use]:
        """The uses of one by other ops."""
        inside = frozenset(self.values)
        return [use for use in value.uses if _TIES.result(use) not in inside]

    @property
    def pays(self) -> bool:
        """Whether loops carry some, and change layouts less often where these keep the dimension."""
        carried = any(carrying(value) for value in self.values)
        crossing = [*self.given, *(value for value in self._computed if self.taken(value))]
        legal = not any(element_of(value) == i1 or is_narrow(element_of(value)) for value in crossing)
        return carried and legal and self._relayouts() < 0

    def _relayouts(self) -> int:
        """How many more relayouts there are in loops with the dimension than without."""
        return sum(-1 if fits else 1 for op, fits in self._changes(self.values) if in_loop(op))

    def _changes(self, values: Collection[SSAValue]) -> Iterator[tuple[Operation, bool]]:
        """The ops that make some of the values for the others, or take them, and whether these have the dimension."""
        for value in self.given:
            if value in values and isinstance(value.owner, Operation):
                yield value.owner, _reduces_lanes(value.owner)
        for value in self._computed:
            if value in values:
                yield from ((use.operation, keeps(use.operation, value)) for use in self.taken(value))

    @property
    def without_ends(self) -> Rows:
        """The same without what is computed behind all loops, if fewer values change their layout there so."""
        made = ((value, value.owner) for value in self._computed)
        ends = {value for value, op in made if not isinstance(op, (Block, *HANDING)) and not in_loop(op)}
        while more := {value for value in ends if not self._results(value) <= ends}:
            ends -= more
        changing = sum(-1 if fits else 1 for _, fits in self._changes(ends))
        border = [value for value in self._computed if value not in ends and not self._results(value).isdisjoint(ends)]
        if len(border) >= changing:
            return self
        return Rows(tuple(value for value in self.values if value not in ends))

    def _results(self, value: SSAValue) -> set[SSAValue]:
        """The values that are made of one."""
        results = (_TIES.result(use) for use in value.uses)
        return {result for result in results if result is not None and result in self.values}


def carried_rows(top: Operation) -> Iterator[Rows]:
    """The row statistics that loops carry, and that are better off with the dimension that was reduced."""
    seen: set[SSAValue] = set()
    for op in walk(top, ReduceOp):
        if op.result not in seen and _reduces_lanes(op) and in_loop(op):
            whole = Rows(_TIES.component(op.result))
            seen.update(whole.values)
            if rows := next((rows for rows in (whole.without_ends, whole) if rows.pays), None):
                yield rows


def _reduces_lanes(op: object) -> bool:
    """Whether an op reduces the last dimension alone, and leaves others."""
    return isinstance(op, ReduceOp) and op.dimensions == (tile_type(op.input).rank - 1,) != (0,)
