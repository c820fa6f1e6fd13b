"""Kernels with copies compute the same, bit by bit, before ``software-pipeline`` and after it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from examples.registry import BY_NAME, DTYPES
from kopt.context import make_context
from kopt.lowered import Lowered
from kopt.lowering import emit
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.verification import verify

PASS = "software-pipeline"
CHIPS = ("v6e", "tpu7x")
#: Examples whose loops fetch blocks ahead, across cells too where one core runs them; the last four send blocks, too.
NAMES = (
    "causal_attention",
    "matmul",
    "softmax_two_pass",
    "split_matmul",
    "two_phase_sum",
    "grouped_matmul",
    "jagged_jagged_bmm",
    "layer_norm_backward",
    "packed_attention",
)


def before(low: Lowered) -> Lowered:
    """What was lowered, with copies that are started and waited for at once."""
    passes = [each for each in pipeline(low.target, low.config) if each.name != PASS]
    module = low.imported
    run(module, make_context(), passes)
    verify(module)
    return replace(low, source=emit(module, low.entry, low.target.family))


def check(low: Lowered, *args: Any) -> Lowered:
    """Runs a kernel before and after; gives it as it is before."""
    synchronous = before(low)
    assert low.source != synchronous.source
    results = [[torch.as_tensor(value) for value in values_of(each, args)] for each in (synchronous, low)]
    for one, other in zip(*results, strict=True):
        assert torch.equal(one.nan_to_num(), other.nan_to_num())
    return synchronous


def values_of(low: Lowered, args: tuple[Any, ...]) -> list[Any]:
    """The results of a call, and what it leaves in its arguments."""
    own = [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]
    found = low.compile()(*own)
    results = found if isinstance(found, tuple) else (found,)
    return [*results, *(arg for arg in own if isinstance(arg, torch.Tensor))]


#: Cores that run cells in order, and several cores.
EXAMPLES = (
    *((name, "tiny", "v6e") for name in NAMES),
    *(pytest.param(name, "ragged", "tpu7x", marks=pytest.mark.slow) for name in NAMES),
)


@pytest.mark.parametrize(("name", "size", "chip"), EXAMPLES)
def test_examples(name, size, chip):
    example = BY_NAME[name]
    args = example.make_args(size, DTYPES["f32"])
    config = {**example.sizes[size].config, "loop_type": "fori"}
    low = example.kernel.lower(*args, target=f"pallas:interpret@{chip}", config=config)
    assert "_buffer_ref" in low.source
    check(low, *args)


def pages(cache, table):
    out = torch.empty([table.size(0), cache.size(1), cache.size(2)], dtype=cache.dtype)
    for p in hl.grid(table.size(0)):
        out[p, :, :] = cache[table[p], :, :] * 2
    return out


def largest(cache, table):
    out = torch.empty([table.size(0), cache.size(1), cache.size(2)], dtype=cache.dtype)
    for p in hl.grid(table.size(0)):
        number = table[p, :].amax(-1)
        out[p, :, :] = cache[number, :, :] * 2
    return out


def followed(cache, link):
    out = torch.zeros([cache.size(1)], dtype=cache.dtype)
    for i in hl.tile(cache.size(1), block_size=8):
        at = hl.zeros([], dtype=torch.int32)
        acc = hl.zeros([i], dtype=torch.float32)
        for k in hl.tile(cache.size(2), block_size=128):
            acc = acc + cache[at, i, k].sum(-1)
            at = link[at]
        out[i] = acc
    return out


def random_pages(*shape: int, columns: int = 128) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    cache = torch.randn(200, 16, columns, generator=generator)
    return cache, torch.randint(200, shape, generator=generator, dtype=torch.int32)


def test_pages_are_fetched_a_cell_ahead():
    """On one core; where two share the cells, each waits for its own."""
    args = random_pages(6)
    config = {"accesses": {"cache": "dma"}}
    check(kopt.kernel(pages).lower(*args, target="pallas:interpret@v6e", config=config), *args)
    low = kopt.kernel(pages).lower(*args, target="pallas:interpret@v5p", config=config)
    assert "cores share the cells" in str([str(remark) for remark in low.remarks])
    assert low.source == before(low).source


def test_numbers_of_the_next_cell_are_not_those_of_this_one():
    """They are computed of a window that moves with the cells, so no block is fetched ahead."""
    cache, table = random_pages(6, 130)
    low = kopt.kernel(largest).lower(cache, table, target="pallas:interpret@v6e")
    assert "pltpu.sync_copy" in low.source and "buffer_ref" not in low.source
    expected = cache[table.amax(-1).long()] * 2
    assert torch.equal(torch.as_tensor(low.compile()(cache, table)), expected)


@pytest.mark.parametrize("chip", CHIPS)
def test_a_visit_that_tells_where_the_next_one_reads(chip):
    """Its block is there when it is asked for, not before."""
    cache, link = random_pages(200, columns=512)
    low = kopt.kernel(followed).lower(cache, link, target=f"pallas:interpret@{chip}", config={"loop_type": "fori"})
    assert "pltpu.sync_copy" in low.source and "buffer_ref" not in low.source
    at, expected = 0, torch.zeros(16)
    for block in cache.split(128, dim=2):
        expected, at = expected + block[at].sum(-1), int(link[at])
    torch.testing.assert_close(torch.as_tensor(low.compile()(cache, link)), expected)
