"""Imports do not depend on block sizes: an import at some sizes is one at others with the sizes substituted.

Where it is not, set-blocks says so, and the function is imported again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, seed, settings

import kopt
import kopt.language as hl
from examples.registry import DTYPES, EXAMPLES, Example
from kopt.frontend import import_kernel
from kopt.passes.set_blocks import substitute_sizes
from test.property.judge import module_of
from test.property.programs import programs

_GIVEN = re.compile(r", block_size=(\d+|\[[\d, ]+\])")


def _check(function: Any, args: Sequence[Any], first: int, then: int) -> str:
    """Compares imports with open blocks of one size and another; what became of it."""
    try:
        sizes = [block.size for block in import_kernel(function, args).blocks]
        # A block of one element is one at any size: its dimensions go together with any.
        before = import_kernel(function, args, block_sizes=[_kept(first, size) for size in sizes])
        after = import_kernel(function, args, block_sizes=[_kept(then, size) for size in sizes])
    except kopt.KoptError:
        return "refused"
    try:
        substitute_sizes(before.module, {tag: block.size for block in after.blocks for tag in block.tags})
    except kopt.LoweringError:
        return "again"
    assert str(before.module) == str(after.module)
    return "substituted" if sizes else "closed"


def _kept(size: int, provisional: int) -> int:
    return 1 if provisional == 1 else size


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(4))
def test_random_kernels(shard: int, tmp_path: Path) -> None:
    """Random kernels whose blocks are left open."""
    became: list[str] = []

    @seed(shard)
    @settings(
        max_examples=60,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(wide=True))
    def case(text: str) -> None:
        module = module_of(_GIVEN.sub("", text), tmp_path)
        became.append(_check(module.kernel, module.inputs(), 4, 8))

    case()
    assert became.count("substituted") >= 20


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples(example: Example) -> None:
    """Every example, at sizes that divide its extents and at sizes that do not."""
    args = example.make_args("ragged", DTYPES["bf16"])
    for first, then in ((128, 16), (16, 64)):
        _check(example.kernel.fn, args, first, then)


def _mean(x, out):
    for i in hl.tile(x.size(0)):
        v = x[i]
        out[i] = v - v.mean()


def _deviation(x, out):
    for i in hl.tile(x.size(0)):
        v = x[i]
        out[i] = (v - v.mean()) / v.std() + v.var(correction=0)


def _shape(x, out):
    for i in hl.tile(x.size(0)):
        v = x[i]
        out[i] = v.sum() / v.shape[0] + v / v.numel() + len(v)


def _reversed(x, out):
    for i in hl.tile(x.size(0)):
        out[i] = x[i].flip(0)


def _device(x, out):
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * i.block_size


AGAIN = (_reversed,)


@pytest.mark.parametrize(
    "kernel", [_mean, _deviation, _shape, _device, *AGAIN], ids=lambda kernel: kernel.__name__.strip("_")
)
@pytest.mark.parametrize("extent", [256, 250])
def test_kernels_that_compute_with_a_block(kernel, extent: int) -> None:
    """Each value at 32 is torch's, though the import was at 128."""
    x, out = torch.randn(extent), torch.empty(extent)
    became = _check(kernel, [x, out], 128, 32)
    assert became == ("again" if kernel in AGAIN else "substituted")
    imported = kopt.kernel(kernel).lower(x, out, target="reference", config={"block_sizes": [128]})
    wanted = torch.empty(extent)
    kopt.kernel(kernel, config={"block_sizes": [32]}).on("eager")(x, wanted)
    if became == "again":
        with pytest.raises(kopt.LoweringError, match="import the kernel again with the new block sizes"):
            kopt.lower_module(imported.module, target="reference", config={"block_sizes": [32]})
        return
    for target in ("reference", "pallas:interpret", "triton:interpret"):
        low = kopt.lower_module(imported.module, target=target, config={"block_sizes": [32]})
        low.compile()(x, out)
        torch.testing.assert_close(out, wanted)


def _read_on_the_host(x, out):
    for i in hl.tile(x.size(0)):
        scale = 1.0 / i.block_size
        out[i] = x[i] * scale


def _read_by_a_library(x, out):
    size = hl.register_block_size(x.size(0))
    scale = sum(range(size))
    for i in hl.tile(x.size(0), block_size=size):
        out[i] = x[i] * scale


def _read_by_a_branch(x, out):
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * 2 if i.block_size > 64 else x[i]


@pytest.mark.parametrize("kernel", [_read_on_the_host, _read_by_a_library, _read_by_a_branch])
def test_sizes_that_python_reads_are_marked(kernel) -> None:
    x, out = torch.randn(256), torch.empty(256)
    assert _check(kernel, [x, out], 128, 32) == "again"
    module = import_kernel(kernel, [x, out], block_sizes=[128]).module
    with pytest.raises(kopt.LoweringError, match="read the size of 'b0'"):
        kopt.lower_module(module, target="reference", config={"block_sizes": [32]})
