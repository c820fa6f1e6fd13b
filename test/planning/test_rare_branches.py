"""Loops in branches on what is loaded are not unrolled: figures take those branches for not taken."""

from __future__ import annotations

import torch

import kopt
import kopt.language as hl
from examples.registry import BY_NAME, DTYPES
from kopt.planned import planned_launches
from kopt.planning.cost import cost
from kopt.targets.chips import TPU_CHIPS


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


def test_numbers_of_other_rows_are_not_counted():
    """Labels are taken for those of the row at hand: the branch that fetches others from memory takes no time."""
    example = BY_NAME["cross_entropy"]
    low = example.kernel.lower(*example.unfilled("real", DTYPES["bf16"]), target="pallas:v6e")
    ((model, plan),) = planned_launches(low)
    (far,) = (access for access in model.accesses if access.unlikely)
    found, likely = (cost(model, {}, one, TPU_CHIPS["v6e"]) for one in (plan, plan.without([far.id])))
    logits = 4096 * 2560 * 2
    assert logits < found.bytes_in < 1.01 * logits and found.seconds < 2e-5  # pyright: ignore[reportOptionalOperand]
    assert found.vmem_bytes > likely.vmem_bytes + 8 * 512 * 2560  # pyright: ignore[reportOptionalOperand]
    assert far.operand not in {buffer.operand for buffer in plan.without([far.id]).buffers}
