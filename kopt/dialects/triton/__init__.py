"""The ``triton`` dialect: launches on a GPU, as Triton programs see them.

A `launch` is one ``@triton.jit`` kernel and its call: a one-dimensional grid of programs. In its body ranges are made
from block numbers, and loads and stores say which lanes they must check. Elementwise and combining ops stay ``tile.*``.

    triton.launch @softmax_0 (%x = %x, %out = %out writeonly) grid (8) num_warps 4 num_stages 2 {
      %pid = triton.program_id
      %i = triton.range %pid in (0, 1000) : !tile.range<b0=128>
      %v = triton.load %x[%i, :] in (%i, _) : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
      …
    }
"""

from xdsl.ir import Dialect

from kopt.dialects.triton.atomics import AtomicCasOp, AtomicRmwOp
from kopt.dialects.triton.inline import InlineOp
from kopt.dialects.triton.launch import LaunchOp, ProgramIdOp, RangeOp, RetagOp
from kopt.dialects.triton.memory import CheckedAccess, LoadOp, StoreOp

__all__ = [
    "AtomicCasOp",
    "AtomicRmwOp",
    "CheckedAccess",
    "InlineOp",
    "LaunchOp",
    "LoadOp",
    "ProgramIdOp",
    "RangeOp",
    "RetagOp",
    "StoreOp",
    "Triton",
]

_OPS = [LaunchOp, ProgramIdOp, RangeOp, RetagOp, LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp, InlineOp]
Triton = Dialect("triton", _OPS)
