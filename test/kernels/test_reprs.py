"""What a prompt and a notebook show: one line, and HTML with every text escaped."""

from __future__ import annotations

import torch

import kopt
import kopt.language as hl
from kopt.plans.parsing import parse_plan


@kopt.kernel
def smaller(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows] = torch.where(x[rows] < 1, x[rows], 1)
    return out


def test_a_lowered_kernel() -> None:
    """Its parameters, target and blocks; unfolded, its IR and the emitted module."""
    low = smaller.lower("f32[100]", target="triton:sm90", config={"block_sizes": [32]})
    assert repr(low) == "<kopt lowered smaller(x: f32[100]) for triton:sm90, block sizes [32]>"
    shown = low._repr_html_()
    assert "&lt;kopt lowered smaller" in shown and "@triton.jit" in shown and "memref&lt;100xf32&gt;" in shown
    assert "memref<" not in shown and shown.count("<details>") == 2 + bool(low.remarks)


def test_a_reference_emits_nothing() -> None:
    """So there is nothing to unfold but the IR."""
    low = smaller.lower("f32[100]", target="reference", config={"block_sizes": [32]})
    assert "<summary>IR" in low._repr_html_() and "<summary>source" not in low._repr_html_()


def test_a_kernel() -> None:
    """Its name, and its Python."""
    assert repr(smaller) == "<kopt kernel smaller>"
    assert "torch.where(x[rows] &lt; 1, x[rows], 1)" in smaller._repr_html_()


def test_a_kernel_without_a_file() -> None:
    """A function that was made of a text has no Python to show."""
    namespace: dict[str, object] = {}
    exec("def made(x):\n    return x\n", namespace)
    assert kopt.kernel(namespace["made"])._repr_html_() == "<div><code>&lt;kopt kernel made&gt;</code></div>"


def test_a_plan() -> None:
    """The order, and where each buffer is."""
    plan = parse_plan("order [h, i] parallel [h, i]\n@q = %q window(h, i) x2\n@k = %k resident")
    assert repr(plan) == "<kopt plan order [h, i]; @q window(h, i) x2; @k resident>"
