"""The ``host`` dialect: what runs around the kernels: allocations, views, library calls and launches.

Values are memrefs. Ops that write do so in place until ``functionalise-host`` gives every written memref a new
version for each launch. A view shares its source's storage; writes through it are writes to the source.

    %out = host.alloc fill 0.0 : memref<1000xf32>
    %flat = host.reshape %x : memref<10x100xf32> to memref<1000xf32>
    %s = host.call "aten.exp.default"(%x) args [unit] : (memref<10x100xf32>) -> (memref<10x100xf32>)
"""

from xdsl.ir import Dialect

from kopt.dialects.host.calls import CallOp
from kopt.dialects.host.launch import LaunchOp
from kopt.dialects.host.storage import AllocOp, CopyOp, InsertOp
from kopt.dialects.host.views import ExpandOp, PermuteOp, ReshapeOp, SliceOp, ViewOp

__all__ = [
    "AllocOp",
    "CallOp",
    "CopyOp",
    "ExpandOp",
    "Host",
    "InsertOp",
    "LaunchOp",
    "PermuteOp",
    "ReshapeOp",
    "SliceOp",
    "ViewOp",
]

Host = Dialect(
    "host",
    [AllocOp, ReshapeOp, PermuteOp, SliceOp, ExpandOp, CallOp, CopyOp, InsertOp, LaunchOp],
)
