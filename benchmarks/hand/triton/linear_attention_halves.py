"""Linear attention in chunks of 128 rows, whose keys and values come in two halves: what needs fewer registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_attention_halves_kernel(
    q,
    k,
    v,
    decay,
    out,
    heads,
    length,
    width,
    DEPTH: tl.constexpr,
    CHUNK: tl.constexpr,
    PART: tl.constexpr,
    BLOCK_W: tl.constexpr,
):
    head = tl.program_id(1)
    rate = tl.load(decay + head % heads) * 1.4426950408889634  # exp(x) is exp2(x log2(e))
    cols = tl.program_id(0) * BLOCK_W + tl.arange(0, BLOCK_W)
    lanes = tl.arange(0, DEPTH)
    ages = tl.arange(0, CHUNK)
    state = tl.zeros([DEPTH, BLOCK_W], tl.float32)
    for start in range(head * length, (head + 1) * length, CHUNK):
        rows = start + ages
        queries = tl.load(q + rows[:, None] * DEPTH + lanes[None, :])
        acc = tl.dot(queries, state.to(queries.dtype)) * tl.exp2(rate * (ages + 1).to(tl.float32))[:, None]
        state *= tl.exp2(rate * CHUNK)
        for first in range(0, CHUNK, PART):
            parts = first + tl.arange(0, PART)
            keys = tl.load(k + (start + parts)[:, None] * DEPTH + lanes[None, :])
            values = tl.load(v + (start + parts)[:, None] * width + cols[None, :])
            apart = ages[:, None] - parts[None, :]
            scores = tl.dot(queries, tl.trans(keys)) * tl.exp2(rate * apart.to(tl.float32))
            acc = tl.dot(tl.where(apart >= 0, scores, 0.0).to(values.dtype), values, acc)
            late = values * tl.exp2(rate * (CHUNK - 1 - parts).to(tl.float32))[:, None]
            state = tl.dot(tl.trans(keys), late.to(values.dtype), state)
        tl.store(out + rows[:, None] * width + cols[None, :], acc.to(out.dtype.element_ty))


def linear_attention_halves(q, k, v, decay, chunk=128):
    batch, heads, length, depth = q.shape
    width = v.shape[-1]
    out = torch.empty_like(v)
    grid = (width // 16, batch * heads)
    linear_attention_halves_kernel[grid](
        q, k, v, decay, out, heads, length, width, depth, chunk, chunk // 2, 16, num_warps=8, num_stages=2
    )
    return out
