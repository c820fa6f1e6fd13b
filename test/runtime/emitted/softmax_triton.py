"""Row softmax, one program a row, and a matmul of one tile: two kernels that need masks and dots."""

import torch
import triton
import triton.language as tl


@triton.jit
def _softmax_0(x, out, columns, W: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, W)
    v = tl.load(x + row * columns + j, mask=j < columns, other=float("-inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + j, (e / tl.sum(e, axis=0)).to(out.dtype.element_ty), mask=j < columns)


def softmax(x):
    out = torch.empty_like(x)
    _softmax_0[(x.shape[0],)](x, out, x.shape[1], W=triton.next_power_of_2(x.shape[1]), num_warps=4)
    return out


@triton.jit
def _matmul_0(x, y, out, m, n, k, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, k, B):
        r = start + tl.arange(0, B)
        a = tl.load(x + i[:, None] * k + r[None, :], mask=(i[:, None] < m) & (r[None, :] < k), other=0.0)
        b = tl.load(y + r[:, None] * n + j[None, :], mask=(r[:, None] < k) & (j[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(out + i[:, None] * n + j[None, :], acc.to(out.dtype.element_ty), mask=(i[:, None] < m) & (j[None, :] < n))


def matmul(x, y):
    (m, k), n = x.shape, y.shape[1]
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    _matmul_0[(triton.cdiv(m, 32), triton.cdiv(n, 32))](x, y, out, m, n, k, B=32, num_warps=4, num_stages=2)
    return out


def double_then_softmax(x):
    x.mul_(2)
    return softmax(x), x


@triton.jit
def _misaligned(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) + tl.arange(0, 2 * B))  # misaligned.py:6


def misaligned(x):
    out = torch.empty_like(x)
    _misaligned[(1,)](x, out, B=x.numel())
    return out


@triton.jit
def _endless(x, out):
    n = tl.load(x)
    while n > 0:
        n = n + 1
        if n > 1000:
            n = n - 1000
    tl.store(out, n)


def endless(x):
    out = torch.empty_like(x)
    _endless[(1,)](x, out)
    return out
