"""What Triton's interpreter gets wrong in bf16 by itself: casts, arithmetic, where, max, sum, dot, atomics."""

import torch
import triton
import triton.language as tl


@triton.jit
def _ops(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + B + i, a * b)
    tl.store(out + 2 * B + i, tl.where(a > b, a, b))
    tl.store(out + 3 * B + i, tl.maximum(a, b))
    tl.store(out + 4 * B + i, (a.to(tl.float32) * 1.01).to(tl.bfloat16))
    tl.store(out + 5 * B + i, tl.broadcast_to(tl.sum(a, axis=0), (B,)))
    tl.store(out + 6 * B + i, tl.broadcast_to(tl.max(a, axis=0), (B,)))


def ops(x, y):
    out = torch.empty((7, x.numel()), dtype=x.dtype, device=x.device)
    _ops[(1,)](x, y, out, B=x.numel())
    return out


@triton.jit
def _dot(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + i, tl.dot(tl.load(x + i), tl.load(y + i)))


def dot(x, y):
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    _dot[(1,)](x, y, out, B=x.shape[0])
    return out


@triton.jit
def _scatter(x, index, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    where = tl.load(index + i, mask=i < n, other=0)
    tl.atomic_add(out + where, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)


def scatter(x, index, out):
    _scatter[(triton.cdiv(x.numel(), 32),)](x, index, out, x.numel(), B=32)
    return out
