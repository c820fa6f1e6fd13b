"""Jagged kernels whose rows stay in HBM: blocks that items share, cells that fetch for the next one, sizes of tiles."""

from __future__ import annotations

import pytest
import torch

import kopt
from examples import packed
from test.kernels import jagged_kernels as kernels
from test.kernels import packed_kernels
from test.kernels.test_jagged import CASES, attention, by_item, close, normalised, offsets_of, random
from test.rotating import rotating

#: Kernels that write rows, and what they give in torch.
WRITING = {
    "softmax": (kernels.jagged_softmax, lambda x, o: by_item(lambda part: part.softmax(0), x, o)),
    "layer_norm": (kernels.jagged_layer_norm, lambda x, o: by_item(normalised, x, o)),
}
#: The first row of the first item, and how many each has.
LENGTHS = {
    "neighbours": (5, [3, 2, 1, 0, 9, 70, 0, 0, 1]),
    "none": (3, [0, 0, 0]),
    "one": (0, [130]),
    "tiny": (0, [2, 3]),
    "huge": (1, [1, 2, 300, 0, 1, 5]),
}


def run(kernel, target: str, *arguments: torch.Tensor, **config) -> torch.Tensor:
    low = kopt.kernel(kernel).lower(*arguments, target=target, config={"loop_type": "fori", **config})
    assert "pltpu.make_async_copy" in low.source
    return low.compile()(*arguments)


def rows_and_offsets(
    lengths: str, columns: int, dtype: torch.dtype, more: int = 2
) -> tuple[torch.Tensor, torch.Tensor]:
    first, counts = LENGTHS[lengths]
    offsets = (torch.tensor([0, *counts]).cumsum(0) + first).to(torch.int32)
    return random(int(offsets[-1]) + more, columns, dtype=dtype), offsets


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", WRITING)
def test_shared_tiles(name, lengths) -> None:
    """Rows before, between and after items keep what they held, 200 columns, some arrays of fewer than 8 rows."""
    kernel, expected = WRITING[name]
    x, offsets = rows_and_offsets(lengths, 200, torch.float32, more=0)
    close(run(kernel, "pallas:interpret", x, offsets), expected(x, offsets))


