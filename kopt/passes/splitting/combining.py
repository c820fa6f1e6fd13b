"""The results of all parts of a reduction from those of each, which stand one behind another in a first dimension.

%m = tile.reduce max %tops [0]
%f = tile.exp (%tops - %m)                        1 where they are equal
%s = tile.reduce add (%sums * %f) [0]             what is `Rescaled` by the maximum
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.analysis.combiners import Combination, Combiner, Placed, Rescaled
from kopt.dialects.builder import Builder
from kopt.dialects.tile import COMBINING_OPS, ArgReduceOp, DimAttr, ReduceOp, element_of, neutral, tile_type


def combined(
    build: Builder, how: Sequence[Combiner], parts: Sequence[SSAValue], starts: Sequence[SSAValue | None]
) -> list[SSAValue]:
    """The carried values after all parts: of those of each part, and of what the loop itself starts from, if any."""
    combining = _Combining(build, how)
    alone = [combining.of_parts(number, parts) for number in range(len(how))]
    return [combining.with_start(number, alone, starts) for number in range(len(how))]


class _Combining:
    """Combines the values that one loop carries."""

    def __init__(self, build: Builder, how: Sequence[Combiner]):
        self.build, self.how = build, how

    def of_parts(self, number: int, parts: Sequence[SSAValue]) -> SSAValue:
        """One carried value over all parts, which are the lanes of a first dimension."""
        how, build = self.how[number], self.build
        own = parts[number]
        if isinstance(how, Combination):
            return build.add(ReduceOp(how.kind, own, [0]))
        if isinstance(how, Placed):
            return self._at_best(own, parts[how.best], self._kind(how.best))
        top = self.of_parts(how.top, parts)
        old = self._lanes(parts[how.top])
        new = build.spread(self._lanes(top), tile_type(old).dims.data, range(1, tile_type(old).rank))
        places = [0, *(dim + 1 for dim in how.dims)]
        return build.add(ReduceOp("add", self._rescaled(own, old, new, how, places), [0]))

    def with_start(self, number: int, alone: Sequence[SSAValue], starts: Sequence[SSAValue | None]) -> SSAValue:
        """One carried value, with what the loop itself starts from."""
        how, value, start = self.how[number], alone[number], starts[number]
        if start is None:
            return value
        if isinstance(how, Combination):
            return self.build.compute(COMBINING_OPS[how.kind], start, value)
        assert isinstance(how, Rescaled)
        old, new = alone[how.top], self.with_start(how.top, alone, starts)
        first = starts[how.top]
        if first is None:
            first = self.build.full(self._least(how.top, old), old)
        top = self._lanes(new)
        both = [
            self._rescaled(*pair, top, how, how.dims)
            for pair in ((start, self._lanes(first)), (value, self._lanes(old)))
        ]
        return self.build.compute("add", *both)

    def _rescaled(
        self, value: SSAValue, old: SSAValue, new: SSAValue, how: Rescaled, places: Sequence[int]
    ) -> SSAValue:
        """A sum that was made with the maximum ``old`` as if it had been with ``new``.

        One beside a maximum of nothing, -inf, is 0, even where the kernel made NaN of it.
        """
        build, dims = self.build, tile_type(value).dims.data
        stays = build.compute("eq", old, new)
        change = build.compute("sub", *((new, old) if how.rate > 0 else (old, new)))
        if not isclose(abs(how.rate), 1):
            change = build.with_number("mul", change, abs(how.rate))
        factor = build.select(stays, build.full(1, change), build.compute("exp", change))
        scaled = build.compute("mul", value, build.spread(build.cast(factor, element_of(value)), dims, places))
        none = build.with_number("eq", old, self._least(how.top, old))
        dropped = build.spread(build.compute("and", none, build.compute("not", stays)), dims, places)
        return build.select(dropped, build.full(0, value), scaled)

    def _at_best(self, own: SSAValue, best: SSAValue, kind: str) -> SSAValue:
        """The value of the first part whose best is that of all."""
        build, dims = self.build, tile_type(own).dims.data
        part = build.add(ArgReduceOp(kind, best, 0))
        count = tile_type(own).shape[0]
        part = build.spread(build.cast(part, i32), dims, range(1, len(dims)))
        here = build.compute("eq", build.numbers(count, dims, 0), part)
        return build.add(ReduceOp("add", build.select(here, own, build.full(0, own)), [0]))

    def _kind(self, number: int) -> str:
        how = self.how[number]
        assert isinstance(how, Combination)
        return how.kind

    def _least(self, top: int, like: SSAValue) -> float | int:
        return neutral(self._kind(top), element_of(like))

    def _lanes(self, value: SSAValue) -> SSAValue:
        """A value without dimensions of one lane, but for that of the parts."""
        dims = tile_type(value).dims.data
        return self.build.reshape(value, [dim for dim in dims if dim != DimAttr(1)])
