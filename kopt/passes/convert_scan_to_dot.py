"""The pass ``convert-scan-to-dot``: running sums of lanes by products with a triangle of ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, bf16, f32, i32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.running_sums import Bf16Numbers, is_product, totals_of
from kopt.dialects.builder import Builder, named
from kopt.dialects.tile import BitcastOp, ConcatOp, DotOp, ReduceOp, ReshapeOp, ScanOp, tile_type
from kopt.passes.meaning import REASSOCIATES
from kopt.targets.chips import TPU_CHIPS, TpuChip, chip_option
from kopt.walk import walk

_INF = float("inf")
#: What stands for one number that is not finite: sums of as many as a matrix unit has lanes are finite.
_FLAG = 2.0**119
#: Counts an infinity or NaN where one product counts those and, by -1, minus infinities and NaN.
_UP = 2.0**-8
#: Makes any sum of flags infinite.
_BEYOND = 2.0**9
#: Numbers of bf16 that an f32 is.
_PARTS = 3
#: The upper half of an f32's bits, a number of bf16.
_UPPER = -(2**16)


@dataclass(frozen=True)
class ConvertScanToDotPass(ModulePass):
    """Computes running sums by the matrix unit, as many lanes at a time as it has columns.

        %s = tile.scan add %v dim 1 : !tile.tile<b0=128 x b1=256 x f32>
    becomes, of a %v that is cast from bf16,
        %n = tile.cast %v …                                  // bf16
        %below = tile.lt %n, inf   %above = tile.gt %n, -inf   %finite = tile.select %both, %n, 0
        %d = tile.dot %finite, %ones   %up = tile.dot %flags, %ones   %down = tile.dot …
        %i = tile.sub %up, %down   %s = tile.add %d, %i      // %up and %down are 0 or infinite

    A product would spread an infinity or NaN over the whole row. So two more products count them: one counts infinities
    and NaN, the other minus infinities and NaN. Lanes behind an infinity become infinite; lanes behind both kinds
    become NaN, as by additions. Of blocks of fewer than 256 lanes one product counts both, in fractions and in ones:

        %counts = tile.dot %both_flags, %ones   %up = tile.select (%counts is whole), %d, inf
        %down = tile.select (%counts < 0), -inf, 0   %s = tile.add %up, %down

    A number that bf16 does not hold is split into three parts that it holds, without a loss.

    A sum of all lanes of what is scanned is the last lane of its running sum, so it costs no reduction:

        %t = tile.reduce add %v [1]
    becomes
        %l = tile.slice %s [0, 255] [128, 1] [1, 1]   %t = tile.reshape %l …

    Scans of other kinds, along other dimensions, of few or many lanes, stay. ``chip`` says how many lanes one product
    takes, and whether numbers of 16 bits are compared as they are.
    """

    name = "convert-scan-to-dot"
    meaning = REASSOCIATES

    chip: str = chip_option(TPU_CHIPS, "tpu7x")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        numbers, chip = Bf16Numbers(), TPU_CHIPS[self.chip]
        for scan in walk(op, ScanOp):
            if is_product(scan):
                totals = totals_of(scan)
                _put_before(scan, totals)
                RunningSum(scan, numbers.has(scan.input), chip).replace(totals)


def _put_before(scan: ScanOp, totals: Sequence[ReduceOp]) -> None:
    """Moves a scan to where its input's sums are needed first."""
    if totals and totals[0].is_before_in_block(scan):
        scan.detach()
        Rewriter.insert_op(scan, InsertPoint.before(totals[0]))


