"""Packed kernels on every CPU target beside torch: groups of no rows, one group, a huge one among tiny ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
from examples import packed
from kopt.dtypes import BY_SPEC
from kopt.lowered import Lowered
from kopt.passes import pipelines
from kopt.runtime.tolerance import mismatch
from test.kernels import packed_kernels as kernels

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
#: Where the first item starts, and their lengths.
LENGTHS: dict[str, tuple[int, list[int]]] = {
    "mixed": (0, [3, 0, 8, 5]),
    "one": (0, [7]),
    "empty": (2, [0, 0, 0, 0]),
    "huge": (3, [1, 37, 0, 2]),
}
SPECS = {torch.float32: BY_SPEC["f32"], torch.bfloat16: BY_SPEC["bf16"]}


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def routed_arguments(offsets, rows, dtype):
    return (
        random(rows, 20, dtype=dtype),
        random(len(offsets) - 1, 20, 24, dtype=dtype, seed=1) / 4,
        torch.randperm(rows, generator=torch.Generator().manual_seed(2)),
        offsets,
        int(offsets.diff().max()),
    )


def routed(x: torch.Tensor, weights: torch.Tensor, tokens: torch.Tensor, offsets: torch.Tensor, _: int) -> torch.Tensor:
    out = torch.zeros([x.size(0), weights.size(2)])
    for weight, (a, b) in zip(weights.float(), packed.bounds(offsets), strict=True):
        out[tokens[a:b]] = x[tokens[a:b]].float() @ weight
    return out.to(x.dtype)


Case = tuple[Callable[..., Any], Callable[..., torch.Tensor], Callable[..., tuple[Any, ...]], list[int]]
#: A kernel, the same in torch, the arguments for offsets, a number of rows and a dtype, and block sizes.
CASES: dict[str, Case] = {
    "jagged_jagged_bmm": (
        packed.jagged_jagged_bmm,
        packed.reference_products,
        lambda offsets, rows, dtype: (random(rows, 20, dtype=dtype), random(rows, 24, dtype=dtype, seed=1), offsets),
        [16, 16, 8],
    ),
    "attention": (
        packed.packed_attention,
        packed.reference_attention,
        lambda offsets, rows, dtype: (*random(3, rows, 2, 16, dtype=dtype), offsets, False),
        [16, 8],
    ),
    "causal": (
        packed.packed_attention,
        packed.reference_attention,
        lambda offsets, rows, dtype: (*random(3, rows, 2, 16, dtype=dtype), offsets, True),
        [16, 8],
    ),
    "padded": (
        kernels.packed_attention_padded,
        lambda q, k, v, offsets, _: packed.reference_attention(q, k, v, offsets, True),
        lambda offsets, rows, dtype: (*random(3, rows, 2, 16, dtype=dtype), offsets, int(offsets.diff().max())),
        [16, 8],
    ),
    "grouped": (
        kernels.grouped_matmul_filled,
        packed.reference_grouped,
        lambda offsets, rows, dtype: (
            random(rows, 20, dtype=dtype),
            random(len(offsets) - 1, 20, 24, dtype=dtype, seed=1) / 4,
            offsets,
        ),
        [8, 16, 16],
    ),
    "grouped_by_index": (
        kernels.grouped_matmul_by_index,
        packed.reference_grouped,
        lambda offsets, rows, dtype: (
            random(rows, 20, dtype=dtype),
            random(len(offsets) - 1, 20, 24, dtype=dtype, seed=1) / 4,
            offsets,
        ),
        [8, 16, 16],
    ),
    "routed": (
        kernels.routed_matmul,
        routed,
        routed_arguments,
        [8, 16, 16],
    ),
    "routed_kept": (
        kernels.routed_matmul_kept,
        routed,
        routed_arguments,
        [8, 16, 16],
    ),
}


def offsets_of(lengths: str, dtype: torch.dtype) -> torch.Tensor:
    first, counts = LENGTHS[lengths]
    return (torch.tensor([0, *counts]).cumsum(0) + first).to(dtype)


def close(found: torch.Tensor, wanted: torch.Tensor) -> None:
    assert found.dtype == wanted.dtype
    assert mismatch(found, wanted, SPECS[wanted.dtype], 64) is None


def check(name: str, target: str, lengths: str, dtype: torch.dtype, offset_dtype: torch.dtype) -> Lowered:
    kernel, expected, make, blocks = CASES[name]
    offsets = offsets_of(lengths, offset_dtype)
    arguments = make(offsets, int(offsets[-1]) + 2, dtype)
    low = kopt.kernel(kernel).lower(*arguments, target=target, config={"block_sizes": blocks})
    close(low.compile()(*arguments), expected(*arguments))
    return low


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_as_torch(name, target) -> None:
    """Rows of f32 with 64-bit offsets, of all lengths: as many rows, so that kopt compiles it once for four items."""
    kernel, expected, make, blocks = CASES[name]
    called = kopt.kernel(kernel, target=target, config={"block_sizes": blocks})
    for lengths in LENGTHS if target == "reference" else ("mixed", "empty", "huge"):
        arguments = make(offsets_of(lengths, torch.int64), 9 if lengths == "one" else 45, torch.float32)
        close(called(*arguments), expected(*arguments))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_narrow_types(name, target) -> None:
    check(name, target, "mixed", torch.bfloat16, torch.int32)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_strict(name) -> None:
    check(name, "pallas:strict", "mixed", torch.float32, torch.int64)


@pytest.mark.parametrize("target", ["pallas:interpret@v5p", pytest.param("pallas:strict@v5p", marks=pytest.mark.slow)])
@pytest.mark.parametrize("lengths", ["mixed", "empty", "huge"])
def test_columns_are_shared_by_cores(lengths: str, target: str) -> None:
    """Rows of neighbouring items may be in one tile of memory: a core has all items, and columns of its own."""
    offsets = offsets_of(lengths, torch.int32)
    x, weights = random(45, 20, dtype=torch.bfloat16), random(4, 20, 300, dtype=torch.bfloat16, seed=1) / 4
    kernel = kopt.kernel(kernels.grouped_matmul_filled)
    low = kernel.lower(x, weights, offsets, target=target, config={"block_sizes": [16, 128, 32]})
    assert 'dimension_semantics=("parallel", "arbitrary")' in low.source
    close(low.compile()(x, weights, offsets), packed.reference_grouped(x, weights, offsets))


@pytest.fixture
def rows_in_hbm(monkeypatch) -> None:
    """As where arrays are too large for VMEM."""
    make = pipelines._make

    def made(name, **options):
        by_dma = {"prefer": ("rows", "row_dma")} if name == "plan-values" else {}
        return make(name, **options, **by_dma)

    monkeypatch.setattr(pipelines, "_make", made)


@pytest.mark.slow
@pytest.mark.usefixtures("rows_in_hbm")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["routed", "routed_kept"])
def test_rows_in_hbm_strictly(name, dtype) -> None:
    """Rows are picked and stored by DMAs that are on their way together."""
    low = check(name, "pallas:strict", "huge", dtype, torch.int32)
    assert "x_moved_ref.at" in low.source and "new_out_moved_ref.at" in low.source


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_compiles_for_a_gpu(name) -> None:
    """With the blocks that kopt chooses, and without spills."""
    kernel, _, make, _ = CASES[name]
    offsets = torch.arange(9) * 64
    report = kopt.kernel(kernel).lower(*make(offsets, 512, torch.bfloat16), target="triton:sm90").report()
    assert report["legal"] and report["spill_bytes"] == 0, report["reason"]
