"""What the lanes outside their range hold, where that is known: ``padding(value, tag)``.

Used to leave out masks whose fill is already there: ``exp`` of a load padded with ``-inf`` holds 0, so summing it
needs no mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from kopt.analysis.bottom_up import bottom_up
from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    CastOp,
    ElementwiseOp,
    FullOp,
    LoadOp,
    MaskOp,
    RangeType,
    ReduceOp,
    ReshapeOp,
    SelectOp,
    TileType,
    TransposeOp,
    is_float,
    literal_value,
    tile_type,
)

Number = float | int

#: Elementwise ops whose value on known numbers is the same on every target, exactly.
_EXACT: dict[str, Callable[..., Any]] = {
    "neg": lambda a: -a,
    "abs": lambda a: abs(a),
    "maximum": lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else max(a, b),
    "minimum": lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else min(a, b),
    "add": lambda a, b: a + b if 0 in (a, b) else math.nan,
    "sub": lambda a, b: a if b == 0 else math.nan,
    "mul": lambda a, b: a * b if {a, b} & {-1, 0, 1} else math.nan,
    "exp": lambda a: {-math.inf: 0.0, 0.0: 1.0}.get(a, math.nan),
    "exp2": lambda a: {-math.inf: 0.0, 0.0: 1.0}.get(a, math.nan),
}

#: Elementwise ops whose value on a positive number is finite, and nearly the same on every target.
_NEAR: dict[str, Callable[[float], float]] = {
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
}
#: Numbers of which no element type makes 0 or infinity, nor targets that flush small ones.
_NORMAL = (1e-30, 1e30)


class Inexact(float):
    """A finite number that is known nearly: equal to none."""

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return super().__hash__()


def padding(value: SSAValue, tag: str) -> Number | None:
    """The number that every lane of ``value`` outside the range tagged ``tag`` holds, or None if not known."""
    return Padding({tag}).of(value)


class Padding:
    """What some lanes of a value hold: those outside the range of ``tags``' only one.

    Subclasses speak of other lanes, which dimensions tagged ``tags`` tell together, by what a load and a mask put
    there, and which conditions do not hold there.
    """

    beside_others = True
    """Whether no row of lanes is of those lanes alone: a range has a lane inside it, an item may have none."""

    def __init__(self, tags: set[str]):
        self.tags = tags

    @bottom_up()
    def of(self, value: SSAValue) -> Number | None:
        """The number that all of those lanes of ``value`` hold, or None if not known."""
        op = value.owner
        if isinstance(op, FullOp):
            return op.number
        if isinstance(op, LoadOp):
            return self._load(op)
        if isinstance(op, MaskOp):
            return self._mask(op)
        if isinstance(op, CastOp):
            return _cast(self.of(op.input), op.result.type)
        if isinstance(op, TransposeOp):
            return self.of(op.input)
        if isinstance(op, BroadcastOp | ReshapeOp):
            tells = isinstance(op.input.owner, FullOp) or self.tags <= set(op.input_type.tags)
            return self.of(op.input) if tells else None
        if isinstance(op, SelectOp) and self.never(op.condition):
            return self.of(op.on_false)
        if isinstance(op, ELEMENTWISE["sub"]) and self._is_below_maximum(*op.inputs):
            return -math.inf
        if isinstance(op, ElementwiseOp):
            inputs = [self.of(operand) for operand in op.inputs]
            known = [number for number in inputs if number is not None]
            return _computed(op.ROW.name, known) if len(known) == len(inputs) else None
        return None

    def _is_below_maximum(self, lanes: SSAValue, largest: SSAValue) -> bool:
        """Whether lanes of -inf are less the maximum of their row: -inf, or NaN where all lanes of the row are.

        A maximum of -inf or NaN makes all lanes NaN. So whatever combines the row is NaN with those lanes or without.
        """
        top = _repeated_reduction(largest)
        if not self.beside_others or top is None or top.kind.data != "max" or top.input is not lanes:
            return False
        tags = tile_type(top.input).tags
        return self.tags <= {tags[dim] for dim in top.dimensions} and self.of(lanes) == -math.inf

    def _load(self, op: LoadOp) -> Number | None:
        return literal_value(op.pad) if op.pad is not None else None

    def _mask(self, op: MaskOp) -> Number | None:
        for limit in op.limits:
            if limit is not None and isinstance(limit.type, RangeType) and limit.type.tag in self.tags:
                return op.fill_number
        inner = self.of(op.input)
        return inner if inner == op.fill_number else None

    def never(self, condition: SSAValue) -> bool:
        """Whether a condition is known to hold in none of those lanes."""
        return False


def _repeated_reduction(value: SSAValue) -> ReduceOp | None:
    """The reduction of which each lane of a value holds the result for its own row."""
    if not isinstance(value.owner, BroadcastOp):
        return None
    source = value.owner.input
    result = source.owner.input if isinstance(source.owner, ReshapeOp) else source
    if not isinstance(result.owner, ReduceOp):
        return None
    kept = [dim for dim in range(tile_type(result.owner.input).rank) if dim not in result.owner.dimensions]
    rows = [(dim, size) for dim, size in zip(kept, tile_type(result).shape, strict=True) if size > 1]
    places = zip(value.owner.mapping, tile_type(source).shape, strict=True)
    return result.owner if rows == [(dim, size) for dim, size in places if size > 1] else None


def _computed(name: str, inputs: Sequence[Number]) -> Number | None:
    """What an elementwise op makes of known numbers."""
    if name in _NEAR:
        (number,) = inputs
        return Inexact(_NEAR[name](number)) if _NORMAL[0] < number < _NORMAL[1] else None
    if name not in _EXACT:
        return None
    exact = [number for number in inputs if not isinstance(number, Inexact)]
    if name == "mul" and 0 in exact:
        return 0.0 if all(map(math.isfinite, inputs)) else math.nan
    found = _EXACT[name](*inputs)
    return found if len(exact) == len(inputs) else Inexact(found) if math.isfinite(found) else None


class LoadPadding(Padding):
    """What those lanes hold if loads that pad nothing yet pad with a number; ``loads`` are those that were asked."""

    def __init__(self, tags: set[str], number: Number, takes: Callable[[LoadOp, Number], bool]):
        super().__init__(tags)
        self.loads: dict[LoadOp, None] = {}
        self._number, self._takes = number, takes

    def _load(self, op: LoadOp) -> Number | None:
        if op.pad is not None:
            return super()._load(op)
        if not self._takes(op, self._number):
            return None
        self.loads[op] = None
        return self._number


def _cast(number: Number | None, type: Any) -> Number | None:
    assert isinstance(type, TileType)
    exact = number is not None and (math.isinf(number) or number in (-1, 0, 1))
    if not exact or number is None:
        return None
    if is_float(type.element_type):
        return float(number)
    return int(number) if isinstance(type.element_type, IntegerType) and not math.isinf(number) else None
