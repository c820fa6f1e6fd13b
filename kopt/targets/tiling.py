"""Hardware tiles of a TPU: what blocks take of its memory and of its vector registers, padded to (8, 128) words."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from kopt.open_extents import UNBOUNDED, open_extents

#: Lanes and rows of a vector register, which is also a tile of memory.
LANES, SUBLANES = 128, 8
#: Elements that values of one dimension are a multiple of.
FLAT = LANES * SUBLANES
#: Bytes of a vector register.
REGISTER = 4 * FLAT


def round_up(size: Any, multiple: int) -> Any:
    """The least multiple that is not smaller."""
    return -(-size // multiple) * multiple


def sublanes(bits: int) -> int:
    """Rows that a block's second-last dimension must be a multiple of."""
    return 32 if bits == 8 else SUBLANES


def window_bytes(blocks: Sequence[int], bits: int) -> int:
    """Bytes of VMEM that one buffer of a block takes; a dimension of 0 lanes is one that the kernel does not see.

    No memory is known to hold a block with an extent that differs from call to call.
    """
    if open_extents(blocks):
        return UNBOUNDED
    return padded_bytes([size for size in blocks if size] or [1], bits)


def padded_bytes(lanes: Sequence[Any], bits: int) -> Any:
    """Bytes of VMEM of a block of so many lanes; or of each of several, where lanes are NumPy arrays.

    libtpu 0.0.42 pads lanes to 128, and rows to 8: those of fewer than 8 to a power of two, and of narrow elements to
    as many as a word holds. Of one dimension only words are filled.
    """
    packed = _packed(bits)
    if len(lanes) < 2:
        return round_up(lanes[0], LANES * packed) * bits // 8
    *outer, rows, last = lanes
    least = 1 + (rows > 1) + 2 * (rows > 2) + 4 * (rows > 4)
    tile = least + (packed - least) * (least < packed)
    return round_up(rows, tile) * round_up(last, LANES) * prod(outer) * bits // 8


def compact_order(shape: Sequence[int], bits: int) -> tuple[int, ...]:
    """The dimensions of an array in XLA's order, the outermost first: the least memory; row by row where that is least.

    So libtpu 0.0.42 lays out what enters or leaves a program.
    """
    rank = len(shape)
    orders = [
        (*(dim for dim in range(rank) if dim not in (rows, lanes)), rows, lanes)
        for lanes in reversed(range(rank))
        for rows in reversed(range(rank))
        if rows != lanes
    ]
    return min(orders, key=lambda order: padded_bytes([shape[dim] for dim in order], bits), default=(*range(rank),))


def register_bytes(lanes: Sequence[Any], bits: int) -> Any:
    """Bytes of the vector registers that a value of so many lanes takes: whole ones, of 8 by 128 words."""
    if len(lanes) < 2:
        return round_up(lanes[0] if lanes else 1, FLAT) * bits // 8
    *outer, rows, last = lanes
    return round_up(rows, SUBLANES * _packed(bits)) * round_up(last, LANES) * prod(outer) * bits // 8


def _packed(bits: int) -> int:
    """Elements in a word."""
    return max(1, 32 // bits)
