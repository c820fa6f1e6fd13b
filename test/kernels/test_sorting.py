"""Sorting blocks along a dimension on every target: values and places as torch gives them."""

from __future__ import annotations

import importlib.util

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import UnsupportedError

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
CHIPS = ("pallas:tpu7x", "pallas:v5e", "triton:sm90", "triton:gfx942")


def run(kernel, target, blocks, *args):
    """A kernel on a target."""
    return kopt.kernel(kernel, config={"block_sizes": blocks}).on(target)(*args)


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Few different numbers, so that many are equal; floats with NaN, infinities and both zeros."""
    generator = torch.Generator().manual_seed(sum(shape))
    low = 0 if dtype == torch.uint8 else -5
    x = torch.randint(low, 6, shape, generator=generator)
    if not dtype.is_floating_point:
        return x.to(dtype)
    special = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0])
    pick = torch.randint(0, 12, shape, generator=generator)
    return torch.where(pick < 4, special[pick.clamp(max=3)], x.float()).to(dtype)


def same(got: torch.Tensor, wanted: torch.Tensor) -> None:
    """Equal, NaN too."""
    torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("columns", [1, 2, 13, 32])
def test_rows(columns, descending, target):
    def kernel(x):
        values, places = torch.empty_like(x), torch.empty_like(x, dtype=torch.int32)
        for i in hl.tile(x.size(0)):
            values[i, :], order = torch.sort(x[i, :], descending=descending, stable=True)
            places[i, :] = order.to(torch.int32)
        return values, places

    x = numbers(5, columns)
    values, places = run(kernel, target, [4], x)
    wanted = torch.sort(x, descending=descending, stable=True)
    same(values, wanted.values)
    same(places, wanted.indices.to(torch.int32))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_ragged_blocks(dim, descending, target):
    """Lanes outside the array come after those inside."""

    def kernel(x):
        values, places = torch.empty_like(x), torch.empty_like(x, dtype=torch.int32)
        for i, j in hl.tile(x.size()):
            block = x[i, j]
            values[i, j] = block.sort(dim, descending)[0]
            places[i, j] = block.argsort(dim=dim, descending=descending, stable=True).to(torch.int32)
        return values, places

    x = numbers(5, 13)
    values, places = run(kernel, target, [8, 16], x)
    same(values, x.sort(dim, descending)[0])
    same(places, x.argsort(dim=dim, descending=descending, stable=True).to(torch.int32))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.int32, torch.int8, torch.uint8, torch.bool], ids=str
)
def test_dtypes(dtype, target):
    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i, :] = torch.sort(x[i, :])[0]
        return out

    x = numbers(3, 11, dtype=torch.int32) > 0 if dtype == torch.bool else numbers(3, 11, dtype=dtype)
    same(run(kernel, target, [2], x), x.sort()[0])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("k", [1, 3, 11])
def test_topk(k, largest, target):
    def kernel(x, k):
        values = torch.empty(x.size(0), k, dtype=x.dtype)
        places = torch.empty(x.size(0), k, dtype=torch.int32)
        for i in hl.tile(x.size(0)):
            best, order = torch.topk(x[i, :], k, dim=-1, largest=largest)
            values[i, :] = best
            places[i, :] = order.to(torch.int32)
        return values, places

    x = numbers(5, 11)
    values, places = run(kernel, target, [4], x, k)
    same(values, x.topk(k, largest=largest).values)
    same(x.gather(1, places.long()), values)
    assert all(row.unique().numel() == k for row in places)


@pytest.mark.parametrize("target", TARGETS)
def test_the_largest_so_far(target):
    """What a loop keeps beside a shorter last block has all its lanes."""

    def kernel(x):
        out = torch.empty(x.size(0), 3)
        for i in hl.tile(x.size(0)):
            best = hl.full([i, 3], float("-inf"))
            for j in hl.tile(x.size(1)):
                best = torch.topk(torch.cat([x[i, j], best], 1), 3, 1).values
            out[i, :] = best
        return out

    x = torch.randn(5, 9)
    same(run(kernel, target, [2, 8], x), x.topk(3).values)


@pytest.mark.parametrize("target", TARGETS)
def test_others(target):
    def kernel(x):
        columns, third = torch.empty_like(x), torch.empty_like(x[:, 0])
        for j in hl.tile(x.size(1)):
            columns[:, j] = torch.msort(x[:, j])
        for i in hl.tile(x.size(0)):
            third[i] = torch.kthvalue(x[i, :], 3, dim=1).values
        return columns, third

    x = numbers(7, 9)
    columns, third = run(kernel, target, [4, 8], x)
    same(columns, x.msort())
    same(third, x.kthvalue(3).values)


def test_topk_of_too_many_is_refused():
    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i] = x[i].topk(9)[0]
        return out

    with pytest.raises(UnsupportedError, match="at most the 4 lanes"):
        run(kernel, "reference", [4], numbers(4))


@pytest.mark.slow
@pytest.mark.parametrize("target", CHIPS)
def test_they_compile(target):
    compiler = "libtpu" if target.startswith("pallas") else "triton"
    if importlib.util.find_spec(compiler) is None:
        pytest.skip(f"{compiler} is not installed")

    def kernel(x):
        values, places = torch.empty(x.size(0), 8, dtype=x.dtype), torch.empty(x.size(0), 8, dtype=torch.int32)
        for i in hl.tile(x.size(0), block_size=16):
            best, order = torch.topk(x[i, :], 8)
            values[i, :] = best
            places[i, :] = order.to(torch.int32)
        return values, places

    report = kopt.kernel(kernel).lower(numbers(32, 200, dtype=torch.bfloat16), target=target).report(estimates=False)
    assert report["legal"], report["reason"]


@pytest.mark.parametrize("again", [lambda kernel: kernel, lambda kernel: kopt.kernel(kernel.fn)], ids=["on", "kernel"])
def test_a_second_call_compiles_nothing(again):
    """Neither on the target named anew nor of the function wrapped anew; a row takes XLA seconds, not minutes."""
    from jax import monitoring

    @kopt.kernel
    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i, :] = torch.sort(x[i, :])[0]
        return out

    compiled = []
    x = numbers(3, 300)
    same(kernel.on("pallas:interpret")(x), x.sort()[0])
    monitoring.register_event_duration_secs_listener(lambda name, *_, **__: compiled.append(name))
    try:
        same(again(kernel).on("pallas:interpret")(x), x.sort()[0])
    finally:
        monitoring.clear_event_listeners()
    assert not [name for name in compiled if "compile" in name]
