"""Kernels written in Triton by hand, as a tutorial would: what emitted code is held against.

Each file stands by itself: a function of the example's tensors that allocates the result and launches. ``HAND`` says
which of them compute what an example does: one of its arguments, and with one result or the first of several.
"""

from __future__ import annotations

from pathlib import Path

_PRODUCTS = ("matmul_grouped", "matmul_descriptors")
_SOFTMAX = ("softmax_row", "softmax_online")

#: The functions for each example, by the name of their file.
HAND: dict[str, tuple[str, ...]] = {
    "exp": ("exp",),
    "softmax": _SOFTMAX,
    "softmax_decomposed": _SOFTMAX,
    "softmax_two_pass": _SOFTMAX,
    "layer_norm": ("layer_norm",),
    "rms_norm": ("rms_norm",),
    "cross_entropy": ("cross_entropy",),
    "cross_entropy_rows": ("cross_entropy",),
    "swiglu": ("swiglu",),
    "geglu": ("geglu",),
    "kl_divergence": ("kl_divergence",),
    "matmul": _PRODUCTS,
    "bmm": ("bmm_descriptors",),
    "attention": ("attention",),
    "causal_attention": ("causal_attention",),
    "linear_attention": ("linear_attention_halves",),
}


def source(name: str) -> str:
    """The text of a file."""
    return Path(__file__).with_name(f"{name}.py").read_text()
