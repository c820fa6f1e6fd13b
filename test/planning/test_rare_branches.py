"""Loops in branches on what is loaded are not unrolled: figures take those branches for not taken."""

from __future__ import annotations

import torch

import kopt
import kopt.language as hl


@kopt.kernel(config={"block_sizes": [8, 128]})
def by_element(x, flags):
    out = torch.zeros_like(x)
    for i in hl.tile(x.size(0)):
        if flags[i].amax() > 0:
            for k in hl.tile(x.size(1)):
                out[i, k] = torch.exp(x[i, k])
    return out


@kopt.kernel(config={"block_sizes": [8, 128]})
def by_number(x):
    out = torch.zeros_like(x)
    for i in hl.tile(x.size(0)):
        if i.id % 2 == 0:
            for k in hl.tile(x.size(1)):
                out[i, k] = torch.exp(x[i, k])
    return out


def test_only_the_branch_on_elements_is_rare():
    rare = by_element.lower("f32[64,512]", "i32[64]", target="pallas:v6e").source
    usual = by_number.lower("f32[64,512]", target="pallas:v6e").source
    assert "jax.lax.fori_loop(0, 4, k_body, None)" in rare
    assert "jax.lax.fori_loop(0, 4, k_body, None, unroll=4)" in usual
