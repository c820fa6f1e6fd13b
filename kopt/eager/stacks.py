"""``hl.stacktensor_like``: tensors of one shape behind a block of pointers."""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import dataclass
from typing import Any

import torch

from kopt.eager.blocks import Block, axes_of, block
from kopt.eager.indexing import load, store
from kopt.eager.state import quietly, refuse


@dataclass(eq=False)
class StackTensor:
    """The tensors behind a block of pointers; the pointers' dimensions come first in what is loaded and stored."""

    tensor_like: torch.Tensor
    dev_ptrs: Block

    @property
    def dtype(self) -> torch.dtype:
        """The element type."""
        return self.tensor_like.dtype

    def _behind(self) -> list[torch.Tensor]:
        return [_tensor_at(int(address), self.tensor_like) for address in self.dev_ptrs.flatten().tolist()]

    def load(self, index: Any, mask: Any = None) -> Block:
        """The elements at ``index`` of each tensor."""
        masks = self._each(mask)
        parts = [load(tensor, index, part) for tensor, part in zip(self._behind(), masks, strict=False)]
        axes = parts[0].axes if parts else ()
        stacked = torch.stack([part.as_subclass(torch.Tensor) for part in parts])
        return block(stacked.reshape(*self.dev_ptrs.shape, *stacked.shape[1:]), [*axes_of(self.dev_ptrs), *axes])

    def store(self, index: Any, value: Any, mask: Any = None) -> None:
        """Stores a value, broadcast, at ``index`` of each tensor."""
        for tensor, part, own in zip(self._behind(), self._each(value), self._each(mask), strict=False):
            store(tensor, index, part, own)

    def _each(self, value: Any) -> Any:
        """The parts of a value for each pointer, where it has the pointers' dimensions."""
        rank = self.dev_ptrs.ndim
        if isinstance(value, torch.Tensor) and value.shape[:rank] == self.dev_ptrs.shape and value.ndim >= rank > 0:
            axes = axes_of(value)[rank:]
            flat = value.as_subclass(torch.Tensor).reshape(-1, *value.shape[rank:])
            return [block(part, axes) for part in flat]
        return itertools.repeat(value)

    @quietly
    def __getitem__(self, index: Any) -> Block:
        return self.load(index)

    @quietly
    def __setitem__(self, index: Any, value: Any) -> None:
        self.store(index, value)


def stacktensor_like(tensor_like: Any, dev_ptrs: Any) -> StackTensor:
    """``hl.stacktensor_like``."""
    if not isinstance(tensor_like, torch.Tensor) or isinstance(tensor_like, Block):
        refuse("hl.stacktensor_like needs a host tensor to go by", id="operand")
    if not isinstance(dev_ptrs, Block) or dev_ptrs.dtype not in (torch.int64, torch.uint64):
        refuse(
            "hl.stacktensor_like needs pointers as they are loaded from a host tensor of 64-bit integers", id="operand"
        )
    if tensor_like.device.type != "cpu":
        refuse("the target 'eager' follows pointers to the host's memory only", "pass tensors of the CPU", id="operand")
    if not bool((dev_ptrs != 0).all()):
        refuse("hl.stacktensor_like met a pointer to nothing", id="operand")
    return StackTensor(tensor_like, dev_ptrs)


def _tensor_at(address: int, like: torch.Tensor) -> torch.Tensor:
    """A tensor that looks like another, over the memory at an address."""
    shape, strides = tuple(like.shape), tuple(like.stride())
    elements = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)) if like.numel() else 0
    memory = (ctypes.c_char * (elements * like.element_size())).from_address(address)
    return torch.frombuffer(memory, dtype=torch.uint8).view(like.dtype).as_strided(shape, strides)
