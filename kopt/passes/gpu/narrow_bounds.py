"""The pass ``narrow-bounds``: loop bounds that are loaded as 64-bit integers become 32-bit ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from kopt.dialects import triton
from kopt.dialects.builder import Builder
from kopt.dialects.tile import Access, ExtractOp, ForOp, ShiftOp, tile_type
from kopt.dialects.tile.memory import memory_shape
from kopt.open_extents import is_open
from kopt.walk import walk

#: Elements of a dimension, at most: 32 bits name those of blocks beyond its end, too.
_MOST = 1 << 30
#: Index arithmetic, whose numbers are bounds if its results are; and comparisons of bounds, as of a loop's guard.
_ARITHMETIC = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.MinSIOp,
    arith.MaxSIOp,
    arith.DivSIOp,
    arith.CeilDivSIOp,
    arith.FloorDivSIOp,
)


@dataclass(frozen=True)
class NarrowBoundsPass(ModulePass):
    """Casts the loaded bounds of loops to 32 bits, so that numbers and masks of the lanes have one register each.

    A loop's number is computed in 32 bits, but Triton's loops have the type of their bounds: offsets of 64 bits would
    make all that follows from them as wide.

        %begin = tile.load %offsets[%i] … -> !tile.tile<i64>        %0 = tile.extract %begin : !tile.tile<i64> to index
        tile.for %rows: b0=64 in (%0, %1) { … tile.load %x[%rows, :] … }
    becomes
        %2 = tile.cast %begin : !tile.tile<i64> to !tile.tile<i32>  %0 = tile.extract %2 : !tile.tile<i32> to index

    So it does where all loops with such a bound load or store blocks of their range, in dimensions whose elements 32
    bits name. Numbers that are used otherwise stay as they are. It never refuses.
    """

    name = "narrow-bounds"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, triton.LaunchOp):
            for extract in walk(launch, ExtractOp):
                wide = isinstance(extract.result.type, IndexType) and tile_type(extract.input).element_type == i64
                if wide and _is_bound(extract.result):
                    extract.operands[0] = narrow = Builder(extract).cast(before := extract.input, i32)
                    narrow.name_hint = before.name_hint


def _is_bound(value: SSAValue) -> bool:
    """Whether a number is used for bounds of loops over elements that 32 bits name, and for nothing else."""
    users = [use.operation for use in value.uses]
    return bool(users) and all(map(_takes_a_bound, users))


def _takes_a_bound(op: Operation) -> bool:
    if isinstance(op, ForOp):
        accesses = list(_accesses(op.range))
        return bool(accesses) and all(_is_small(*access) for access in accesses)
    return isinstance(op, arith.CmpiOp) or isinstance(op, _ARITHMETIC) and _is_bound(op.results[0])


def _accesses(range: SSAValue) -> Iterator[tuple[Access, int]]:
    """Accesses whose index lists have a range, or what it is shifted to, with the places there."""
    for use in range.uses:
        op = use.operation
        if isinstance(op, ShiftOp):
            yield from _accesses(op.result)
        elif isinstance(op, Access):
            yield from ((op, n) for n, entry in enumerate(op.entries) if entry is range)


def _is_small(op: Access, position: int) -> bool:
    """Whether the elements of an array's dimension have numbers of 32 bits, and those of blocks beyond it too."""
    extent = memory_shape(op.memory.type)[position]
    return not is_open(extent) and extent <= _MOST
