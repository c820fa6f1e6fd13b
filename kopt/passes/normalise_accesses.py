"""The pass ``normalise-accesses``: accesses by computed indices are written as the blocks that they are."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.passes import ModulePass

from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp, tile_type
from kopt.ir.sums import SumAnalysis
from kopt.passes.launch_arrays import Arrays
from kopt.passes.normalising.loads import normalise
from kopt.passes.normalising.updates import normalise_updates
from kopt.walk import walk


@dataclass(frozen=True)
class NormaliseAccessesPass(ModulePass):
    """Canonicalises index lists: a load with a tile of numbers among its indices is written as the block that it is.

    | index list | becomes |
    |---|---|
    | lane numbers of a range, plus or minus a scalar | the range, shifted: an ordinary block |
    | lanes that count from a scalar on, ``n + arange(64)``, in one dimension or several | the block that begins there |
    | dimensions that count one together, ``group.index[:, None] * 64 + arange(64)`` | a block that is reshaped |
    | several indices, of which the last counts lanes that the others repeat | a block in that dimension |
    | every n-th lane | a block of all lanes, of which every n-th is taken |
    | a dimension of the block each, in another order, ``x[m.index[None, :], k.index[:, None]]`` | a block, transposed |
    | one number or another, lane by lane, both of which count or are single ones | a select of what is at both |
    | a bound that no lane reaches, ``minimum(i, 10**6)`` | what it bounds |
    | the same along lanes or groups of lanes, ``x[numbers[i // 4]]`` | one of each, repeated, if that moves less |
    | ``rows * width + lanes`` of a matrix that a host view flattens, with any sum of rows | rows and lanes of it |
    | numbers in any flat storage | blocks, or rows of 128 lanes or more, of a view of it |

    Loads that see nothing of what their launch writes read the array as it was before. What has a tile among its
    indices afterwards is a gather, which ``plan-values`` gives a kind. Blocks without lanes stay (``drop-empty``).

        %n = tile.index %i      %v = tile.load %x[%n, :] : memref<40x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    becomes
        %v = tile.load %x[%i, :] : memref<40x200xf32> -> !tile.tile<b0=16 x 200 x f32>

    It never refuses.
    """

    name = "normalise-accesses"
    #: Blocks at the ends of arrays are loaded whole, and lanes chosen afterwards; ``bind-buffers`` makes arrays longer.
    reads_beyond = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            arrays, sums = Arrays(launch), SumAnalysis()
            gathers = [inner for inner in walk(launch, LoadOp) if inner.gathers]
            for access in [inner for inner in gathers if 0 not in tile_type(inner.result).shape]:
                is_number = isinstance(tile_type(access.result).element_type, IntegerType)
                normalise(access, launch, arrays, sums)
                if is_number:  # what is made of them is made of other values now
                    sums = SumAnalysis()
            for number in launch.written:
                normalise_updates(launch, launch.body.block.args[number])
