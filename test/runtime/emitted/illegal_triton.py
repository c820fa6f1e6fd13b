"""Modules that Triton refuses."""

import torch
import triton
import triton.language as tl


@triton.jit
def _odd(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)  # odd.py:4
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def odd(x):
    out = torch.empty_like(x)
    _odd[(triton.cdiv(x.numel(), 200),)](x, out, x.numel(), B=200)
    return out


@triton.jit
def _large(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out + i, tl.dot(tl.load(x + i), tl.load(y + i)))


def large(x, y):
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    _large[(1,)](x, y, out, B=x.shape[0], num_warps=8)
    _large[(1,)](x, y, out, B=16, num_warps=4)
    return out
