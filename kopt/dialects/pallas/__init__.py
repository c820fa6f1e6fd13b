"""The ``pallas`` dialect: one kernel call on a TPU, and what only such a kernel does: scratch memory and DMAs.

The body of a `call` sees refs: its operands, its results, then scratch. It holds one `tile.grid`, whose cells are the
steps of the Pallas grid in row-major order; in it blocks are read by `tile.get` and written by `tile.put`, and
everything that is computed stays in ``tile``. Refs outlive the grid's cells, so their dimensions have no tags. Blocks
of refs in HBM are read by `fetch` and written by `send`, until ``realise-dmas`` makes buffers and DMAs of these.

    %out = pallas.call @double(%x) windows [<[128, 256], (d0) -> (d0, 0), vmem>, …] semantics (parallel)
        aliases [-1] : (memref<1000x256xf32>) -> (memref<1000x256xf32>) {
    ^bb0(%x_ref: !tile.ref<128 x 256 x f32, vmem>, %out_ref: !tile.ref<128 x 256 x f32, vmem>):
      tile.grid (%i: b0=128) in (1000) {
        %v = tile.get %x_ref[:, :] : !tile.ref<128 x 256 x f32, vmem> -> !tile.tile<b0=128 x 256 x f32>
        tile.put %w, %out_ref[:, :] : !tile.tile<b0=128 x 256 x f32>, !tile.ref<128 x 256 x f32, vmem>
      }
    }
"""

from xdsl.ir import Dialect

from kopt.dialects.pallas.bitcast import BitcastRowsOp
from kopt.dialects.pallas.call import SEMANTICS, CallOp, ScratchOp
from kopt.dialects.pallas.copies import FetchOp, SendOp
from kopt.dialects.pallas.dma import DmaOp, DmaStartOp, DmaWaitOp, Overlap
from kopt.dialects.pallas.pipeline import PipelineOp
from kopt.dialects.pallas.window import NumberAttr, WindowAttr

__all__ = [
    "SEMANTICS",
    "BitcastRowsOp",
    "CallOp",
    "DmaOp",
    "DmaStartOp",
    "DmaWaitOp",
    "FetchOp",
    "NumberAttr",
    "Overlap",
    "Pallas",
    "PipelineOp",
    "ScratchOp",
    "SendOp",
    "WindowAttr",
]

Pallas = Dialect(
    "pallas",
    [CallOp, ScratchOp, PipelineOp, FetchOp, SendOp, DmaStartOp, DmaWaitOp, BitcastRowsOp],
    [WindowAttr, NumberAttr],
)
