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
from kopt.targets.tiling import LANES
from kopt.walk import walk

_INF = float("inf")
#: The largest numbers of bf16 and of f32, which stand for what is not finite: a block of NaNs adds up to infinity.
_MOST = {True: float.fromhex("0x1.fep127"), False: float.fromhex("0x1.fffffep127")}
#: What counts infinities: fractions of a block's lanes, all NaN or less, are no whole number. A NaN is one of either.
_UP, _DOWN, _NAN = 2.0**-9, -1.0, 2.0**-8 - 1.0
#: Numbers of bf16 that an f32 is.
_PARTS = 3
#: The upper half of an f32's bits, a number of bf16.
_UPPER = -(2**16)


@dataclass(frozen=True)
class ConvertScanToDotPass(ModulePass):
    """Computes running sums by the matrix unit, as many lanes at a time as it has columns.

        %s = tile.scan add %v dim 1 : !tile.tile<b0=128 x b1=256 x f32>
    becomes, of a %v that is cast from bf16,
        %finite = tile.minimum (tile.maximum %v, -3.39e38), 3.39e38         // 3.39e38 of a NaN
        %flags = …                                        // 0, or 2^-9 of inf, -1 of -inf, 2^-8 - 1 of a NaN
        %sums = tile.dot %finite, %ones     %counts = tile.dot %flags, %ones                     // bf16, f32
        %raised = tile.select (%counts == tile.floor %counts), %sums, inf
        %s = tile.add %raised, (tile.select (%counts < 0), -inf, 0)

    A product would spread an infinity or NaN over the whole row. So it adds finite numbers, and a second one counts the
    others, infinities in fractions and minus infinities in ones. Lanes behind an infinity become infinite; lanes behind
    both kinds become NaN, as by additions. Of a block that is nothing but NaN the fractions are whole, and its numbers
    add up to infinity.

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
        self._triangles: dict[tuple[int, int], SSAValue] = {}

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
        is_number, most = build.compute("eq", value, value), _MOST[self.narrow]
        clamped = self._clamped(value, -most, most)
        beyond = self._clamped(build.compute("sub", value, clamped), _DOWN, _UP)
        finite = named(build.select(is_number, clamped, build.full(most, value)), "finite")
        flags = named(build.select(is_number, beyond, build.full(_NAN, value)), "flags")
        sums, counts = named(self._sums(self._parts(finite)), "sums"), named(self._sums([flags]), "counts")
        is_whole = build.compute("eq", counts, build.compute("floor", counts))
        raised = build.select(is_whole, sums, build.full(_INF, sums))
        is_down = build.with_number("lt", counts, 0.0)
        return build.compute("add", raised, build.select(is_down, build.full(-_INF, sums), build.full(0.0, sums)))

    def _clamped(self, value: SSAValue, low: float, high: float) -> SSAValue:
        return self.build.with_number("minimum", self.build.with_number("maximum", value, low), high)

    def _parts(self, value: SSAValue) -> list[SSAValue]:
        """Numbers of bf16 that add up to a value, the smallest first."""
        parts, build = [], self.build
        for _ in range(0 if self.narrow else _PARTS - 1):
            upper = build.with_number("and", build.add(BitcastOp(value, i32)), _UPPER)
            parts.append(build.add(BitcastOp(upper, f32)))
            value = build.compute("sub", value, parts[-1])
        return [value, *reversed(parts)]

    def _sums(self, parts: Sequence[SSAValue]) -> SSAValue:
        """The running sums of what parts add up to: one product, where their lanes are whole vector registers."""
        build, narrow = self.build, [self.build.cast(part, bf16) for part in parts]
        if tile_type(parts[0]).shape[1] % LANES == 0:
            narrow = [build.add(ConcatOp(narrow, 1))] if len(parts) > 1 else narrow
        ones = self._ones(parts[0], len(parts) // len(narrow))
        products = [build.add(DotOp(one, ones, element_type=f32)) for one in narrow]
        return reduce(lambda a, b: build.compute("add", a, b), products)

    def _ones(self, value: SSAValue, count: int) -> SSAValue:
        """Ones where the lane of a row adds to that of a column, below one another for each of ``count`` parts."""
        build, lane = self.build, tile_type(value).dims.data[1]
        key = (lane.size.data, count)
        if key not in self._triangles:
            if count > 1:
                ones = build.add(ConcatOp([self._ones(value, 1)] * count, 0))
            else:
                row, column = (build.numbers(lane.size.data, [lane, lane], place) for place in (0, 1))
                adds = build.compute("ge" if self.back else "le", row, column)
                ones = build.cast(build.select(adds, build.full(1.0, adds, f32), build.full(0.0, adds, f32)), bf16)
            self._triangles[key] = named(ones, "ones")
        return self._triangles[key]
