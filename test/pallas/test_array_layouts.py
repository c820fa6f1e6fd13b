"""Arrays that XLA does not lay out row by row: their values, and that libtpu copies none of them for a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from examples.attention import attention, causal_attention
from examples.softmax import softmax
from kopt.runtime.tolerance import mismatch
from kopt.specs import spec_of
from test.rotating import rotating


@kopt.kernel
def product(x, y):
    m, n = x.size(0), y.size(1)
    out = torch.empty([m, n], dtype=x.dtype)
    for i, j in hl.tile([m, n]):
        acc = hl.zeros([i, j], dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[i, k], y[k, j])
        out[i, j] = acc.to(x.dtype)
    return out


@kopt.kernel
def scaled_in_place(x, scale):
    """Reads and writes one array, and takes a column of one element a row."""
    for i in hl.tile(x.size(0)):
        x[i, :] = x[i, :] * scale[i, :]
    return x


@kopt.kernel
def two_passes(x):
    """What the first loop gives the second takes."""
    middle, out = torch.empty_like(x), torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        middle[i, :] = x[i, :] * 2
    for j in hl.tile(x.size(0)):
        out[j] = middle[j, :].float().sum(1)
    return out


@kopt.kernel
def few_items(x, bias):
    """Blocks of all items, of which XLA makes the rows of tiles."""
    out = torch.empty_like(x)
    for items, rows in hl.tile([x.size(0), x.size(1)]):
        out[items, rows, :] = (x[items, rows, :] * 2 + bias[items, rows][:, :, None]).to(x.dtype)
    return out


@kopt.kernel
def few_heads(x):
    """As `few_items`, of each batch."""
    out = torch.empty([x.size(0), x.size(1), x.size(2)], dtype=torch.float32)
    for batch in hl.grid(x.size(0)):
        for heads, rows in hl.tile([x.size(1), x.size(2)]):
            out[batch, heads, rows] = x[batch, heads, rows, :].float().sum(2)
    return out


def normal(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(shape).to(dtype)


def small(*shape: int) -> torch.Tensor:
    return torch.randint(-9, 9, shape, dtype=torch.int32)


Arguments = Callable[[], tuple[Any, ...]]
CASES: dict[str, tuple[Any, Arguments, dict[str, Any]]] = {
    "rows of odd width": (softmax, lambda: (normal(512, 300),), {"block_sizes": [128]}),
    "a short last block": (softmax, lambda: (normal(1000, 513, dtype=torch.float32),), {"block_sizes": [128]}),
    "a product": (product, lambda: (normal(256, 300), normal(300, 200)), {"block_sizes": [128, 200, 300]}),
    "parts of a product": (product, lambda: (normal(512, 192), normal(192, 320)), {"block_sizes": [128, 64, 64]}),
    "heads of 64": (attention, lambda: tuple(normal(2, 256, 64) for _ in "qkv"), {"block_sizes": [128, 128]}),
    "causal": (causal_attention, lambda: tuple(normal(2, 256, 64) for _ in "qkv"), {"block_sizes": [128, 128]}),
    "in place": (
        scaled_in_place,
        lambda: (normal(384, 40, dtype=torch.float32), normal(384, 1)),
        {"block_sizes": [128]},
    ),
    "two kernels": (two_passes, lambda: (normal(512, 72),), {"block_sizes": [128, 256]}),
    "one of two kernels": (two_passes, lambda: (normal(512, 72),), {"block_sizes": [128, 64]}),
    "few items": (few_items, lambda: (normal(4, 513, 256), normal(4, 513)), {"block_sizes": [4, 128]}),
    "few items of f32": (
        few_items,
        lambda: (normal(2, 65, 128, dtype=torch.float32), normal(2, 65)),
        {"block_sizes": [2, 16]},
    ),
    "few items of bytes": (
        few_items,
        lambda: (small(4, 77, 128).to(torch.int8), small(4, 77)),
        {"block_sizes": [4, 32]},
    ),
    "few heads": (few_heads, lambda: (normal(3, 4, 129, 128),), {"block_sizes": [4, 64]}),
    "integers": (two_passes, lambda: (small(512, 100),), {"block_sizes": [128, 128]}),
    "bytes": (two_passes, lambda: (small(512, 100).to(torch.int8),), {"block_sizes": [128, 128]}),
}
#: What is written in place is copied where the caller keeps it.
COPIED = ["in place"]


def with_config(kernel: Any, config: dict[str, Any], **options: Any) -> Any:
    return kopt.kernel(kernel.fn, config=config, **options)


@pytest.mark.parametrize("target", ["pallas:interpret", "pallas:strict"])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, target: str) -> None:
    kernel, arguments, config = CASES[name]
    args = arguments()
    want = kernel.on("eager")(*(arg.clone() for arg in args))
    found = with_config(kernel, config, target=target)(*(arg.clone() for arg in args))
    assert mismatch(found, want, spec_of(args[0]).dtype, max(args[0].shape)) is None


@pytest.mark.parametrize(
    ("name", "chip"), rotating([name for name in CASES if name not in COPIED], "v6e", ("v5e", "tpu7x", "v5p"))
)
def test_nothing_is_copied(name: str, chip: str) -> None:
    kernel, arguments, config = CASES[name]
    report = with_config(kernel, config).lower(*arguments(), target=f"pallas:{chip}").report(estimates=False)
    assert report["legal"], report["reason"]
    assert "copy" not in report["hlo_ops"]
