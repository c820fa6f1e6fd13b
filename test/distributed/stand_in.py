"""Symmetric memory between processes of one machine without GPUs: files in memory that all of them map.

torch has neither an allocator nor operators of symmetric memory for CPUs; `install` registers both, for tests. Every
rank reads later than the ranks before it, so that a missing barrier shows.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import _symmetric_memory as symm_mem

LAG_S = 0.002
FOLDER = Path("/dev/shm")
RUN = "_".join(os.environ[name] for name in ("MASTER_PORT", "TORCHELASTIC_RUN_ID"))


def group_named(name: Any) -> dist.ProcessGroup:
    """The process group of a name."""
    return dist.distributed_c10d._resolve_process_group(name)  # pyright: ignore


class Memory:
    """The arrays by their ids, and each array's counterparts on all ranks of its group."""

    def __init__(self, barriers: set[str]):
        self.barriers = barriers
        self.arrays: dict[int, torch.Tensor] = {}
        self._peers: dict[int, list[torch.Tensor]] = {}

    def empty_strided_p2p(self, size, stride, dtype, device, group_name, alloc_id):
        """The array of an id: the same memory whenever it is asked for."""
        if alloc_id not in self.arrays:
            assert device.type == "cpu" and not self.arrays.get(alloc_id)
            self.arrays[alloc_id] = self._map(size, stride, dtype, group_name, alloc_id)
        found = self.arrays[alloc_id]
        assert (tuple(found.shape), found.stride(), found.dtype) == (tuple(size), tuple(stride), dtype)
        return found

    def _map(self, size, stride, dtype, group_name, alloc_id):
        group = group_named(group_name)
        elements = max(1, torch.Size(size).numel())
        paths = [FOLDER / f"symmetric_{RUN}_{alloc_id}_{rank}" for rank in dist.get_process_group_ranks(group)]
        paths[group.rank()].write_bytes(bytes(elements * dtype.itemsize))
        dist.barrier(group)
        peers = [torch.from_file(str(path), shared=True, size=elements, dtype=dtype) for path in paths]
        dist.barrier(group)
        paths[group.rank()].unlink()
        own = peers[group.rank()]
        self._peers[own.untyped_storage().data_ptr()] = peers
        return own.as_strided(size, stride)

    def _all(self, array: torch.Tensor) -> list[torch.Tensor]:
        peers = self._peers.get(array.untyped_storage().data_ptr())
        assert peers is not None and array.is_contiguous(), "the input is not in symmetric memory"
        return [peer.as_strided(array.shape, array.stride(), array.storage_offset()) for peer in peers]

    def _wait(self, end: str, group_name: str) -> None:
        if end in self.barriers:
            dist.barrier(group_named(group_name))

    def all_reduce_out(self, array, kind, group_name, out):
        """The sum of all ranks' arrays, added in the order of ranks."""
        assert kind == "sum"
        self._wait("entry", group_name)
        time.sleep(LAG_S * dist.get_rank())
        total = torch.stack(self._all(array)).sum(0)
        self._wait("exit", group_name)
        return out.copy_(total)

    def all_reduce(self, array, kind, group_name):
        """The same, in a new array."""
        return self.all_reduce_out(array, kind, group_name, torch.empty_like(array))

    def two_shot_out(self, array, kind, group_name, output):
        """The same, and the input is overwritten."""
        self.all_reduce_out(array, kind, group_name, output)
        array.fill_(float("nan"))
        return output


def install(barriers: set[str]) -> tuple[Memory, torch.library.Library]:
    """Registers the stand-in; its collectives wait at ``barriers``. The library lives as long as it is held."""
    memory = Memory(barriers)
    symm_mem._SymmetricMemory = memory  # pyright: ignore
    library = torch.library.Library("symm_mem", "IMPL")
    library.impl("one_shot_all_reduce_out", memory.all_reduce_out, "CPU")
    library.impl("one_shot_all_reduce", memory.all_reduce, "CPU")
    library.impl("two_shot_all_reduce_out", memory.two_shot_out, "CPU")
    return memory, library
