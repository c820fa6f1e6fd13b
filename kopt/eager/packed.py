"""Groups of packed numbers: two of 4 bits in a byte, the first in its low half."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.eager.blocks import Block, axes_of, block
from kopt.eager.indexing import load
from kopt.eager.state import refuse

_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_GROUP = 16


def fp4_pair(value: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The numbers in the halves of bytes, in f32."""
    if not isinstance(value, torch.Tensor) or value.dtype != torch.uint8:
        refuse("two numbers of 4 bits are a byte of uint8", "write x.view(torch.uint8)", id="dtype")
    sizes = torch.tensor(_VALUES + tuple(-each for each in _VALUES), device=value.device)
    codes = value.as_subclass(torch.Tensor).to(torch.int64)
    return sizes[codes & 15], sizes[codes >> 4]


def float4_e2m1fn_x2_to_float32(value: Any) -> tuple[Block, ...]:
    """``hl.float4_e2m1fn_x2_to_float32``."""
    return tuple(block(half, axes_of(value)) for half in fp4_pair(value))


def load_fp4_group(storage: Any, group_offsets: Any, extra_mask: Any = None) -> tuple[Block, ...]:
    """``hl.load_float4_e2m1fn_x16_to_float16``: of 8 bytes, 16 numbers."""
    pairs = map(float4_e2m1fn_x2_to_float32, _loaded(storage, torch.uint8, group_offsets, _GROUP // 2, extra_mask))
    return tuple(block(number.to(torch.float16), axes_of(number)) for pair in pairs for number in pair)


def load_bf16_group(storage: Any, group_offsets: Any, extra_mask: Any = None) -> tuple[Block, ...]:
    """``hl.load_bfloat16_x16_to_float16``."""
    loaded = _loaded(storage, torch.bfloat16, group_offsets, _GROUP, extra_mask)
    return tuple(block(number.to(torch.float16), axes_of(number)) for number in loaded)


def _loaded(storage: Any, dtype: torch.dtype, groups: Any, size: int, mask: Any) -> list[Block]:
    """Each of the elements of groups, which are numbered from the start of an array."""
    if not isinstance(storage, torch.Tensor) or storage.dtype != dtype or not storage.is_contiguous():
        refuse(f"groups of numbers are loaded from a contiguous host tensor of {dtype}", id="dtype")
    groups = groups.index if hasattr(groups, "index") and not isinstance(groups, torch.Tensor) else groups
    flat = storage.view(-1)
    return [load(flat, [block(groups * size + number, axes_of(groups))], mask) for number in range(size)]


PACKED: dict[str, Callable[..., Any]] = {
    "float4_e2m1fn_x2_to_float32": float4_e2m1fn_x2_to_float32,
    "load_float4_e2m1fn_x16_to_float16": load_fp4_group,
    "load_bfloat16_x16_to_float16": load_bf16_group,
}
