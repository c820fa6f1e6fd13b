"""Flash attention without a mask: 128 queries a program, 64 keys at a time, exponentials to base 2."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q,
    k,
    v,
    out,
    scale,
    length: tl.constexpr,
    DEPTH: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    EVEN: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64) * length * DEPTH
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    lanes = tl.arange(0, DEPTH)
    keys = tl.arange(0, BLOCK_N)
    at = head + rows[:, None] * DEPTH + lanes[None, :]
    queries = tl.load(q + at) if EVEN else tl.load(q + at, mask=rows[:, None] < length, other=0.0)
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, DEPTH], tl.float32)
    from_k = k + head + keys[None, :] * DEPTH + lanes[:, None]
    from_v = v + head + keys[:, None] * DEPTH + lanes[None, :]
    for start in range(0, length, BLOCK_N):
        inside = start + keys < length
        here = tl.load(from_k) if EVEN else tl.load(from_k, mask=inside[None, :], other=0.0)
        scores = tl.dot(queries, here) * scale
        if not EVEN:
            scores = tl.where(inside[None, :], scores, -float("inf"))
        grown = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - grown[:, None])
        shrink = tl.exp2(largest - grown)
        total = total * shrink + tl.sum(weights, 1)
        values = tl.load(from_v) if EVEN else tl.load(from_v, mask=inside[:, None], other=0.0)
        acc = tl.dot(weights.to(values.dtype), values, acc * shrink[:, None])
        largest = grown
        from_k += BLOCK_N * DEPTH
        from_v += BLOCK_N * DEPTH
    result = (acc / total[:, None]).to(out.dtype.element_ty)
    if EVEN:
        tl.store(out + at, result)
    else:
        tl.store(out + at, result, mask=rows[:, None] < length)


def attention(q, k, v):
    *heads, length, depth = q.shape
    out = torch.empty_like(q)
    scale = 1.4426950408889634 / math.sqrt(depth)  # exp(x) is exp2(x log2(e))
    grid = (triton.cdiv(length, 128), math.prod(heads))
    blocks = {"DEPTH": depth, "BLOCK_M": 128, "BLOCK_N": 64, "EVEN": length % 128 == 0}
    attention_kernel[grid](q, k, v, out, scale, length, **blocks, num_warps=8, num_stages=3)
    return out
