"""Loops over rows that begin anywhere walk blocks that begin where memory allows."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.alignment import AlignedWalk, walk_to_align
from kopt.analysis.combining import combined_operands
from kopt.analysis.rescaled_sums import masked_by_exponents
from kopt.diagnostics import remark
from kopt.dialects.builder import Builder, named
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    BroadcastOp,
    ForOp,
    FullOp,
    IdOp,
    IndexOp,
    LoadOp,
    RangeType,
    SelectOp,
    ShiftOp,
    SplatOp,
    StoreOp,
    TileType,
    WholeOp,
    array_type,
    range_type,
    tile_type,
)
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.launch_arrays import Arrays
from kopt.passes.retyping import new_tags
from kopt.targets.chips import TpuChip
from kopt.walk import walk


def align_loops(op: ModuleOp, chip: TpuChip, analysis: IndexAnalysis) -> None:
    """Makes loops that begin at a computed or odd element loops over aligned blocks, in all launches of a module."""
    for launch in walk(op, LaunchOp):
        arrays = Arrays(launch)
        for loop in walk(launch, ForOp):
            found = walk_to_align(loop, IndexAnalysis())  # each loop sees what became of those before
            if found is not None:
                remark(loop, f"blocks begin at multiples of {found.multiple}, at or before the first element")
                for load, dim in found.short:
                    _pad(load, dim, found.extent, arrays)
                _Aligner(loop, found).run()


def _pad(load: LoadOp, dim: int, extent: int, arrays: Arrays) -> None:
    """Lets a load read an array that the host has padded in one dimension."""
    shape = list(array_type(load.memory).get_shape())
    shape[dim] = extent
    remark(load, f"'{load.memory.name_hint}' is padded to {extent} in dimension {dim}: blocks must end inside it")
    load.operands[0] = arrays.view(load.memory, shape, shape)


class _Aligner:
    """Replaces one loop by one over the numbers of aligned blocks."""

    def __init__(self, loop: ForOp, walk: AlignedWalk):
        self.loop, self.walk = loop, walk
        self.type = range_type(loop.range)
        self.name = loop.range.name_hint or "block"
        self.units = self.type.size // walk.multiple
        self.build = Builder(loop)
        self.exponents = masked_by_exponents(loop)

    def run(self) -> None:
        lower, upper = (self._shifted(self.build.index(bound)) for bound in self.loop.bounds)
        first = self._binary(arith.ShRSIOp, lower, self.build.index(self.walk.multiple.bit_length() - 1))
        first.name_hint = f"{self.name}_first"
        count = self._count(lower, upper, first)
        count.name_hint = f"{self.name}_blocks"
        new = self._new_loop(count)
        self.build.at = InsertPoint.at_start(new.body.block)
        range = self._block(new.range, first)
        self._mask(new, range, self._limits(new.range, first, lower, upper))
        Rewriter.replace_op(self.loop, [], new.results)

    def _count(self, lower: SSAValue, upper: SSAValue, first: SSAValue) -> SSAValue:
        """How many blocks there are from the aligned begin to the end; none where the loop has no element."""
        distance = self._binary(arith.SubiOp, upper, self._times(first, self.walk.multiple))
        blocks = self._over_size(distance)
        some = self.build.add(arith.CmpiOp(upper, lower, "sgt"))
        return self.build.add(arith.SelectOp(some, blocks, self.build.index(0)))

    def _over_size(self, distance: SSAValue) -> SSAValue:
        """The quotient by a block's size, rounded up: by a shift where it can be, which costs a chip much less."""
        size = self.type.size
        if size & (size - 1):
            return self._binary(arith.CeilDivSIOp, distance, self.build.index(size))
        more = self._binary(arith.AddiOp, distance, self.build.index(size - 1))
        return self._binary(arith.ShRSIOp, more, self.build.index(size.bit_length() - 1))

    def _new_loop(self, count: SSAValue) -> ForOp:
        """The loop over block numbers, with the old loop's body."""
        tag = next(new_tags(self.loop))
        old = self.loop.body.block
        inits = list(self.loop.inits)
        loop = ForOp(0, count, inits, Region(Block(arg_types=[RangeType(tag, 1), *(v.type for v in inits)])))
        loop.range.name_hint = f"{self.name}_number"
        block = loop.body.block
        for value, copy in zip(old.args[1:], block.args[1:], strict=True):
            copy.name_hint = value.name_hint
            value.replace_all_uses_with(copy)
        for op in list(old.ops):
            op.detach()
            block.add_op(op)
        self.build.insert(loop)
        return loop

    def _block(self, number: SSAValue, first: SSAValue) -> SSAValue:
        """The range of the block with a number, put in the place of the old loop's range and of what shifts it."""
        whole = self.build.add(WholeOp(self.type.size, self.type))
        last = self.build.index(self.walk.extent // self.walk.multiple - self.units)
        begin = self._binary(arith.MinSIOp, self._own(number, first), last)
        offset = self._times(begin, self.walk.multiple)
        offset.name_hint = f"{self.name}_begin"
        range = self.build.add(ShiftOp(whole, offset), self.loop.range.name_hint)
        if self.walk.shift is None:
            self.loop.range.replace_all_uses_with(range)
            return range
        relative = self.build.add(ShiftOp(whole, self._binary(arith.SubiOp, offset, self.walk.shift)))
        for use in list(self.loop.range.uses):
            shift = use.operation
            if isinstance(shift, ShiftOp) and shift.result in self.walk.entries:
                shift.result.replace_all_uses_with(range)
                shift.operands[0] = whole  # dead, but it may mark where ops are inserted
            else:
                shift.operands[use.index] = relative
        return range

    def _own(self, number: SSAValue, first: SSAValue) -> SSAValue:
        """Where a block would begin if memory went on for ever, in multiples."""
        id = self.build.add(IdOp(number))
        return self._binary(arith.AddiOp, first, self._times(id, self.units))

    def _limits(self, number: SSAValue, first: SSAValue, lower: SSAValue, upper: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The first element of a block that is the loop's and no earlier block's, and the one past the last."""
        own = self._times(self._own(number, first), self.walk.multiple)
        start = self._binary(arith.MaxSIOp, lower, own)
        start.name_hint = f"{self.name}_start"
        return start, upper

    def _mask(self, loop: ForOp, range: SSAValue, limits: tuple[SSAValue, SSAValue]) -> None:
        """Keeps lanes that are not the loop's out of what combines lanes and of what is stored."""
        done = self._mask_exponents(range, limits)
        for op in walk(loop.body):
            self.build.at = InsertPoint.before(op)
            for number, dims, fill in combined_operands(op):
                if (op, number) in done:
                    continue
                value = op.operands[number]
                type = tile_type(value)
                if any(type.tags[dim] == self.type.tag for dim in dims):
                    inside = self._inside(type, range, limits)
                    op.operands[number] = self.build.add(SelectOp(inside, value, self.build.add(FullOp(fill, type))))
            if isinstance(op, StoreOp) and range in op.indices:
                type = tile_type(op.value)
                inside = self._inside(type, range, limits)
                self.build.insert(StoreOp(op.value, op.memory, op.entries, inside, op.attributes))
                Rewriter.erase_op(op)

    def _mask_exponents(self, range: SSAValue, limits: tuple[SSAValue, SSAValue]) -> set[tuple[Operation, int]]:
        """Masks what powers are made of that are summed; gives the operands that need no masks then."""
        done: set[tuple[Operation, int]] = set()
        for exponent, places in self.exponents.items():
            assert isinstance(exponent.owner, Operation)  # it is computed in the loop, whose lanes it has
            self.build.at = InsertPoint.after(exponent.owner)
            type = tile_type(exponent)
            inside, fill = self._inside(type, range, limits), self.build.add(FullOp(float("-inf"), type))
            masked = self.build.add(SelectOp(inside, exponent, fill))
            exponent.replace_uses_with_if(masked, lambda use, masked=masked: use.operation is not masked.owner)
            done |= places
        return done

    def _inside(self, type: TileType, range: SSAValue, limits: tuple[SSAValue, SSAValue]) -> SSAValue:
        """Which lanes of a tile are the loop's: compared over all its dimensions, which a TPU likes best."""
        lanes = self.build.add(IndexOp(range))
        numbers = type.with_element(i32)
        if type.rank > 1:
            lanes = self.build.add(BroadcastOp(lanes, [type.tags.index(self.type.tag)], numbers))
        start, end = (self.build.add(SplatOp(limit, numbers)) for limit in limits)
        after, before = self.build.compute("ge", lanes, start), self.build.compute("lt", lanes, end)
        return named(self.build.compute("and", after, before), "inside")

    # Making ops.

    def _shifted(self, bound: SSAValue) -> SSAValue:
        return bound if self.walk.shift is None else self._binary(arith.AddiOp, bound, self.walk.shift)

    def _times(self, value: SSAValue, factor: int) -> SSAValue:
        return value if factor == 1 else self._binary(arith.MuliOp, value, self.build.index(factor))

    def _binary(self, op: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:
        return self.build.add(op(a, b))  # pyright: ignore[reportCallIssue]
