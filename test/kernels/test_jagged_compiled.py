"""Every kind of jagged kernel, compiled for two chips at 10,003 rows, with the blocks that kopt chooses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import pytest

import kopt
import kopt.language as hl
from examples import packed
from test.kernels import jagged_kernels as jagged
from test.kernels import packed_kernels as more
from test.kernels.test_jagged_types import doubled, wide_sum
from test.rotating import rotating

#: Where a kernel is compiled, the element type of its rows there, and that of its offsets.
CHIPS = {
    "pallas:tpu7x": ("f32", "i64"),
    "pallas:v6e": ("f32", "i32"),
    "pallas:v5e": ("f32", "i32"),
    "triton:sm90": ("bf16", "i64"),
}
ROWS, HEADS = "{x}[10003,200]", "{x}[10003,2,128]"
EXPERTS = ("{x}[10003,256]", "{x}[64,256,512]", "{o}[65]")
#: A kernel and its arguments: 512 items, or 64 groups.
KERNELS: dict[str, tuple[Callable, tuple]] = {
    "sum": (jagged.jagged_sum, (ROWS, "{o}[513]")),
    "mean": (jagged.jagged_mean, (ROWS, "{o}[513]", "i32[512]")),
    "softmax": (jagged.jagged_softmax, (ROWS, "{o}[513]")),
    "layer_norm": (jagged.jagged_layer_norm, (ROWS, "{o}[513]")),
    "dense_add": (jagged.jagged_dense_add, ("{x}[10003]", "{o}[513]", "{x}[512,100]")),
    "jagged_dense_bmm": (jagged.jagged_dense_bmm, (ROWS, "{o}[513]", "{x}[512,200,128]")),
    "jagged_jagged_bmm": (packed.jagged_jagged_bmm, (ROWS, "{x}[10003,256]", "{o}[513]")),
    "hstu": (jagged.hstu_attention, (HEADS, HEADS, HEADS, "{o}[513]")),
    "attention": (packed.packed_attention, (HEADS, HEADS, HEADS, "{o}[513]", False)),
    "causal": (packed.packed_attention, (HEADS, HEADS, HEADS, "{o}[513]", True)),
    "grouped": (packed.grouped_matmul, EXPERTS),
    "experts": (more.routed_matmul, (*EXPERTS[:2], "i32[10003]", EXPERTS[2], 512)),
    "experts_kept": (more.routed_matmul_kept, (*EXPERTS[:2], "i32[10003]", EXPERTS[2], 512)),
    "segment_max": (jagged.segment_max, (ROWS, "{o}[513]")),
}


def compiles(kernel: Callable, target: str, *specs) -> None:
    report = kopt.kernel(kernel).lower(*specs, target=target).report(estimates=False)
    assert report["legal"] and not report.get("spill_bytes"), report["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"), rotating(KERNELS, "pallas:v6e", ("triton:sm90", "pallas:v5e", "triton:sm90", "pallas:tpu7x"))
)
def test_compiles(name, target) -> None:
    kernel, specs = KERNELS[name]
    x, o = CHIPS[target]
    compiles(kernel, target, *(spec.format(x=x, o=o) if isinstance(spec, str) else spec for spec in specs))


def flat_sum(x, offsets):
    """The loop over an item's elements carries one number, in their own type."""
    out = x.new_zeros(offsets.size(0) - 1)
    for item in hl.tile(out.size(0)):
        starts = offsets[item]
        total = hl.zeros([item], dtype=x.dtype)
        for k in hl.jagged_tile(offsets[item.index + 1] - starts):
            total = total + x[starts[:, None] + k.index[None, :]].sum(1)
        out[item] = total
    return out


@pytest.mark.slow
@pytest.mark.parametrize("target", ["pallas:tpu7x", "pallas:v5e"])
def test_narrow_numbers_are_carried(target) -> None:
    compiles(flat_sum, target, "bf16[1003]", "i32[65]")


NARROW = [(kernel, dtype) for dtype in ("i8", "f8e4m3fn", "f8e5m2") for kernel in (wide_sum, doubled)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "dtype", "target"),
    [(*case, chip) for case, chip in zip(NARROW, cycle(("pallas:v6e", "triton:sm90", "pallas:v5e", "pallas:tpu7x")))],
)
def test_narrow_types_compile(kernel, dtype, target) -> None:
    """Read, and written too."""
    compiles(kernel, target, f"{dtype}[10003,256]", "i64[513]")