@pytest.mark.parametrize("name", WRITING)
def test_many_rows(name) -> None:
    """2,003 rows of bf16, the last block of which is cut off; 60 items."""
    kernel, expected = WRITING[name]
    cuts = torch.randperm(1990, generator=torch.Generator().manual_seed(1))[:59].sort().values
    offsets = torch.cat([torch.tensor([4]), cuts + 5, torch.tensor([2_000])])
    x = random(2_003, 40, dtype=torch.bfloat16)
    close(run(kernel, "pallas:interpret", x, offsets), expected(x, offsets))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "dtype", "lengths"),
    [
        ("pallas:strict", torch.float32, "neighbours"),
        ("pallas:strict", torch.float32, "huge"),
        ("pallas:strict@v5e", torch.bfloat16, "neighbours"),
        ("pallas:strict@v5e", torch.bfloat16, "none"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", WRITING)
def test_shared_tiles_strictly(name, lengths, dtype, target) -> None:
    kernel, expected = WRITING[name]
    x, offsets = rows_and_offsets(lengths, 128, dtype)
    close(run(kernel, target, x, offsets), expected(x, offsets))


@pytest.mark.slow
@pytest.mark.parametrize("lengths", ["mixed", "empty", "huge"])
@pytest.mark.parametrize("kernel", [kernels.jagged_sum, kernels.segment_max, kernels.jagged_mean])
def test_the_next_item_is_fetched(kernel, lengths) -> None:
    """On a chip of one core, where items run in order: while an item's last block is computed with."""
    _, expected, blocks, more = next(case for case in CASES if case[0] is kernel)
    offsets = offsets_of(lengths, torch.int32)
    x = random(int(offsets[-1]) + 2, 256)
    arguments = (x, offsets, *more(offsets.size(0) - 1, x.dtype))
    sizes = [blocks[0], 16, 256] if kernel is kernels.jagged_mean else [blocks[0], 256, 16]
    low = kopt.kernel(kernel).lower(
        *arguments, target="pallas:strict@v5e", config={"loop_type": "fori", "block_sizes": sizes}
    )
    assert ("next_cell" in low.source) == (kernel is not kernels.jagged_mean)
    close(low.compile()(*arguments), expected(*arguments))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["pallas:strict", "pallas:strict@v6e"])
def test_attention_strictly(target) -> None:
    """Keys and values of a block of queries, per head; heads stand in front of the rows."""
    offsets = offsets_of("huge", torch.int32)
    q, k, v = random(3, int(offsets[-1]) + 1, 2, 128)
    low = kopt.kernel(kernels.hstu_attention).lower(
        q, k, v, offsets, target=target, config={"loop_type": "fori", "block_sizes": [1, 16, 128]}
    )
    assert "q_buffer" in low.source and "k_buffer" in low.source and "out_buffer" in low.source
    close(low.compile()(q, k, v, offsets), attention(q, k, v, offsets))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chip"), rotating(WRITING, "v6e", ("tpu7x", "v5e")))
def test_rows_larger_than_vmem_compile(name, chip) -> None:
    """100 MiB of rows, in and out: what is on the chip is a few blocks of them."""
    kernel, _ = WRITING[name]
    dtype = "f32" if chip == "v6e" else "bf16"
    low = kopt.kernel(kernel).lower(f"{dtype}[100003,256]", "i32[513]", target=f"pallas:{chip}")
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]
    assert report["vmem_bytes"] < 2**22


def heads(count: int = 4) -> list[str]:
    return [f"bf16[10003,{count},128]"] * 3


#: Kernels that have a chip each here, at 512 items or 64 groups.
AT_SIZE = {
    "hstu": (kernels.hstu_attention, (*heads(), "i32[513]"), "v5e"),
    "attention": (packed.packed_attention, (*heads(), "i32[513]", False), "tpu7x"),
    "causal": (packed.packed_attention, (*heads(), "i32[513]", True), "v6e"),
    "padded": (packed_kernels.packed_attention_padded, (*heads(), "i32[513]", 512), "tpu7x"),
    "jagged_jagged_bmm": (packed.jagged_jagged_bmm, ("bf16[10003,128]", "bf16[10003,256]", "i32[513]"), "v5e"),
    "jagged_dense_bmm": (kernels.jagged_dense_bmm, ("bf16[100003,128]", "i32[513]", "bf16[512,128,256]"), "v6e"),
    "grouped": (packed.grouped_matmul, ("bf16[10003,256]", "bf16[64,256,512]", "i32[65]"), "v5e"),
    "by_index": (packed_kernels.grouped_matmul_by_index, ("bf16[10003,256]", "bf16[64,256,512]", "i32[65]"), "tpu7x"),
    "routed": (
        packed_kernels.routed_matmul,
        ("bf16[10003,256]", "bf16[64,256,512]", "i32[10003]", "i32[65]", 512),
        "tpu7x",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", AT_SIZE)
def test_compiles_at_size(name) -> None:
    kernel, specs, chip = AT_SIZE[name]
    report = kopt.kernel(kernel).lower(*specs, target=f"pallas:{chip}").report(estimates=False)
    assert report["legal"], report["reason"]


@pytest.mark.slow
def test_rows_picked_in_vmem_compile() -> None:
    """Rows by number of blocks of lanes that an inner loop walks: 4003 rows of f32 stay on the chip."""
    specs = ("f32[4003,256]", "f32[64,256,512]", "i32[4003]", "i32[65]", 512)
    low = kopt.kernel(packed_kernels.routed_matmul).lower(*specs, target="pallas:tpu7x")
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]
