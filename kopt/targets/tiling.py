"""Hardware tiles of a TPU's memory: what blocks take there, padded to tiles of (8, 128) words of 32 bits."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

#: Lanes and rows of a vector register, which is also a tile of memory.
LANES, SUBLANES = 128, 8
#: Elements that arrays of one dimension are a multiple of.
FLAT = LANES * SUBLANES


def round_up(size: Any, multiple: int) -> Any:
    """The least multiple that is not smaller."""
    return -(-size // multiple) * multiple


def window_bytes(blocks: Sequence[int], bits: int) -> int:
    """Bytes of VMEM that one buffer of a block takes; a dimension of 0 lanes is one that the kernel does not see."""
    return padded_bytes([size for size in blocks if size] or [1], bits)


def scratch_bytes(shape: Sequence[int], bits: int) -> int:
    """Bytes of VMEM of scratch memory: blocks of a single row of 32 bits take no more than that (libtpu 0.0.42)."""
    if len(shape) > 2 and shape[-2] == 1 and bits == 32:
        return prod(shape[:-1]) * round_up(shape[-1], LANES) * 4
    return window_bytes(shape, bits)


def padded_bytes(lanes: Sequence[Any], bits: int) -> Any:
    """Bytes of VMEM of a block of so many lanes; or of each of several, where lanes are NumPy arrays."""
    if len(lanes) < 2:
        return round_up(lanes[0], FLAT) * bits // 8
    rows = round_up(lanes[-2], SUBLANES * 32 // min(bits, 32))
    return rows * round_up(lanes[-1], LANES) * prod(lanes[:-2]) * bits // 8
