"""Lanes that a choice only puts back where they were loaded: ``x[rows] = torch.where(mask, new, x[rows])``.

A row that is named twice keeps what the other lane writes. Other targets leave such lanes out by the pass
``mask-rmw-scatter``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kopt.eager.blocks import Block, axes_of, block


@dataclass(frozen=True, eq=False)
class Loaded:
    """Where a block was loaded, and the number of writes to the array before."""

    array: torch.Tensor
    index: Sequence[torch.Tensor]
    version: int

    def lies_at(self, array: torch.Tensor, index: Sequence[torch.Tensor]) -> bool:
        """Whether the elements are still what is at these places."""
        here = (
            self.array is array or self.array.data_ptr() == array.data_ptr() and self.array.stride() == array.stride()
        )
        if not here or self.version != array._version or len(index) != len(self.index):
            return False
        return all(torch.equal(*pair) for pair in zip(self.index, index, strict=True))


def note_load(value: Block, array: torch.Tensor, index: Sequence[torch.Tensor]) -> Block:
    """Remembers where a block is from."""
    value.loaded = Loaded(array, tuple(index), array._version)
    return value


def note_choice(result: Any, arguments: Sequence[Any]) -> None:
    """Remembers which lanes of ``torch.where(condition, a, b)`` are as they were loaded."""
    if not isinstance(result, Block) or len(arguments) != 3 or not isinstance(arguments[0], torch.Tensor):
        return
    condition = arguments[0]
    opposite = block(~condition.as_subclass(torch.Tensor), axes_of(condition))
    old = [getattr(value, "loaded", None) for value in arguments[1:]]
    result.chosen = tuple(
        (lanes, where) for lanes, where in zip((condition, opposite), old, strict=True) if where is not None
    )


def lanes_put_back(value: Any, array: torch.Tensor, index: Sequence[torch.Tensor]) -> Block | None:
    """Which lanes of a stored value are there already since it was loaded; None where none are known to be."""
    chosen = getattr(value, "chosen", ())
    return next((lanes for lanes, old in chosen if old.lies_at(array, index)), None)
