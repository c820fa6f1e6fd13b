"""The pass ``normalise-accesses``: accesses by computed indices are written as the blocks that they are."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.values.gathers import gathers
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.building import Arrays, type_of
from kopt.passes.gathers.normal import normalise
from kopt.passes.scatters.normal import normalise_updates
from kopt.walk import walk


@dataclass(frozen=True)
class NormaliseAccessesPass(ModulePass):
    """Rewrites each load with a tile among its indices as far as only its index list changes.

    * what is the same along a dimension of lanes comes once, and is repeated on the chip; so does what groups of lanes
      have, as of ``x[numbers[i // 4]]``, where less memory comes for it;
    * an index that is a range's own lane numbers, plus or minus a scalar, is the range, shifted: an ordinary block; one
      that counts from a scalar on is a block that begins there, and so are several for one dimension each, or several
      dimensions that count one together, ``group.index[:, None] * 64 + arange(64)``: a block that is reshaped;
    * an index that is one number or another lane by lane, both of which count or are single ones, chooses from what is
      at both; of a bound that no lane reaches nothing is left;
    * of several indices, of which the last counts lanes that the others repeat, that one is a block; of every n-th lane
      all come;
    * indices that have a dimension of the block each, in another order, ``x[m.index[None, :], k.index[:, None]]``, are
      brought into order, and the block is transposed;
    * rows and lanes of an array that a host view flattens, ``rows * width + lanes`` with any sum of rows, are taken
      from its rows; of any flat storage blocks of them, and rows of 128 lanes or more, from a view of it.

    Loads that see nothing of what their launch writes read the array as it was before. What has a tile among its
    indices afterwards is a gather, which ``plan-values`` gives a kind.

        %n = tile.index %i      %v = tile.load %x[%n, :] : memref<40x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    becomes
        %v = tile.load %x[%i, :] : memref<40x200xf32> -> !tile.tile<b0=16 x 200 x f32>

    It never refuses.
    """

    name = "normalise-accesses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            arrays, sums = Arrays(launch), SumAnalysis()
            for access in [inner for inner in walk(launch, LoadOp) if gathers(inner)]:
                is_number = isinstance(type_of(access.result).element_type, IntegerType)
                normalise(access, launch, arrays, sums)
                if is_number:  # what is made of them is made of other values now
                    sums = SumAnalysis()
            for number in launch.written:
                normalise_updates(launch, launch.body.block.args[number])
