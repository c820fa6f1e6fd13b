"""Flash attention whose queries see no later keys: whole blocks below the diagonal, then those that it crosses."""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def visited(
    acc,
    largest,
    total,
    queries,
    k,
    v,
    head,
    first,
    end,
    scale,
    DEPTH: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    DIAGONAL: tl.constexpr,
):
    rows = tl.arange(0, BLOCK_M)
    lanes = tl.arange(0, BLOCK_N)
    for start in range(first, end, BLOCK_N):
        keys = k.load([head, start, 0]).reshape([BLOCK_N, DEPTH])
        scores = tl.dot(queries, keys.T) * scale
        if DIAGONAL:
            scores = tl.where(rows[:, None] >= (start - first) + lanes[None, :], scores, -float("inf"))
        grown = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - grown[:, None])
        shrink = tl.exp2(largest - grown)
        total = total * shrink + tl.sum(weights, 1)
        values = v.load([head, start, 0]).reshape([BLOCK_N, DEPTH])
        acc = tl.dot(weights.to(values.dtype), values, acc * shrink[:, None])
        largest = grown
    return acc, largest, total


@triton.jit
def causal_kernel(q, k, v, out, scale, DEPTH: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    # The programs with the most keys come first.
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    head = tl.program_id(1)
    queries = q.load([head, first, 0]).reshape([BLOCK_M, DEPTH])
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, DEPTH], tl.float32)
    acc, largest, total = visited(
        acc, largest, total, queries, k, v, head, 0, first, scale, DEPTH, BLOCK_M, BLOCK_N, DIAGONAL=False
    )
    acc, largest, total = visited(
        acc, largest, total, queries, k, v, head, first, first + BLOCK_M, scale, DEPTH, BLOCK_M, BLOCK_N, DIAGONAL=True
    )
    out.store([head, first, 0], (acc / total[:, None]).to(out.dtype).reshape([1, BLOCK_M, DEPTH]))


def causal_attention(q, k, v):
    *heads, length, depth = q.shape
    out = torch.empty_like(q)
    scale = 1.4426950408889634 / math.sqrt(depth)  # exp(x) is exp2(x log2(e))
    rows, columns = 128, 128
    described = [
        TensorDescriptor.from_tensor(array.view(-1, length, depth), [1, size, depth])
        for array, size in ((q, rows), (k, columns), (v, columns), (out, rows))
    ]
    blocks = {"DEPTH": depth, "BLOCK_M": rows, "BLOCK_N": columns}
    causal_kernel[(triton.cdiv(length, rows), math.prod(heads))](*described, scale, **blocks, num_warps=8, num_stages=3)
    return out
