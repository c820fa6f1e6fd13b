"""Walks in plans: ``plan-walks`` writes them, ``walk-dims`` obeys them, as they were or as a person left them."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.config import Config
from kopt.context import make_context
from kopt.dialects.tile import ForOp, GridOp
from kopt.parsing import parse_module
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.targets.target import parse_target

SOFTMAX = """
func.func @softmax(%x: memref<4x66000xf32>) -> memref<4x66000xf32> {
  %out = host.alloc : memref<4x66000xf32>
  tile.grid (%i: b0=1) in (4) {
    %v = tile.load %x[%i, :] : memref<4x66000xf32> -> !tile.tile<b0=1 x 66000 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=1 x 66000 x f32>
    %b = tile.broadcast %m dims [0] : !tile.tile<b0=1 x f32> to !tile.tile<b0=1 x 66000 x f32>
    %d = tile.sub %v, %b : !tile.tile<b0=1 x 66000 x f32>
    %e = tile.exp %d : !tile.tile<b0=1 x 66000 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=1 x 66000 x f32>
    %c = tile.broadcast %s dims [0] : !tile.tile<b0=1 x f32> to !tile.tile<b0=1 x 66000 x f32>
    %r = tile.div %e, %c : !tile.tile<b0=1 x 66000 x f32>
    tile.store %r, %out[%i, :] : !tile.tile<b0=1 x 66000 x f32>, memref<4x66000xf32>
  }
  func.return %out : memref<4x66000xf32>
}
"""
WALK = "walk(dim 1 of %x: b1=8192, online)"
TARGET = parse_target("triton:interpret")


def planned(last: str = "plan-walks") -> str:
    """The kernel as text, with its walk."""
    module, passes = parse_module(SOFTMAX), pipeline(TARGET, Config(split_k=1))
    names = [pass_.name for pass_ in passes]
    run(module, make_context(), passes[: names.index(last) + 1], verify_each=True)
    return str(module)


def lowered(text: str):
    """Text with a plan, through the whole pipeline; what it walks is not split."""
    return kopt.lower_module(parse_module(text), target="triton:interpret", config={"split_k": 1})


def check(low) -> None:
    """The code computes the softmax under the interpreter."""
    x = np.random.default_rng(0).standard_normal((4, 66000)).astype(np.float32)
    powers = np.exp(x - x.max(-1, keepdims=True))
    found = np.asarray(low.compile()(x))
    np.testing.assert_allclose(found, powers / powers.sum(-1, keepdims=True), rtol=1e-4, atol=1e-9)


def lines(code: str) -> list[str]:
    """Code without what names lines of the source."""
    return [line for line in (re.sub(r"(  |^ *)# .*", "", line).rstrip() for line in code.splitlines()) if line]


def test_text_of_a_walk_is_the_walk() -> None:
    text = planned()
    assert f"plan {{order [i] parallel [i] {WALK}}}" in text
    assert str(parse_module(text)) == text
    low = lowered(text)
    assert lines(low.source) == lines(lowered(SOFTMAX).source)
    check(low)


def test_loops_of_walks_say_so() -> None:
    """The plan of a launch has a buffer for each array; a walk is a loop by then, and keeps its schedule."""
    text = planned("plan-accesses")
    assert text.count("schedule walk {") == 2 and "walk(" not in text
    assert text.count("via @x") == 2 and text.count("via @out") == 1


@pytest.mark.parametrize(
    ("new", "loops", "block"),
    [
        ("walk(dim 1 of %x: b1=1024, online)", 2, 1024),
        ("walk(dim 1 of %x: b1=8192, passes)", 3, 8192),
        ("walk(dim 1 of %x: b7=3000, online)", 2, None),  # no power of two: a wider block that ends where it did
        ("walk(dim 1 of %x: b1=66000, online)", 0, None),  # all at once: no loop
        ("warps 16 walk(dim 1 of %x: b1=4096, online)", 2, 4096),
        ("walk(dim 1 of %out: b1=4096, online)", 2, 4096),  # the same dimension, by the array that is written
    ],
)
def test_edits_are_obeyed(new: str, loops: int, block: int | None) -> None:
    text = planned()
    assert WALK in text
    low = lowered(text.replace(WALK, new))
    assert len(re.findall(r"^    for .* in range", low.source, re.M)) == loops, low.source
    assert block is None or re.search(rf"BLOCK_\d+={block}\b", low.source), low.source
    assert "num_warps=16" in low.source or "warps" not in new
    check(low)


def test_a_row_without_a_walk_is_taken_whole() -> None:
    """Taking the walk out leaves a plan, which is kept."""
    low = lowered(planned().replace(f" {WALK}", ""))
    assert "for " not in low.source.split("tl.program_id")[1], low.source
    check(low)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("walk(dim 0 of %x: b1=2, online)", "no access takes dimension 0 of 'x' whole"),
        ("walk(dim 2 of %x: b1=2, online)", "has no dimension 2 to walk"),
        ("walk(dim 1 of %x: b0=128, online)", "the walk 'b0' has the tag of a range of the grid"),
        ("walk(dim 1 of %x: b1=128, twice)", "there are online, passes"),
    ],
)
def test_what_cannot_be_is_refused(new: str, message: str) -> None:
    with pytest.raises(kopt.KoptError, match=re.escape(message)):
        lowered(planned().replace(WALK, new))


def test_all_of_a_plan_but_the_walk_stays() -> None:
    """A schedule in the plan is the loops'."""
    text = planned().replace(f"{WALK}}}", f"warps 8 {WALK}\n        loop b1 resident}}")
    module = parse_module(text)
    names = [pass_.name for pass_ in pipeline(TARGET, Config(split_k=1))]
    run(module, make_context(), [pipeline(TARGET, Config(split_k=1))[names.index("walk-dims")]], verify_each=True)
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    assert grid.plan is not None and grid.plan.data.options == (("warps", 8),) and not grid.plan.data.walks
    assert [op.schedule.kind for op in grid.walk() if isinstance(op, ForOp) and op.schedule] == ["resident"] * 2


@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90"])
def test_a_loop_of_the_source_is_no_walk(target: str) -> None:
    def sums(x):
        out = torch.empty([x.size(0)], dtype=x.dtype)
        for i in hl.tile(x.size(0)):
            total = hl.zeros([i])
            for k in hl.tile(x.size(1)):
                total = total + x[i, k].sum(-1)
            out[i] = total
        return out

    with pytest.raises(kopt.KoptError, match="a loop of the source is no walk"):
        kopt.kernel(sums).lower(torch.randn(64, 4096), target=target, config={"loops": {"k": "walk"}})
