"""``hl.stacktensor_like``: several tensors of one shape behind pointers, as one host tensor.

The pointers are read when the kernel is imported, with a guard on them, and what they point to are arguments of the
kernel: its own where it has them, else hidden ones. Stacked before a launch, they are indexed as any other tensor; what
a launch stores is copied back after it. So no target needs pointers.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from xdsl.ir import Operation
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed, root
from kopt.frontend.indexing import load, places_of, store, written_out
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, describe

_KINDS = (MemoryEffectKind.WRITE, MemoryEffectKind.READ)


@dataclass(eq=False)
class Stack:
    """The tensors behind all pointers of a host tensor, and the host tensor that holds their elements."""

    tensors: list[torch.Tensor]
    whole: torch.Tensor
    written: bool = False

    def write_back(self, grid: Operation) -> None:
        """Copies what a launch has stored to where it belongs.

        Refuses launches that write memory both ways or write it one way and read it the other: they would see the
        elements as they were before.
        """
        own = {root(current().host.ssa(tensor)) for tensor in self.tensors}
        writes, reads = (own.intersection(map(root, accessed(grid, kind))) for kind in _KINDS)
        if writes or self.written and reads:
            unsupported(
                "a tensor behind the pointers of hl.stacktensor_like is used directly in the same device loop",
                "use it one way only where it is stored to",
                id="operand",
            )
        if self.written:
            parts = self.whole.reshape(len(self.tensors), *self.tensors[0].shape)
            for number, tensor in enumerate(self.tensors):
                tensor.copy_(parts[number])


@dataclass(eq=False)
class StackTensor:
    """A block of the tensors of a stack: ``places`` index the pointers, and whoever uses it each tensor."""

    tensor_like: torch.Tensor
    dev_ptrs: DeviceTensor
    stack: Stack
    places: list[Any]

    @property
    def dtype(self) -> torch.dtype:
        """The element type."""
        return self.tensor_like.dtype

    def load(self, index: Any, mask: Any = None, eviction: str | None = None) -> DeviceTensor:
        """The elements at ``index`` of each tensor: the dimensions of the pointers come first."""
        return load(self.stack.whole, self._index(index), mask, eviction)

    def store(self, index: Any, value: Any, mask: Any = None) -> None:
        """Stores a value, broadcast, at ``index`` of each tensor."""
        self.stack.written = True
        store(self.stack.whole, self._index(index), value, mask)

    def _index(self, index: Any) -> list[Any]:
        return [*self.places, *written_out(tuple(self.tensor_like.shape), index)]


def stacktensor_like(tensor_like: Any, dev_ptrs: Any) -> StackTensor:
    """``hl.stacktensor_like``: tensors like a host tensor behind a block of pointers."""
    if not isinstance(tensor_like, torch.Tensor):
        unsupported(f"hl.stacktensor_like needs a host tensor to go by, found {describe(tensor_like)}", id="operand")
    found = places_of(dev_ptrs) if isinstance(dev_ptrs, DeviceTensor) else None
    if found is None or found[0].dtype not in (torch.int64, torch.uint64):
        unsupported(
            "hl.stacktensor_like needs pointers as they are loaded from a host tensor of 64-bit integers",
            "pass a tuple of tensors and use hl.static_range",
            id="operand",
        )
    pointers, places = found
    like = current().host.meta(tensor_like)
    return StackTensor(like, dev_ptrs, _stack(pointers, like), places)


def _stack(pointers: torch.Tensor, like: torch.Tensor) -> Stack:
    """What all the pointers of a host tensor point to, stacked before the launch that is recorded."""
    host = current().host
    key = (id(host.array(pointers)), tuple(like.shape), tuple(like.stride()), like.dtype)
    if key not in host.stacks:
        addresses = host.value_of(pointers, lambda data: data.flatten().tolist())
        if not addresses or not all(addresses):
            unsupported("hl.stacktensor_like met no pointer, or one to nothing", id="operand")
        tensors = [_behind(address, like, pointers) for address in addresses]
        whole = torch.stack(tensors).reshape(*pointers.shape, *like.shape)
        host.stacks[key] = Stack(tensors, whole)
    return host.stacks[key]


def _behind(address: int, like: torch.Tensor, pointers: torch.Tensor) -> torch.Tensor:
    """The kernel's tensor at an address: an argument that begins there and looks alike, or a hidden one."""
    host = current().host
    for tensor in host.keep:
        number = host.array(tensor).argument
        real = host.real[number] if number is not None and number < len(host.real) else None
        if isinstance(real, torch.Tensor) and real.data_ptr() == address and _alike(real, like):
            return tensor
    known = host.pointed.get((address, tuple(like.shape), like.dtype))
    if known is None:
        host.quiet = True
        known = _tensor_at(address, like, host.real[host.array(pointers).argument or 0].device)
        host.quiet = False
        host.pointed[address, tuple(like.shape), like.dtype] = known
    return host.meta(known)


def _alike(real: torch.Tensor, like: torch.Tensor) -> bool:
    return (real.shape, real.stride(), real.dtype) == (like.shape, like.stride(), like.dtype)


def _tensor_at(address: int, like: torch.Tensor, device: torch.device) -> torch.Tensor:
    """A tensor that looks like another, over the memory at an address."""
    shape, strides = tuple(like.shape), tuple(like.stride())
    elements = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)) if like.numel() else 0
    size = elements * like.element_size()
    if device.type == "cuda":
        memory = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}
        flat = torch.as_tensor(SimpleNamespace(__cuda_array_interface__=memory), device=device)
    else:
        flat = torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)
    return flat.view(like.dtype).as_strided(shape, strides)
