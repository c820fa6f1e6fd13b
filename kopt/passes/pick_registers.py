"""The pass ``pick-registers``: what is asked of single lanes is computed by the scalar unit."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, IndexType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.lane_scalars import is_in_scalar_memory, reads_of
from kopt.analysis.register_picks import picks_registers, read_of
from kopt.analysis.storage import wide
from kopt.dialects.builder import Builder
from kopt.dialects.pallas import CallOp, WindowAttr
from kopt.dialects.tile import (
    ALL,
    DimAttr,
    ExtractOp,
    GetOp,
    PutOp,
    RefType,
    ShiftOp,
    TakeAlongOp,
    TileType,
    element_of,
    tile_type,
)
from kopt.passes.binding.accesses import erase_dead
from kopt.passes.dmas.lane_loops import loop_over_lanes
from kopt.passes.dmas.lane_scalars import LaneScalars, within
from kopt.passes.replacing import replacing
from kopt.passes.retyping import all_lanes
from kopt.passes.scratch import scratch_ref
from kopt.targets.tiling import LANES
from kopt.walk import walk


@dataclass(frozen=True)
class PickRegistersPass(ModulePass):
    """Loads the vector register in which a picked lane is, where each row of a wide block has one such lane.

    The scalar unit computes the numbers of the lanes: what they are computed of arrives in scalar memory, too. To find
    the lane on the vector unit takes a select for each register of the row.

        %v = tile.take_along %x, %n dim 1 : !tile.tile<b0=32 x 32768 x f32>, !tile.tile<b0=32 x 1 x i32>
    becomes
        tile.for %r in (0, 32) schedule resident unroll 32 {
          %number = arith.shrsi (%n of lane %r), 7
          tile.put (tile.get %x[%r, lanes from %number * 128]), %picked[%r, :] }
        %v = tile.take_along (tile.get %picked[:, :]), %n & 127 dim 1 : !tile.tile<b0=32 x 128 x f32>, …

    These picks stay as they are: of blocks of more than 32 rows, or of less than 16,384 lanes, of elements of 8 bits
    and of 16-bit integers, of blocks that a copy in the kernel brings, and by numbers that are not computed lane by
    lane of blocks of operands.
    """

    name = "pick-registers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            _Kernel(call).load()


@dataclass(frozen=True)
class _Kernel:
    """A kernel, and the windows of its operands that stand in scalar memory as well."""

    call: CallOp
    copies: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def load(self) -> None:
        for pick in walk(self.call, TakeAlongOp):
            if picks_registers(pick, self.call):
                self._load_registers(pick)

    def _load_registers(self, pick: TakeAlongOp) -> None:
        build, get = Builder(pick), read_of(pick)
        assert get is not None
        (rows, lanes), dims = tile_type(pick.input).shape, tile_type(pick.input).dims.data
        element = wide(element_of(pick.input))
        picked = scratch_ref(self.call, RefType((rows, LANES), element), get.memory, "picked")
        numbers = self._scalars(pick.indices, build)
        inner, row = loop_over_lanes(rows, rows, build)
        number = inner.add(ExtractOp(numbers.at([row, inner.index(0)], inner), IndexType()), "lane")
        register = within(inner.add(arith.ShRSIOp(number, inner.index(7))), lanes // LANES - 1, inner)
        first = inner.add(arith.MuliOp(register, inner.index(LANES)))
        of_row = inner.add(ShiftOp(inner.add(all_lanes(1, pick)), row))
        around = inner.add(ShiftOp(inner.add(all_lanes(LANES, pick)), first))
        value = inner.add(replacing(get, GetOp(get.memory, [of_row, around])))
        inner.insert(PutOp(inner.cast(value, element), picked, [of_row, ALL]))
        found = build.add(GetOp(picked, [ALL, ALL], TileType([dims[0], DimAttr(LANES)], element)))
        lane = build.with_number("and", pick.indices, LANES - 1)
        block = pick.input
        build.replace(build.add(TakeAlongOp(found, lane, 1)))
        erase_dead(block)

    def _scalars(self, numbers: SSAValue, build: Builder) -> LaneScalars:
        """Numbers of which the scalar unit computes one lane after the other."""
        reads = reads_of(numbers, lambda _: True)
        for read in reads or ():
            if not is_in_scalar_memory(read) and read.memory not in self.copies:
                self.copies[read.memory] = self._copy(read.memory)
        return LaneScalars(numbers, build, self.copies)

    def _copy(self, ref: SSAValue) -> SSAValue:
        """A window of the same blocks of an operand, in scalar memory."""
        call, number = self.call, self.call.input_refs.index(ref)
        window, type, last = call.windows.data[number], ref.type, len(call.inputs)
        assert isinstance(type, RefType)
        scalars = WindowAttr(window.sizes, window.index.data, "smem", window.numbers.data)
        call.windows = ArrayAttr([*call.windows.data[:last], scalars, *call.windows.data[last:]])
        call.operands = [*call.inputs, call.inputs[number]]
        copy = call.body.block.insert_arg(RefType(type.shape, type.element_type, "smem"), last)
        copy.name_hint = ref.name_hint
        return copy
