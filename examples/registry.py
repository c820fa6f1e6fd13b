"""The table of examples: where each kernel and its torch reference are, what arguments it takes, at which sizes.

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
    how far two right results may differ.
    """

    name: str
    path: str
    args: Callable[..., tuple[Any, ...]]
    sizes: Mapping[str, Size]
    terms: Callable[..., int] = lambda *dims: 1

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

    def reduction_length(self, size: str) -> int:
        """Terms of the longest sum at a size."""
        return self.terms(*self.sizes[size].dims)

    def _attribute(self, part: int) -> Any:
        module = importlib.import_module(f"{__package__}.{self.file}")
        return getattr(module, self.path.split(":")[part])


def _sizes(tiny: tuple[Any, Any], ragged: tuple[Any, Any], *real: int) -> dict[str, Size]:
    return {"tiny": Size(*tiny), "ragged": Size(*ragged), "real": Size(real)}


_MATRIX = _sizes(((19, 140), (16, 128)), ((75, 333), (32, 128)), 4096, 2560)
_FIXED = _sizes(((19, 140), ()), ((75, 333), ()), 4096, 2560)
_ROWS = _sizes(((19, 140), (16,)), ((75, 333), (32,)), 4096, 2560)
_ROWS_AND_COLUMNS = _sizes(((19, 140), (16, 128)), ((75, 333), (32, 128)), 4096, 2560)
_PRODUCT = _sizes(((19, 140, 150), (16, 128, 128)), ((75, 300, 333), (32, 128, 128)), 1024, 1000, 768)
_HEADS = _sizes(((1, 1, 40, 32), (16, 128)), ((2, 3, 150, 64), (32, 128)), 4, 16, 1024, 128)


def _columns(m: int, n: int, *_: int) -> int:
    return n


def _norm(new: Inputs, m: int, n: int) -> tuple[Any, ...]:
    return new(m, n), new(n), new(n)


def _epilogue(new: Inputs, m: int, k: int, n: int) -> tuple[Any, ...]:
    from examples.matmul import bias_relu

    return new(m, k), new(k, n), bias_relu(new(n))


def _qkv(new: Inputs, batch: int, heads: int, length: int, depth: int) -> tuple[Any, ...]:
    shape = (batch, heads, length, depth)
    return new(*shape), new(*shape), new(*shape)


