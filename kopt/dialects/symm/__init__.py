"""The ``symm`` dialect: collectives between the devices of a group, and the memory that all of them can address.

A symmetric buffer's allocator is part of its type: ``memref<1024xf32, #symm.space<"tp">>`` lies at the same place on
every rank of the group ``tp``. Collectives give new arrays; their ``_out`` forms write arrays that are given. Kernels
copy to each other's memory, and signal.

    %sum = symm.all_reduce add %x group "tp" : memref<8x64xf32> to memref<8x64xf32>
    %all = symm.all_gather %x group "tp" : memref<8x64xf32> to memref<32x64xf32>
    symm.barrier group "tp"
"""

from xdsl.ir import Dialect

from kopt.dialects.symm.collectives import AllGatherOp, AllReduceOp, AllToAllOp, CollectiveOp, ReduceScatterOp
from kopt.dialects.symm.out_forms import (
    AllGatherOutOp,
    AllReduceOutOp,
    AllToAllOutOp,
    CollectiveOutOp,
    ReduceScatterOutOp,
)
from kopt.dialects.symm.remote_copy import RemoteCopyOp, RemoteCopyStartOp, RemoteCopyWaitOp, TransferType
from kopt.dialects.symm.space import SpaceAttr, group_of
from kopt.dialects.symm.synchronisation import BarrierOp, RankOp, SignalOp, WaitOp

__all__ = [
    "AllGatherOp",
    "AllGatherOutOp",
    "AllReduceOp",
    "AllReduceOutOp",
    "AllToAllOp",
    "AllToAllOutOp",
    "BarrierOp",
    "CollectiveOp",
    "CollectiveOutOp",
    "RankOp",
    "ReduceScatterOp",
    "ReduceScatterOutOp",
    "RemoteCopyOp",
    "RemoteCopyStartOp",
    "RemoteCopyWaitOp",
    "SignalOp",
    "SpaceAttr",
    "Symm",
    "TransferType",
    "WaitOp",
    "group_of",
]

Symm = Dialect(
    "symm",
    [
        *(AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp),
        *(AllReduceOutOp, AllGatherOutOp, ReduceScatterOutOp, AllToAllOutOp),
        *(RankOp, BarrierOp, SignalOp, WaitOp),
        *(RemoteCopyOp, RemoteCopyStartOp, RemoteCopyWaitOp),
    ],
    [SpaceAttr, TransferType],
)
