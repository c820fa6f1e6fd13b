"""Memory as torch indexes it: dtypes that it lacks by their bits, views by the addresses of their elements."""

from __future__ import annotations

from collections.abc import Sequence

import torch

#: Integers of as many bits, for dtypes that torch moves but does not index.
_AS_BITS = {
    torch.uint16: torch.int16,
    torch.uint32: torch.int32,
    torch.uint64: torch.int64,
    **{getattr(torch, name): torch.uint8 for name in dir(torch) if name.startswith(("float8_", "float4_"))},
}


def bits(value: torch.Tensor) -> torch.Tensor:
    """A tensor that can be indexed, over the same memory."""
    kind = _AS_BITS.get(value.dtype)
    return value if kind is None else value.view(kind)


def read(array: torch.Tensor, index: Sequence[torch.Tensor], shape: Sequence[int]) -> torch.Tensor:
    """A copy of elements."""
    if not array.numel():
        return torch.zeros(shape, dtype=array.dtype, device=array.device)
    taken = bits(array)[tuple(index)].clone() if index else bits(array).clone().expand(shape)
    return taken if str(array.dtype).startswith("torch.float4") else taken.view(array.dtype)


def write(array: torch.Tensor, index: Sequence[torch.Tensor], lanes: torch.Tensor, source: torch.Tensor) -> None:
    """Puts the chosen lanes of a block in their places."""
    if not array.numel() or not bool(lanes.any()):
        return
    memory = bits(array)
    chosen = bits(source.contiguous())[lanes]
    if index:
        memory.index_put_(tuple(each[lanes] for each in index), chosen)
    else:
        memory.copy_(chosen.reshape(()))


def addresses(array: torch.Tensor, index: Sequence[torch.Tensor]) -> torch.Tensor:
    """Where elements are in `flat` memory: one that a view repeats is one."""
    found = torch.zeros_like(index[0])
    for each, stride in zip(index, array.stride(), strict=True):
        found = found + each * stride
    return found


def flat(array: torch.Tensor) -> torch.Tensor:
    """The memory of a tensor from its first element to its last."""
    spans = [(size - 1) * stride for size, stride in zip(array.shape, array.stride(), strict=True)]
    return array.as_strided((1 + sum(spans) if array.numel() else 0,), (1,))