EXAMPLES = (
    Example("exp", "exp:exp:reference", lambda new, m, n: (new(m, n),), _MATRIX),
    Example("add", "add:add:reference", lambda new, m, n: (new(m, n), new.other(m, 1)), _MATRIX),
    Example("add_row", "add:add_row:reference", lambda new, m, n: (new(m, n), new.other(n)), _MATRIX),
    Example("dropout", "dropout:dropout:reference", lambda new, m, n: (new(m, n), 0.25, new.seed()), _FIXED),
    Example(
        "dropout_backward",
        "dropout:dropout_backward:reference_backward",
        lambda new, m, n: (new(m, n), 0.25, new.seed()),
        _FIXED,
    ),
    Example("softmax", "softmax:softmax:reference", lambda new, m, n: (new(m, n),), _ROWS, _columns),
    Example(
        "softmax_decomposed",
        "softmax:softmax_decomposed:reference_decomposed",
        lambda new, m, n: (new(m, n),),
        _ROWS,
        _columns,
    ),
    Example(
        "softmax_two_pass",
        "softmax:softmax_two_pass:reference",
        lambda new, m, n: (new(m, n),),
        _ROWS_AND_COLUMNS,
        _columns,
    ),
    Example("layer_norm", "layer_norm:layer_norm:reference", _norm, _ROWS, _columns),
    Example(
        "layer_norm_no_bias",
        "layer_norm:layer_norm:reference",
        lambda new, m, n: (new(m, n), new(n)),
        _ROWS,
        _columns,
    ),
    Example("rms_norm", "rms_norm:rms_norm:reference", lambda new, m, n: (new(m, n), new(n)), _ROWS, _columns),
    Example("sum_rows", "sums:sum_rows:reference_rows", lambda new, m, n: (new(m, n),), _ROWS, _columns),
    Example(
        "sum_columns",
        "sums:sum_columns:reference_columns",
        lambda new, m, n: (new(m, n),),
        _sizes(((19, 140), (128,)), ((75, 333), (128,)), 4096, 2560),
        lambda m, n: m,
    ),
    Example(
        "sum_middle",
        "sums:sum_middle:reference_rows",
        lambda new, m, k, n: (new(m, k, n),),
        _sizes(((10, 5, 140), (8, 128)), ((19, 21, 333), (8, 128)), 128, 100, 2560),
        lambda m, k, n: k,
    ),
    Example("long_sum", "sums:long_sum:reference_rows", lambda new, m, n: (new(m, n),), _ROWS_AND_COLUMNS, _columns),
    Example("welford", "welford:welford:reference", _norm, _ROWS_AND_COLUMNS, _columns),
    Example(
        "matmul",
        "matmul:matmul:reference",
        lambda new, m, k, n: (new(m, k), new(k, n)),
        _PRODUCT,
        lambda m, k, n: k,
    ),
    Example("matmul_epilogue", "matmul:matmul:reference", _epilogue, _PRODUCT, lambda m, k, n: k),
    Example(
        "split_matmul",
        "split_k:split_matmul:reference",
        lambda new, m, k, n: (new(m, k), new(k, n), 4),
        _sizes(((19, 600, 150), (16, 128, 128)), ((75, 1000, 333), (32, 128, 128)), 256, 8192, 512),
        lambda m, k, n: k,
    ),
    Example(
        "bmm",
        "bmm:bmm:reference",
        lambda new, b, m, k, n: (new(b, m, k), new(b, k, n)),
        _sizes(((2, 19, 140, 150), (1, 16, 128, 128)), ((3, 75, 300, 333), (1, 32, 128, 128)), 16, 512, 768, 1000),
        lambda b, m, k, n: k,
    ),
    Example("attention", "attention:attention:reference", _qkv, _HEADS, lambda b, h, n, d: n),
    Example("causal_attention", "attention:causal_attention:reference_causal", _qkv, _HEADS, lambda b, h, n, d: n),
    Example("swiglu", "gated:swiglu:reference_swiglu", lambda new, m, n: (new(m, n), new(m, n)), _MATRIX),
    Example("geglu", "gated:geglu:reference_geglu", lambda new, m, n: (new(m, n), new(m, n)), _MATRIX),
    Example(
        "cross_entropy",
        "cross_entropy:cross_entropy:reference",
        lambda new, m, n: (new(m, n), new.below(n, m)),
        _ROWS,
        lambda m, n: m * n,
    ),
    Example(
        "cross_entropy_rows",
        "cross_entropy:cross_entropy_rows:reference_rows",
        lambda new, m, n: (new(m, n), new.below(n, m)),
        _ROWS,
        _columns,
    ),
    Example(
        "embedding",
        "embedding:embedding:reference",
        lambda new, n, rows, d: (new.below(rows, 2, n), new(rows, d)),
        _sizes(((11, 20, 140), (16, 128)), ((45, 50, 333), (32, 128)), 2048, 8000, 1024),
    ),
    Example(
        "scatter_add",
        "scatter_add:scatter_add:reference",
        lambda new, n, rows, d: (new(rows, d), new.below(rows, n), new(n, d)),
        _sizes(((11, 20, 140), (16, 128)), ((75, 50, 333), (32, 128)), 256, 2048, 512),
        lambda n, rows, d: n,
    ),
    Example(
        "histogram",
        "histogram:histogram:reference_histogram",
        lambda new, n, bins: (new.below(bins, n), bins),
        _sizes(((21, 5), (16,)), ((333, 50), (128,)), 4096, 256),
    ),
    Example(
        "counting_sort",
        "histogram:counting_sort:reference_sort",
        lambda new, n, bins: (new.below(bins, n), bins),
        _sizes(((21, 5), (16, 16)), ((333, 50), (128, 128)), 4096, 256),
    ),
    Example(
        "concat_columns",
        "concat:concat_columns:reference_columns",
        lambda new, m, n, k: (new(m, n), new(m, k)),
        _sizes(((19, 100, 70), (16,)), ((75, 200, 133), (32,)), 4096, 1500, 1060),
    ),
    Example(
        "concat_masked",
        "concat:concat_masked:reference_columns",
        lambda new, m, n, k: (new(m, n), new(m, k)),
        _sizes(((19, 100, 70), (16, 128)), ((75, 200, 133), (32, 128)), 4096, 1500, 1060),
    ),
    Example(
        "concat_rows",
        "concat:concat_rows:reference_rows",
        lambda new, m, k, n: (new(m, n), new(k, n)),
        _sizes(((19, 10, 140), (16, 128, 16, 128)), ((75, 50, 333), (32, 128, 32, 128)), 2001, 1500, 1000),
    ),
    Example(
        "packed_attention",
        "packed:packed_attention:reference_attention",
        lambda new, items, n, h, d: (new(n, h, d), new(n, h, d), new(n, h, d), new.offsets(items, n), True),
        _sizes(((3, 19, 1, 32), (8, 16)), ((5, 75, 2, 64), (32, 16)), 16, 2048, 8, 128),
        lambda items, n, h, d: n,
    ),
    Example(
        "jagged_jagged_bmm",
        "packed:jagged_jagged_bmm:reference_products",
        lambda new, items, n, rows, columns: (new(n, rows), new(n, columns), new.offsets(items, n)),
        _sizes(((3, 19, 20, 140), (16, 128, 8)), ((5, 75, 33, 150), (16, 128, 16)), 64, 8000, 256, 300),
        lambda items, n, rows, columns: n,
    ),
    Example(
        "grouped_matmul",
        "packed:grouped_matmul:reference_grouped",
        lambda new, items, n, k, m: (new(n, k), new(items, k, m, scale=0.25), new.offsets(items, n)),
        _sizes(((3, 19, 140, 150), (16, 128, 128)), ((5, 75, 200, 333), (16, 128, 128)), 16, 4096, 1000, 768),
        lambda items, n, k, m: k,
    ),
    Example(
        "standardize",
        "standardize:standardize:reference",
        lambda new, m, n: (new(m, n),),
        _sizes(((19, 140), (128, 16, 128)), ((75, 333), (128, 32, 128)), 4096, 2560),
        lambda m, n: m,
    ),
)

BY_NAME = {example.name: example for example in EXAMPLES}
