"""What a family of kernels is: a kernel, the extents that it has, its arguments, and torch's own answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from test.extents.written import with_blocks

EXTENTS = (0, 1, 2, 3, 5, 8, 13, 16, 17, 128, 129)
BLOCKS = (1, 2, 4, 8, 16, 32, 64)
#: As many elements and cells as an interpreter takes quickly.
_ELEMENTS, _CELLS = 20_000, 150

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Family:
    """A kernel, its extents by letter, those of its open blocks, what it is called with, and what torch gives.

    ``steps`` are the extents that it goes through element by element.
    """

    kernel: Callable[..., Any]
    extents: str
    blocks: str
    arguments: Callable[[Sizes], tuple[Any, ...]]
    wanted: Callable[..., Any]
    steps: str = ""

    @property
    def name(self) -> str:
        """The kernel's."""
        return self.kernel.__name__


@dataclass(frozen=True)
class Case:
    """A family at some extents, in blocks of some sizes: None for those that the compiler chooses.

    Sizes stand in the configuration, or are ``written`` in the kernel's source.
    """

    family: Family
    sizes: Sizes
    blocks: tuple[int, ...] | None
    written: bool = False

    def __str__(self) -> str:
        extents = " ".join(f"{letter}={size}" for letter, size in self.sizes.items())
        where = " of its source" if self.written else ""
        return f"{self.family.name} {extents} in {list(self.blocks) if self.blocks else 'chosen'} blocks{where}"

    @property
    def config(self) -> dict[str, Any]:
        """The configuration."""
        return {} if self.blocks is None or self.written else {"block_sizes": list(self.blocks)}

    @property
    def kernel(self) -> Callable[..., Any]:
        """The kernel, in the blocks that are its own."""
        kernel = self.family.kernel
        return with_blocks(kernel, self.blocks) if self.written and self.blocks else kernel


def numbers(*shape: int) -> torch.Tensor:
    """Small integers as floats: sums are exact."""
    return torch.randint(-4, 5, shape).float()


def operands(*shapes: str) -> Callable[[Sizes], tuple[torch.Tensor, ...]]:
    """Arrays of the named extents."""
    return lambda sizes: tuple(numbers(*(sizes[letter] for letter in shape.split())) for shape in shapes)


def draw(family: Family, random: random.Random, extents: Sequence[int] = EXTENTS) -> Case:
    """Extents and blocks at random, small enough for interpreters."""
    letters = family.extents.split()
    while True:
        sizes = {letter: random.choice(extents) for letter in letters}
        steps = math.prod(sizes[letter] for letter in family.steps.split())
        if math.prod(max(1, size) for size in sizes.values()) > _ELEMENTS or steps > _CELLS:
            continue
        if not family.blocks or random.random() < 0.2:
            return Case(family, sizes, None)
        open = family.blocks.split()
        blocks = tuple(_block(sizes[letter], random) for letter in open)
        cells = math.prod(-(-max(1, sizes[at]) // size) for at, size in zip(open, blocks, strict=True))
        if cells * steps <= _CELLS:
            return Case(family, sizes, blocks, random.random() < 0.6)


def _block(extent: int, random: random.Random) -> int:
    """A power of two, all of the extent, or more."""
    kinds = [random.choice(BLOCKS), max(1, extent), 1 << max(0, extent - 1).bit_length(), 2 << extent.bit_length()]
    return random.choice(kinds)
