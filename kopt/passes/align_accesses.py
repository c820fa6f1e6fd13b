"""The pass ``align-accesses``: blocks that begin anywhere become blocks that begin where memory allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.errors import ConfigError
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.aligning.loads import align_loads
from kopt.passes.aligning.loops import align_loops
from kopt.passes.aligning.stores import align_stores
from kopt.passes.meaning import REASSOCIATES
from kopt.targets.chips import TPU_CHIPS, TpuChip, chip_option

#: The cases, in their order: what loops walk is aligned then, and a store's block is loaded by a load of its own.
CASES: dict[str, Callable[[ModuleOp, TpuChip, IndexAnalysis], None]] = {
    "loops": align_loops,
    "loads": align_loads,
    "stores": align_stores,
}


@dataclass(frozen=True)
class AlignAccessesPass(ModulePass):
    """Alignment of dynamic accesses: blocks begin at multiples of 8 rows (16 of 16-bit elements) or 128 lanes.

    ``loops`` that begin at a computed or odd element walk aligned blocks. The first one begins at or before the loop's
    first element, and the last one ends inside the arrays. Some lanes are outside of the loop, or were in an earlier
    block. They take the neutral value where lanes are combined, and are not stored.

        %r = tile.for %k: b1=64 in (%lo, %hi) iter(%a = %z) { %v = tile.load %x[%k, :] …  tile.reduce add %v [0] … }
    becomes
        %r = tile.for %t: b2=1 in (0, (%hi - %lo / 8 * 8) / 64 rounded up) iter(%a = %z) {
          %k = tile.shift (tile.whole 64) by min(%lo / 8 + 8 * %t, (rows - 64) / 8) * 8
          %v = tile.load %x[%k, :] …   %inside = max(%lo, where block %t would begin) <= tile.index %k < %hi
          %w = tile.select %inside, %v, 0.0   tile.reduce add %w [0] … }

    These loops stay as they are, without a remark:

    * loops of which the begin or the number of a block is used;
    * loops whose accesses are masked, or begin at different elements;
    * loops that scan or rearrange lanes, or whose result depends on which elements one visit has.

    ``loads`` at an unaligned dynamic start become an aligned superset load and a `tile.dynamic_slice`.

        %r = tile.shift %k by %n   %v = tile.load %x[%r, %j] : memref<96x256xf32> -> !tile.tile<b1=16 x b2=128 x f32>
    becomes
        %w = tile.shift (tile.whole 24) by min(max(%r.begin, 0) / 8, 9) * 8
        %u = tile.load %x[%w, %j] : memref<96x256xf32> -> !tile.tile<b3=24 x b2=128 x f32>
        %v = tile.dynamic_slice %u from %r.begin - %w.begin dim 0 : … to !tile.tile<b1=16 x b2=128 x f32>

    A single row or lane at a computed number is a block of one. A small array may be read both in blocks and by single
    elements: the elements then come from a second operand, in scalar memory. Narrow elements at a computed lane do so
    too, and the host copies them to 32 bits. An array that is larger than half of VMEM stays in HBM. Its blocks at
    computed elements may end beyond the array, or begin inside a tile of memory. A DMA then fetches a superset that
    does neither, and the block is cut out of it. Loads of arrays that the launch writes, and gathers, stay as they are.
    A few cells share the rows of a vector, of which each takes fewer than 128 lanes (`kopt.analysis.shared_rows`).

    ``stores`` at an unaligned dynamic start become an aligned superset load, an insertion of the lanes, and a store.

        %r = tile.shift %k by %n   tile.store %v, %x[%r, %j] : !tile.tile<b1=16 x b2=128 x f32>, memref<96x256xf32>
    becomes
        %w = tile.shift (tile.whole 24) by min(max(%r.begin, 0) / 8, 9) * 8
        %old = tile.load %x[%w, %j] : memref<96x256xf32> -> !tile.tile<b3=24 x b2=128 x f32>
        %u = tile.dynamic_slice (tile.concat filler, %v, filler) from 24 - (%r.begin - %w.begin) dim 0 : …
        %new = tile.select (%r.begin <= tile.index %w < %r.end), %u, %old
        tile.store %new, %x[%w, %j] : !tile.tile<b3=24 x b2=128 x f32>, memref<96x256xf32>

    Cells that may share a superset run in order. So on a chip of several cores rows of a vector are shared only where
    each core has rows of its own (``strip-mine-cells``). Loads from such arrays are aligned, too. An array that is
    larger than half of VMEM, and whose blocks all begin at computed elements, stays in HBM. DMAs fetch each superset
    and send it back, and a remark says so. Arrays with gathered rows or atomic updates stay as they are.

    Arrays that end inside a block or a superset are padded on the host; where they are read, a remark says so.
    ``cases`` selects among the three. By default all are done; ``align-accesses{cases=loads}`` does one.
    """

    name = "align-accesses"
    meaning = REASSOCIATES

    chip: str = chip_option(TPU_CHIPS, "tpu7x")
    cases: tuple[str, ...] = tuple(CASES)

    def __post_init__(self) -> None:
        if unknown := [case for case in self.cases if case not in CASES]:
            raise ConfigError(f"'{unknown[0]}' is no case of align-accesses; there are {', '.join(CASES)}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis = IndexAnalysis(numbered=True)
        for case in CASES:
            if case in self.cases:
                CASES[case](op, TPU_CHIPS[self.chip], analysis)
