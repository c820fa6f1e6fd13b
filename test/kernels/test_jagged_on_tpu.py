"""Jagged kernels on TPU targets: an item's rows as slices of memory, whole or streamed by DMAs."""

from __future__ import annotations

import pytest
import torch

import kopt
from kopt.targets.budget import Budget
from test.kernels import jagged_kernels as kernels
from test.kernels.test_jagged import CASES, COLUMNS, NAMES, check, items, offsets_of, random, rows_for

WIDTHS = [(torch.float32, torch.int64), (torch.bfloat16, torch.int32)]


@pytest.mark.parametrize(("dtype", "offset_type"), WIDTHS, ids=str)
@pytest.mark.parametrize(("kernel", "expected", "blocks", "more"), CASES, ids=NAMES)
def test_streamed(kernel, expected, blocks, more, dtype, offset_type) -> None:
    """Rows that arrive by double-buffered DMAs."""
    offsets = offsets_of("huge", offset_type)
    x = rows_for(offsets, dtype)
    check(kernel, expected, blocks, "pallas:interpret", x, offsets, more, loop_type="fori")


@pytest.mark.slow
@pytest.mark.parametrize("loop_type", ["auto", "fori"])
@pytest.mark.parametrize(("kernel", "expected", "blocks", "more"), CASES, ids=NAMES)
def test_strictly(kernel, expected, blocks, more, loop_type) -> None:
    """Where reads of what no one wrote, and of what is still on its way, show."""
    offsets = offsets_of("huge", torch.int32)
    x = rows_for(offsets, torch.float32)
    check(kernel, expected, blocks, "pallas:strict", x, offsets, more, loop_type=loop_type)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_an_item_is_a_slice(dtype) -> None:
    """Large arrays stay in HBM and are never gathered; offsets are numbers in scalar memory."""
    source = kopt.kernel(kernels.jagged_sum).lower(f"{dtype}[10003,256]", "i32[513]", target="pallas:tpu7x").source
    assert "pltpu.make_async_copy" in source and "x_buffer" in source
    assert "grid=(512,)" in source and "memory_space=pltpu.SMEM" in source


def many_items(count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows, offsets of mostly empty items, and their sums."""
    lengths = torch.zeros(count, dtype=torch.int64)
    lengths[::37], lengths[count - 1] = 3, 9
    offsets = torch.tensor([2, *lengths]).cumsum(0)
    x = random(int(offsets[-1]) + 2, COLUMNS)
    items = torch.repeat_interleave(torch.arange(count), lengths)
    return x, offsets, torch.zeros(count, COLUMNS).index_add_(0, items, x[2 : int(offsets[-1])])


def test_more_offsets_than_scalar_memory_holds() -> None:
    """They come in chunks of neighbours'."""
    source = kopt.kernel(kernels.jagged_sum).lower("f32[10003,100]", "i64[200001]", target="pallas:tpu7x").source
    assert source.count("pl.BlockSpec((None, 1, 1024), lambda b: (b // 1024, 0, 0), memory_space=pltpu.SMEM)") == 2


@pytest.fixture
def small_scalar_memory(monkeypatch) -> None:
    monkeypatch.setattr(Budget, "SCALAR_BYTES", 1024)


@pytest.mark.slow
@pytest.mark.usefixtures("small_scalar_memory")
@pytest.mark.parametrize(
    "kernel", [kernels.jagged_sum, kernels.jagged_sum_by_items], ids=lambda kernel: kernel.__name__
)
def test_chunks_of_offsets_strictly(kernel) -> None:
    x, offsets, expected = many_items(1100)
    low = kopt.kernel(kernel).lower(
        x,
        offsets,
        target="pallas:strict",
        config={"block_sizes": [4, 16, 8] if kernel is kernels.jagged_sum else [16, 8]},
    )
    assert "// 1024" in low.source
    torch.testing.assert_close(low.compile()(x, offsets), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("small_scalar_memory")
def test_the_next_item_may_be_in_the_next_chunk() -> None:
    """What an item's neighbour reads is not in the item's own chunk then: nothing is fetched for it."""
    lengths = torch.zeros(1100, dtype=torch.int64)
    lengths[0], lengths[1023], lengths[1024], lengths[1099] = 600, 3, 700, 9
    offsets = torch.tensor([2, *lengths]).cumsum(0)
    x = random(int(offsets[-1]) + 2)
    config = {"block_sizes": [1, 512], "loop_type": "fori"}
    low = kopt.kernel(kernels.sum_of_numbers).lower(x, offsets, target="pallas:interpret@v5e", config=config)
    assert "// 1024" in low.source and "x_buffer_ref" in low.source
    torch.testing.assert_close(low.compile()(x, offsets), torch.stack([part.sum() for part in items(x, offsets)]))


@pytest.mark.slow
@pytest.mark.usefixtures("small_scalar_memory")
@pytest.mark.parametrize("chip", ["tpu7x", "v6e", "v5e"])
def test_chunks_of_offsets_compile(chip) -> None:
    low = kopt.kernel(kernels.jagged_sum).lower("f32[1003,128]", "i64[1101]", target=f"pallas:{chip}")
    report = low.report(estimates=False)
    assert "// 1024" in low.source and report["legal"], report["reason"]
