"""Which emitted modules have loops whose counts are known, and what a report then says of cycles."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.runtime.emitted_loops import has_computed_loops
from kopt.runtime.report import report
from kopt.specs import parse_spec

from .support import source


def matmul(x, y):
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype)
    for m, n in hl.tile([x.size(0), y.size(1)]):
        acc = hl.zeros([m, n], dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[m, k], y[k, n])
        out[m, n] = acc.to(x.dtype)
    return out


#: Blocks of which a kernel has too many for a version of each.
MANY = [128, 128]


def causal(x, _):
    out = torch.empty_like(x)
    for m in hl.tile(x.size(0)):
        acc = hl.zeros([m, x.size(1)], dtype=torch.float32)
        for k in hl.tile(0, m.end):
            acc = acc + x[k, :].sum(0)[None, :]
        out[m, :] = acc
    return out


def jagged(x, offsets):
    items = offsets.size(0) - 1
    out = torch.zeros([items, x.size(1)], dtype=x.dtype)
    for i in hl.grid(items):
        acc = hl.zeros([x.size(1)], dtype=torch.float32)
        for k in hl.tile(offsets[i], offsets[i + 1]):
            acc = acc + x[k, :].sum(0)
        out[i, :] = acc
    return out


@pytest.mark.parametrize("loop_type", ["auto", "grid", "pipeline", "fori", "resident"])
def test_every_form_of_a_loop(loop_type):
    def computed(kernel, *specs, **config):
        config = {"loop_type": loop_type, **config}
        return has_computed_loops(kopt.kernel(kernel).lower(*specs, target="pallas:v6e", config=config).source)

    assert not computed(matmul, "bf16[1024,1024]", "bf16[1024,1024]")
    assert computed(causal, "f32[16384,256]", "f32[1]", block_sizes=MANY)
    assert computed(jagged, "f32[8192,256]", "i32[65]")


@pytest.mark.parametrize(
    ("count", "computed"),
    [
        ("4", False),
        ("-(-4096 // 1024)", False),
        ("jnp.maximum(4, 0)", False),
        ("pl.cdiv(n, 8)", False),
        ("n", False),
        ("pl.program_id(0)", True),
        ("jnp.minimum(n, m)", True),
        ("lengths_ref[0]", True),
        ("k", True),
        ("x.shape[0] // 8", False),
        ("rows", False),
        ("lengths[0]", True),
    ],
)
def test_counts(count, computed):
    above = "def f(lengths_ref, m):\n    rows, _ = x.shape\n    n = 0 - -40\n    k = 3\n    k = m\n"
    text = f"{above}    jax.lax.fori_loop(0, {count}, body, 0)\n"
    assert has_computed_loops(text) == computed
    assert has_computed_loops(text.replace("jax.lax.fori_loop(0, ", "pltpu.emit_pipeline(f, grid=(").replace(
        ", body, 0)", ",))")
    ) == computed  # fmt: skip
    assert not has_computed_loops(f"def f(m):\n    n = 2\n    return [{count}]\n")


def test_loops_without_a_count_and_loops_in_bodies():
    assert has_computed_loops("def f():\n    jax.lax.while_loop(lambda c: c[0] != 0, body, (1,))\n")
    assert has_computed_loops("def f(n):\n    def body(i, c):\n        return jax.lax.fori_loop(0, i, g, c)\n")
    assert not has_computed_loops(
        "def f():\n    n = 4\n    def body(i, c):\n        return jax.lax.fori_loop(0, n, g, c)\n"
    )


@pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu is not installed")
@pytest.mark.parametrize("kernel", [causal, jagged])
def test_a_report_gives_no_vacuous_estimate(kernel):
    config = {"block_sizes": MANY} if kernel is causal else {}
    low = kopt.kernel(kernel).lower("f32[16384,256]", "i32[65]", target="pallas:v6e", config=config)
    facts = low.report(profile=True)
    assert facts["legal"] is True and facts["bundles"] > 0 and facts["libtpu_cycles"] is None
    assert ("\npallas:v6e: bound by " in str(facts)) == (facts["bound"] is not None)
    if kernel is jagged:
        assert facts["cycles"] is None and facts["cycles_reason"] == "trips depend on what 'offsets' holds"
    else:
        assert facts["cycles"] > facts["floor_cycles"] > 0 and facts["cycles_reason"] is None


@pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu is not installed")
def test_a_report_of_counted_loops_has_one():
    specs = [parse_spec("bf16[1024,1024]")] * 2
    assert report(source("matmul_pallas"), "matmul", specs, "pallas:v6e", profile=True)["libtpu_cycles"] > 0
