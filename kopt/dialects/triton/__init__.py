"""The ``triton`` dialect: launches on a GPU, as Triton programs see them.

A `launch` is one ``@triton.jit`` kernel and its call: a one-dimensional grid of programs. In its body ranges are made
from block numbers; loads, stores and all that is computed stay ``tile.*``, updates ``atomic.*``. Accesses check the
lanes of ranges that may be ragged.

    triton.launch @softmax_0 (%x = %x, %out = %out writeonly) grid (8) num_warps 4 num_stages 2 {
      %pid = triton.program_id
      %i = triton.range %pid in (0, 1000) : !tile.range<b0=128>
      %v = tile.load %x[%i, :] : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
      …
    }
"""

from xdsl.ir import Dialect

from kopt.dialects.triton.approximate import APPROXIMATE, APPROXIMATE_FUNCTIONS
from kopt.dialects.triton.barrier import BarrierOp
from kopt.dialects.triton.inline import InlineOp
from kopt.dialects.triton.lanes import BoundedOp, JoinOp
from kopt.dialects.triton.launch import NAMED, LaunchOp, LaunchOptions, ProgramIdOp, RangeOp, RetagOp

__all__ = [
    "APPROXIMATE",
    "APPROXIMATE_FUNCTIONS",
    "NAMED",
    "BarrierOp",
    "BoundedOp",
    "InlineOp",
    "JoinOp",
    "LaunchOp",
    "LaunchOptions",
    "ProgramIdOp",
    "RangeOp",
    "RetagOp",
    "Triton",
]

_OPS = [LaunchOp, ProgramIdOp, RangeOp, RetagOp, BoundedOp, JoinOp, InlineOp, BarrierOp]
Triton = Dialect("triton", _OPS)
