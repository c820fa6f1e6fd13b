"""``hl.rand``, ``hl.randint`` and ``hl.rand4x``: Philox 4x32-10 of a seed and of an element's number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.eager.blocks import Block, axes_of, block
from kopt.eager.state import current, refuse
from kopt.eager.tiles import Tile, real_size

_ROUNDS = 10
_FACTORS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = 0xFFFFFFFF
#: From 31 random bits to a float below 1: the largest scale for which none rounds up to it.
_SCALE = 4.6566127342e-10


def rand(shape: Any, seed: Any, device: Any = None, offsets: Any = None) -> Block:
    """``hl.rand``."""
    numbers = _numbers(shape) if offsets is None else _given(offsets)
    return _uniform(_words(seed, numbers)[0], numbers)


def rand4x(seed: Any, offsets: Any, device: Any = None) -> tuple[Block, ...]:
    """``hl.rand4x``."""
    numbers = _given(offsets)
    return tuple(_uniform(word, numbers) for word in _words(seed, numbers))


def randint(shape: Any, low: Any, high: Any, seed: Any, device: Any = None) -> Block:
    """``hl.randint``: ``low`` plus the remainder of the word's magnitude."""
    low, high = int(low), int(high)
    if low >= high:
        refuse(f"randint needs low below high, found {low} and {high}", id="operand")
    numbers = _numbers(shape)
    magnitude = _words(seed, numbers)[0].abs()
    return block((low + magnitude % (high - low)).to(torch.int32), axes_of(numbers))


def _uniform(word: torch.Tensor, numbers: Block) -> Block:
    folded = torch.where(word < 0, -word - 1, word)
    return block(folded.to(torch.float32) * _SCALE, axes_of(numbers))


def _words(seed: Any, numbers: Block) -> list[torch.Tensor]:
    """The four words of each number, as signed ones of 32 bits held in 64."""
    if not current().on_device:
        refuse(
            "random numbers by seed are made inside device loops", "use torch's on the host", id="outside-device-loop"
        )
    key = _key(seed)
    counter = numbers.as_subclass(torch.Tensor).to(torch.int64)
    words = [counter & _LOW, (counter >> 32) & _LOW, torch.zeros_like(counter), torch.zeros_like(counter)]
    for number in range(_ROUNDS):
        keys = [((key >> shift) + number * step) & _LOW for shift, step in zip((0, 32), _WEYL, strict=True)]
        (a, b), (first, second) = _FACTORS, words[::2]
        words = [
            _high(second, b) ^ words[1] ^ keys[0],
            (second * b) & _LOW,
            _high(first, a) ^ words[3] ^ keys[1],
            (first * a) & _LOW,
        ]
    return [torch.where(word >= 2**31, word - 2**32, word) for word in words]


def _high(word: torch.Tensor, factor: int) -> torch.Tensor:
    """The high word of a product of two words."""
    a, b = word >> 16, word & 0xFFFF
    c, d = factor >> 16, factor & 0xFFFF
    middle = a * d + ((b * d) >> 16)
    other = b * c + (middle & 0xFFFF)
    return a * c + (middle >> 16) + (other >> 16)


def _key(seed: Any) -> int:
    """The 64 bits of a seed."""
    if isinstance(seed, torch.Tensor):
        if seed.numel() != 1 or seed.dtype.is_floating_point or seed.dtype == torch.bool:
            refuse(f"a seed is one integer, found a tensor {list(seed.shape)} of {seed.dtype}", id="operand")
        seed = int(seed)
    if not isinstance(seed, int) or isinstance(seed, bool) or not -(2**63) <= seed < 2**64:
        refuse(f"a seed is one integer of 64 bits, found {seed!r}", id="operand")
    return int(seed) & (2**64 - 1)


def _given(offsets: Any) -> Block:
    """Numbers that the kernel computed."""
    value = offsets.index if isinstance(offsets, Tile) else offsets
    if not isinstance(value, Block) or value.dtype.is_floating_point or value.dtype == torch.bool:
        refuse("offsets are a device tensor of integers", "use hl.tile_index(tile)", id="operand")
    return value


def _numbers(shape: Any) -> Block:
    """The place of each element in the whole array that a shape's tiles and numbers span, row by row."""
    sizes = list(shape) if isinstance(shape, list | tuple) else [shape]
    dims = [real_size(size) for size in sizes]
    total = torch.zeros([size for size, _ in dims], dtype=torch.int64, device=current().device)
    stride = 1
    for position in reversed(range(len(dims))):
        size, axis = dims[position]
        if position and axis is not None and axis.lengths is not None:
            refuse(
                "elements are numbered by the extents of all dimensions but the first, and this loop's is not known",
                "pass offsets=… to hl.rand, or loop over the whole dimension",
                id="operand",
            )
        first = axis.begin if axis is not None else 0
        lanes = torch.arange(first, first + size, device=total.device) * stride
        total = total + lanes.reshape([-1 if n == position else 1 for n in range(len(dims))])
        stride *= axis.extent if axis is not None else size
    return block(total, [axis for _, axis in dims])


RANDOM: dict[str, Callable[..., Any]] = {"rand": rand, "rand4x": rand4x, "randint": randint}
