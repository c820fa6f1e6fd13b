"""Blocks of loops, and the loops: a block is a torch tensor that remembers which loop each of its dimensions is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(eq=False)
class OpenBlockSize:
    """A block size that the kernel leaves open. ``given`` where the configuration or the kernel itself says it."""

    size: int
    given: bool = False
    #: Whether the kernel asks for where its blocks begin or for their numbers, and whether it uses them as lanes.
    counted: bool = False
    walked: bool = False


@dataclass(eq=False)
class LoopAxis:
    """One dimension of one loop under way, and the block that is being visited, ``begin`` to ``end``.

    ``first`` and ``last`` bound the loop; ``lengths`` are those of a jagged one, of which ``last`` is the largest.
    """

    first: int
    last: int
    block_size: int
    open: OpenBlockSize | None = None
    lengths: Block | None = None
    begin: int = 0
    end: int = 0

    @property
    def extent(self) -> int:
        """How many elements the loop walks."""
        return max(0, self.last - self.first)

    @property
    def size(self) -> int:
        """How many elements the block has."""
        return self.end - self.begin

    def walk(self) -> None:
        """Notes that the kernel uses the block's lanes."""
        if self.open is not None:
            self.open.walked = True

    def count(self) -> None:
        """Notes that the kernel uses the block's place."""
        if self.open is not None:
            self.open.counted = True


Axes = tuple[LoopAxis | None, ...]
#: The ``lanes`` of a tile's elements moved by a number.
SHIFTED = "shifted"


class Block(torch.Tensor):
    """A device value. ``axes`` has the loop of each dimension, None for a plain one.

    ``lanes`` tells index vectors that number elements in order: the tile that they are, ``SHIFTED`` for one
    that a number was added to, or True for others. ``loaded`` and ``chosen`` are `kopt.eager.put_back`'s.
    """

    __torch_function__ = torch._C._disabled_torch_function_impl  # pyright: ignore
    axes: Axes
    lanes: Any
    loaded: Any
    chosen: Any


def block(value: torch.Tensor, axes: Sequence[LoopAxis | None] | None = None, lanes: Any = None) -> Block:
    """A tensor as a device value."""
    made = value.as_subclass(Block)
    made.axes = tuple(axes) if axes is not None and len(axes) == value.ndim else (None,) * value.ndim
    made.lanes = lanes
    return made


def axes_of(value: Any) -> Axes:
    """The loops of a value's dimensions."""
    return getattr(value, "axes", None) or (None,) * value.ndim
