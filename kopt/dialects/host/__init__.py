"""The ``host`` dialect: what runs around the kernels: allocations, views, library calls and launches.

Values are memrefs. Ops that write do so in place until ``functionalise-host`` gives every written memref a new
version for each launch. A view shares its source's storage; writes through it are writes to the source.

    %out = host.alloc fill 0.0 : memref<1000xf32>
    %flat = host.reshape %x : memref<10x100xf32> to memref<1000xf32>
    %s = host.call "aten.exp.default"(%x) args [unit] : (memref<10x100xf32>) -> (memref<10x100xf32>)
"""

from xdsl.ir import Dialect

from kopt.dialects.host.calls import CallOp, CallOutOp, keywords_of
from kopt.dialects.host.launch import LaunchOp
from kopt.dialects.host.lifetime import FreeOp, ReuseOp
from kopt.dialects.host.partition import PartitionOp, YieldOp
from kopt.dialects.host.storage import AllocOp, CopyOp, InsertOp
from kopt.dialects.host.views import ExpandOp, PermuteOp, ReshapeOp, SliceOp, ViewOp

__all__ = [
    "AllocOp",
    "CallOp",
    "CallOutOp",
    "CopyOp",
    "ExpandOp",
    "FreeOp",
    "Host",
    "InsertOp",
    "LaunchOp",
    "PartitionOp",
    "PermuteOp",
    "ReshapeOp",
    "ReuseOp",
    "SliceOp",
    "ViewOp",
    "YieldOp",
    "keywords_of",
]

Host = Dialect(
    "host",
    [
        *(AllocOp, CopyOp, InsertOp, ReuseOp, FreeOp),
        *(ReshapeOp, PermuteOp, SliceOp, ExpandOp),
        *(CallOp, CallOutOp, LaunchOp),
        *(PartitionOp, YieldOp),
    ],
)