class RunningSum:
    """One scan, whose numbers bf16 holds or not."""

    def __init__(self, op: ScanOp, narrow: bool, chip: TpuChip):
        self.op, self.narrow, self.width = op, narrow, chip.mxu_size
        self.build, self.back = Builder(op), op.reverse is not None
        self.element = bf16 if narrow and chip.bf16_vectors else f32
        self._ones: dict[int, SSAValue] = {}

    def replace(self, totals: Sequence[ReduceOp]) -> None:
        """Puts sums in the place of the scan, and the last of them in the place of the totals."""
        build, dims = self.build, tile_type(self.op.input).dims.data
        value = build.cast(self.op.input, self.element)
        lanes = dims[1].size.data
        plain = build.reshape(value, [dims[0], lanes]) if totals or lanes > self.width else value
        cuts = [(first, min(first + self.width, lanes)) for first in range(0, lanes, self.width)]
        parts: list[SSAValue] = []
        for first, end in reversed(cuts) if self.back else cuts:
            sums = self._block(build.cut(plain, first, end))
            parts.append(self._behind(parts[-1], sums) if parts else sums)
        if totals:
            self._replace_totals(totals, self._last(parts[-1]))
        whole = parts[0] if len(parts) == 1 else build.add(ConcatOp(parts[::-1] if self.back else parts, 1))
        build.replace(build.reshape(whole, dims))

    def _replace_totals(self, totals: Sequence[ReduceOp], last: SSAValue) -> None:
        """Uses the last sums for the totals; where those get a dimension of one lane, the sums have it already."""
        whole = self.build.reshape(last, tile_type(totals[0].result).dims.data)
        for total in totals:
            for op in [use.operation for use in total.result.uses]:
                if isinstance(op, ReshapeOp) and op.result.type == last.type:
                    Builder(op).replace(last)
            Builder(total).replace(whole)

    def _behind(self, before: SSAValue, sums: SSAValue) -> SSAValue:
        """The sums of a block of lanes after what the one before it adds up to."""
        last = self.build.spread(self._last(before), tile_type(sums).dims.data, [0, 1])
        return self.build.compute("add", last, sums)

    def _last(self, sums: SSAValue) -> SSAValue:
        """The lane that all lanes of a block add to."""
        count = tile_type(sums).shape[1]
        return self.build.cut(sums, 0, 1) if self.back else self.build.cut(sums, count - 1, count)

    def _block(self, value: SSAValue) -> SSAValue:
        """The running sums of one block of lanes."""
        build = self.build
        below = named(build.with_number("lt", value, _INF), "below")
        above = named(build.with_number("gt", value, -_INF), "above")
        finite = build.select(build.compute("and", below, above), value, build.full(0.0, value))
        parts = map(self._sums, self._parts(named(finite, "finite")))
        sums = named(reduce(lambda a, b: build.compute("add", a, b), parts), "sums")
        if tile_type(value).shape[1] * _UP < 1:
            return self._counted(sums, below, above)
        up, down = named(self._infinite(below, value), "up"), named(self._infinite(above, value), "down")
        return build.compute("add", sums, build.compute("sub", up, down))

    def _counted(self, sums: SSAValue, below: SSAValue, above: SSAValue) -> SSAValue:
        """The sums with infinities behind what is not finite, which one product counts: up in fractions, down in ones.

        All counts are exact: a NaN is both, which bf16 holds, and the fractions of a block add up to less than one.
        """
        build = self.build
        none, down, up, both = (build.full(count, below, self.element) for count in (0.0, -1.0, _UP, _UP - 1.0))
        flags = build.select(below, build.select(above, none, down), build.select(above, up, both))
        counts = named(self._sums(flags), "counts")
        is_whole = build.compute("eq", counts, build.compute("floor", counts))
        raised = build.select(is_whole, sums, build.full(_INF, sums))
        is_down = build.with_number("lt", counts, 0.0)
        return build.compute("add", raised, build.select(is_down, build.full(-_INF, sums), build.full(0.0, sums)))

    def _infinite(self, inside: SSAValue, value: SSAValue) -> SSAValue:
        """Infinity from the first lane on that is not inside, 0 before it."""
        build = self.build
        flags = build.select(inside, build.full(0.0, value), build.full(_FLAG, value))
        return build.with_number("mul", self._sums(flags), _BEYOND)

    def _parts(self, value: SSAValue) -> list[SSAValue]:
        """Numbers of bf16 that add up to a value, the smallest first."""
        parts, build = [], self.build
        for _ in range(0 if self.narrow else _PARTS - 1):
            upper = build.with_number("and", build.add(BitcastOp(value, i32)), _UPPER)
            parts.append(build.add(BitcastOp(upper, f32)))
            value = build.compute("sub", value, parts[-1])
        return [value, *reversed(parts)]

    def _sums(self, value: SSAValue) -> SSAValue:
        ones = self._triangle(value)
        return self.build.add(DotOp(self.build.cast(value, bf16), ones, element_type=f32))

    def _triangle(self, value: SSAValue) -> SSAValue:
        """Ones where the lane of a row adds to that of a column."""
        build, lane = self.build, tile_type(value).dims.data[1]
        size = lane.size.data
        if size not in self._ones:
            row, column = (build.numbers(size, [lane, lane], place) for place in (0, 1))
            adds = build.compute("ge" if self.back else "le", row, column)
            ones = build.select(adds, build.full(1.0, adds, f32), build.full(0.0, adds, f32))
            self._ones[size] = named(build.cast(ones, bf16), "ones")
        return self._ones[size]
