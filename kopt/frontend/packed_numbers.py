"""``hl.float4_e2m1fn_x2_to_float32`` and its kin: groups of packed numbers, unpacked.

A byte holds two numbers of 4 bits, the first in its low half: a sign, two bits of exponent, one of mantissa.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.frontend.indexing import load
from kopt.frontend.registry import OPERATIONS
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, describe

_GROUP = 16


def fp4_pair(value: Any) -> tuple[DeviceTensor, DeviceTensor]:
    """``hl.float4_e2m1fn_x2_to_float32``: the numbers in the halves of bytes, in f32."""
    bytes = as_tensor(value)
    if bytes.dtype != torch.uint8:
        unsupported(
            f"two numbers of 4 bits are a byte of uint8, found {describe(value)}",
            "write x.view(torch.uint8)",
            id="dtype",
        )
    wide = bytes.to(torch.int32)
    return _fp4(wide & 15), _fp4(wide >> 4)


def _fp4(code: DeviceTensor) -> DeviceTensor:
    """0, 0.5, 1, 1.5, 2, 3, 4, 6 by the low three bits, negative where the fourth is set."""
    where, low = OPERATIONS["where"], (code & 7).to(torch.float32)
    size = where(low < 5, low * 0.5, where(low < 7, low - 2.0, 6.0))
    return where(code >= 8, -size, size)


def load_fp4_group(storage: Any, group_offsets: Any, extra_mask: Any = None) -> tuple[DeviceTensor, ...]:
    """``hl.load_float4_e2m1fn_x16_to_float16``: of 8 bytes, 16 numbers."""
    pairs = map(fp4_pair, _loaded(storage, torch.uint8, group_offsets, _GROUP // 2, extra_mask))
    return tuple(number.to(torch.float16) for pair in pairs for number in pair)


def load_bf16_group(storage: Any, group_offsets: Any, extra_mask: Any = None) -> tuple[DeviceTensor, ...]:
    """``hl.load_bfloat16_x16_to_float16``."""
    return tuple(n.to(torch.float16) for n in _loaded(storage, torch.bfloat16, group_offsets, _GROUP, extra_mask))


def _loaded(storage: Any, dtype: torch.dtype, groups: Any, size: int, mask: Any) -> list[DeviceTensor]:
    """Each of the elements of groups, which are numbered from the start of an array."""
    if not isinstance(storage, torch.Tensor) or storage.dtype != dtype or not storage.is_contiguous():
        unsupported(
            f"groups of numbers are loaded from a contiguous host tensor of {dtype}, found {describe(storage)}",
            id="dtype",
        )
    flat = current().host.meta(storage).view(-1)
    first = as_tensor(groups) * size
    return [load(flat, [first + number], mask) for number in range(size)]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "float4_e2m1fn_x2_to_float32": fp4_pair,
    "load_float4_e2m1fn_x16_to_float16": load_fp4_group,
    "load_bfloat16_x16_to_float16": load_bf16_group,
}
