"""``hl.make_async_remote_copy`` and ``hl.remote_barrier``: what cells of a launch do to other ranks' memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from xdsl.ir import SSAValue

from kopt.dialects import symm, tile
from kopt.frontend.indexing import resolve
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, TileRange, describe, index_ssa

#: What the group of a kernel's ranks is called: the axis of the mesh over which it runs.
GROUP = "ranks"


class RemoteCopy:
    """A copy that was described: what ``hl.make_async_remote_copy`` gives."""

    def __init__(self, transfer: SSAValue):
        self._transfer = transfer

    def start(self) -> None:
        """Starts it."""
        current().append(symm.RemoteCopyStartOp(self._transfer))

    def wait(self) -> None:
        """Waits until it has left, and until what is sent to the same place here has arrived."""
        self.wait_send()
        self.wait_recv()

    def wait_send(self) -> None:
        """Waits until the source may be written again."""
        current().append(symm.RemoteCopyWaitOp("send", self._transfer))

    def wait_recv(self) -> None:
        """Waits until what is sent to the same place here has arrived."""
        current().append(symm.RemoteCopyWaitOp("receive", self._transfer))


def make_async_remote_copy(
    src: Any, src_index: Any, device_id: Any, dst: Any = None, dst_index: Any = None
) -> RemoteCopy:
    """``hl.make_async_remote_copy``."""
    dst, dst_index = (src if dst is None else dst), (src_index if dst_index is None else dst_index)
    source, target = (_Region(array, index) for array, index in ((src, src_index), (dst, dst_index)))
    if source.array.dtype != target.array.dtype:
        unsupported(
            f"a remote copy keeps the dtype, found {source.array.dtype} and {target.array.dtype}", id="collective"
        )
    if source.shape != target.shape:
        found = f"{list(source.shape)} and {list(target.shape)}"
        unsupported(
            f"a remote copy copies regions of one shape, found {found}",
            "reshape one of the tensors before",
            id="collective",
        )
    memories = current().host.ssa(source.array), current().host.written(target.array)
    copy = symm.RemoteCopyOp(memories, [source.entries, target.entries], index_ssa(device_id), GROUP)
    return RemoteCopy(current().emit(copy))


class _Region:
    """A host tensor and the leading dimensions that are picked of it."""

    def __init__(self, array: Any, index: Any):
        if not isinstance(array, torch.Tensor) or not current().on_device:
            unsupported(f"a remote copy copies host tensors in a device loop, found {describe(array)}", id="collective")
        self.array = current().host.meta(array)
        items = list(index) if isinstance(index, list | tuple) else [index]
        if any(isinstance(item, slice | TileRange) for item in items) or len(items) > self.array.dim():
            unsupported(
                "the index of a remote copy picks elements of leading dimensions",
                "use tile.begin for a tile",
                id="index",
            )
        self.entries = resolve(tuple(self.array.shape), items).entries
        self.shape = tuple(self.array.shape)[len(items) :]


def remote_barrier(device_ids: Any) -> None:
    """``hl.remote_barrier``."""
    if not current().on_device:
        unsupported("hl.remote_barrier works inside device loops", id="outside-device-loop")
    ranks = device_ids if isinstance(device_ids, list | tuple) else _elements(device_ids)
    if ranks:
        current().append(symm.BarrierOp(GROUP, others=[index_ssa(rank) for rank in ranks]))


def _elements(ids: Any) -> list[Any]:
    """Of a tensor of ranks its elements: each is loaded by itself, as a scalar."""
    if not isinstance(ids, DeviceTensor) or ids.rank == 0:
        return [ids]
    load = ids.ssa.owner
    if ids.rank != 1 or not isinstance(load, tile.LoadOp) or load.mask is not None:
        unsupported("hl.remote_barrier takes a rank, a list of ranks, or a row of a host tensor", id="collective")
    assert isinstance(load, tile.LoadOp)
    place = next(axis.position for axis in tile.block_axes(load.entries, tuple(load.memory.type.get_shape())))  # pyright: ignore
    entries = [list(load.entries) for _ in range(ids.dims[0].size.data)]
    for number, some in enumerate(entries):
        some[place] = number
    return [DeviceTensor(current().emit(tile.LoadOp(load.memory, some))) for some in entries]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "make_async_remote_copy": make_async_remote_copy,
    "remote_barrier": remote_barrier,
}
