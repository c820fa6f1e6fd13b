"""What a row of the table of examples says: where a kernel and its torch reference are, its arguments and sizes.

A row's ``args`` makes the arguments from a size's ``dims`` with an `Inputs`. Sizes:

| name | for | extents |
|---|---|---|
| ``tiny`` | the strict interpreter | a few cells; no extent is a multiple of its block |
| ``ragged`` | the interpreters | some dozen cells; no extent is a multiple of its block |
| ``real`` | compilers, accelerators, the demo | as in a model; kopt chooses the blocks |
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
#: What stands beside each dtype in a kernel of mixed dtypes.
OTHER = {torch.float32: torch.bfloat16, torch.bfloat16: torch.int32, torch.float16: torch.float32}


class Inputs:
    """Makes seeded random arguments of one floating dtype on one device."""

    def __init__(self, dtype: torch.dtype, device: str = "cpu", seed: int = 0):
        self.dtype = dtype
        self.device = device
        self._generator = torch.Generator(device=device).manual_seed(seed)

    def __call__(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        """Normally distributed elements."""
        return (self._normal(shape) * scale).to(self.dtype)

    def other(self, *shape: int) -> torch.Tensor:
        """Elements of another dtype, for kernels that mix them."""
        return (self._normal(shape) * 8).to(OTHER[self.dtype])

    def below(self, high: int, *shape: int) -> torch.Tensor:
        """32-bit integers from 0 up to but not including ``high``."""
        return torch.randint(high, shape, generator=self._generator, device=self.device, dtype=torch.int32)

    def offsets(self, items: int, rows: int) -> torch.Tensor:
        """Where each item's rows begin, and where the last one's end: 64-bit integers that never go down."""
        inner = torch.randint(rows + 1, (items - 1,), generator=self._generator, device=self.device)
        ends = torch.tensor([0, rows], device=self.device)
        return torch.cat([inner, ends]).sort().values

    def seed(self) -> torch.Tensor:
        """A seed of 64 bits; a tensor, so that a kernel serves for all seeds."""
        return torch.randint(2**63 - 1, (), generator=self._generator, device=self.device)

    def _normal(self, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.randn(shape, generator=self._generator, device=self.device)


class UnfilledInputs(Inputs):
    """Makes arguments to lower a kernel for: floating elements are what their memory held before."""

    def __call__(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        """Elements of no value."""
        return torch.empty(shape, dtype=self.dtype, device=self.device)

    def other(self, *shape: int) -> torch.Tensor:
        """Elements of another dtype, of no value."""
        return torch.empty(shape, dtype=OTHER[self.dtype], device=self.device)


@dataclass(frozen=True)
class Size:
    """Extents, and the block sizes to run them with (None: kopt chooses)."""

    dims: tuple[int, ...]
    blocks: tuple[int, ...] | None = None

    @property
    def config(self) -> dict[str, Any]:
        """The configuration that names the blocks."""
        return {} if self.blocks is None else {"block_sizes": list(self.blocks)}


@dataclass(frozen=True)
class Example:
    """One kernel with everything that is needed to run and judge it.

    ``path`` is ``file:kernel:reference``; ``terms`` gives the length of the longest sum from the dims, which decides
    how far two right results may differ. ``light`` rows are checked at fewer sizes, in fewer dtypes: they are much
    like others.
    """

    name: str
    path: str
    args: Callable[..., tuple[Any, ...]]
    sizes: Mapping[str, Size]
    terms: Callable[..., int] = lambda *dims: 1
    light: bool = False

    @property
    def file(self) -> str:
        """The name of the file in ``examples/``, without its ending."""
        return self.path.split(":")[0]

    @property
    def kernel(self) -> Any:
        """The `kopt.Kernel`."""
        return self._attribute(1)

    @property
    def reference(self) -> Callable[..., Any]:
        """The torch function of the same arguments."""
        return self._attribute(2)

    def make_args(self, size: str, dtype: torch.dtype, device: str = "cpu") -> tuple[Any, ...]:
        """Arguments of a size, the same ones each time."""
        return self.args(Inputs(dtype, device), *self.sizes[size].dims)

    def unfilled(self, size: str, dtype: torch.dtype) -> tuple[Any, ...]:
        """Arguments of a size whose floating elements nobody reads, for what only lowers: large ones cost nothing."""
        return self.args(UnfilledInputs(dtype), *self.sizes[size].dims)

    def reduction_length(self, size: str) -> int:
        """Terms of the longest sum at a size."""
        return self.terms(*self.sizes[size].dims)

    def _attribute(self, part: int) -> Any:
        module = importlib.import_module(f"{__package__}.{self.file}")
        return getattr(module, self.path.split(":")[part])


def sizes(tiny: tuple[Any, Any], ragged: tuple[Any, Any], *real: int) -> dict[str, Size]:
    """The three sizes: extents with blocks for the first two, extents alone for the last."""
    return {"tiny": Size(*tiny), "ragged": Size(*ragged), "real": Size(real)}
