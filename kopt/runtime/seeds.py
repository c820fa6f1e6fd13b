"""Seeds that a kernel's calls draw: hidden arguments without data of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kopt import dtypes
from kopt.dtypes import DType
from kopt.errors import ArgumentError
from kopt.specs import TensorSpec, is_known

_WORD = dtypes.BY_SPEC["i32"]


@dataclass(frozen=True)
class RandomSeed(TensorSpec):
    """64 bits, as two words, that torch's generator of a device gives to each call."""

    shape: tuple[int, ...] = (2,)
    dtype: DType = _WORD
    device: str = "cpu"

    def draw(self) -> Any:
        """The seed of one call; the generator goes on, and starts where ``torch.manual_seed`` says."""
        import torch

        return torch.randint(-(2**31), 2**31, self.shape, dtype=torch.int32, device=self.device)


def drawn(hidden: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Hidden arguments as one call has them.

    Raises `ArgumentError` inside ``jax.jit``, where all calls of the compiled function would have one seed.
    """
    if any(isinstance(value, RandomSeed) for value in hidden) and not all(map(is_known, args)):
        raise ArgumentError(
            "the kernel draws random numbers from torch's generator, which does not run inside jax.jit",
            notes=["use hl.rand(shape, seed=…) and pass the seed"],
        )
    return [value.draw() if isinstance(value, RandomSeed) else value for value in hidden]
