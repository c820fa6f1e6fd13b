"""Small algorithms in the language, in a table; each is run by the reference interpreter and compared with torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import kopt.language as hl

from .support import check

torch.manual_seed(0)
CASES: dict[str, tuple[Any, list[Any], Callable[..., Any], dict[str, Any]]] = {}
X = torch.randn(37, 70)
Y = torch.randn(70, 45)
V = torch.randn(37)


def case(args, expected, tolerance=1e-4):
    """Adds a kernel to the table: its arguments, and the same in torch."""

    def add(kernel):
        CASES[kernel.__name__] = (kernel, args, expected, {"tolerance": tolerance})
        return kernel

    return add


@case([X], lambda x: x * 2)
def if_static_loop(x, mode="a"):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        if mode == "a":
            for k in hl.tile(x.size(1)):
                out[t, k] = x[t, k] * 2
        else:
            out[t, :] = x[t, :]
    return out


@case([X], lambda x: torch.where((torch.arange(37) % 2 == 0)[:, None], x, x.sum(1, keepdim=True).expand(37, 70)))
def loop_in_if(x):
    out = torch.empty_like(x)
    for i in hl.grid(x.size(0)):
        if i % 2 == 0:
            out[i, :] = x[i, :]
        else:
            acc = hl.zeros([])
            for k in hl.tile(x.size(1), block_size=16):
                acc = acc + x[i, k].sum()
            out[i, :] = acc
    return out


@case([X], lambda x: x.sum(1))
def first_flag(x):
    out = torch.empty([37])
    for t in hl.tile(37):
        acc = hl.zeros([t])
        first = True
        for k in hl.tile(70, block_size=16):
            v = x[t, k].sum(-1)
            if first:
                acc = v
            else:
                acc = acc + v
            first = False
        out[t] = acc
    return out


@case([X], lambda x: x.flip(0))
def reverse_rows(x):
    out = torch.empty_like(x)
    n = x.size(0)
    for i in hl.grid(n):
        out[n - 1 - i, :] = x[i, :]
    return out


@case([X, V], lambda x, v: x * torch.tanh(v)[:, None])
def row_scale(x, v):
    out = torch.empty_like(x)
    for a, b in hl.tile([x.size(0), x.size(1)]):
        s = torch.tanh(v[a])
        out[a, b] = x[a, b] * s[:, None]
    return out


@case([X], lambda x: x.sum(0) / 37)
def mean_dim0_loop(x):
    m, n = x.shape
    out = torch.empty([n])
    for b in hl.tile(n):
        total = hl.zeros([b], dtype=torch.float32)
        cnt = 0
        for a in hl.tile(m):
            total += x[a, b].sum(0)
            cnt = cnt + (a.end - a.begin)
        out[b] = total / cnt
    return out


@case([X], lambda x: x[:, :64].reshape(37, 8, 8).amax(-1))
def grouped_max(x):
    out = torch.empty([37, 8])
    for t in hl.tile(37):
        g = x[t, 0:64].view(-1, 8, 8)
        out[t, :] = g.amax(dim=-1)
    return out


@case([X], lambda x: torch.stack([x, x + 1], 0))
def leading_const(x):
    out = torch.empty([2, *x.shape])
    for t in hl.tile(x.size(0)):
        out[0, t, :] = x[t, :]
        out[-1, t] = x[t] + 1
    return out


@case([torch.randn(3, 4, 5, 6)], lambda x: x.sum((1, 2)))
def four_d(x):
    a, b, c, d = x.size()
    out = x.new_zeros([a, d])
    for ta, td in hl.tile([a, d]):
        out[ta, td] = x[ta, :, :, td].sum((1, 2))
    return out


@case([torch.randn(3, 4, 5, 6)], lambda x: x.permute(0, 2, 1, 3).contiguous() + 1)
def permuted_host(x):
    y = x.permute(0, 2, 1, 3)
    out = torch.empty(y.shape, dtype=x.dtype)
    for t in hl.tile(y.size()):
        out[t] = y[t] + 1
    return out


@case([torch.randint(-50, 50, (37, 70))], lambda x: x // 7 + x % 7 - (-x) // 3, 0)
def int64(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.shape):
        out[t] = x[t] // 7 + x[t] % 7 - (-x[t]) // 3
    return out


@case([torch.randint(0, 255, (37, 70), dtype=torch.uint8)], lambda x: (x >> 4).float() + (x & 15).float())
def u8(x):
    out = torch.empty(x.shape)
    for t in hl.tile(x.shape):
        v = x[t]
        out[t] = (v >> 4).to(torch.float32) + (v & 0xF).float()
    return out


@case([X.bfloat16(), Y.bfloat16()], lambda x, y: x.float() @ y.float(), 0.3)
def bf16acc(x, y):
    out = torch.empty([37, 45], dtype=torch.float32)
    for a, b in hl.tile(out.shape):
        acc = hl.zeros([a, b])
        for k in hl.tile(70, block_size=32):
            acc += x[a, k] @ y[k, b]
        out[a, b] = acc
    return out


@case([X, Y], lambda x, y: F.relu(x @ y))
def tk_transposed(x, y):
    yt = y.T
    out = torch.empty([37, 45])
    for a, b in hl.tile(out.shape):
        acc = hl.zeros([a, b])
        for k in hl.tile(70, block_size=32):
            acc = hl.dot(x[a, k], yt[b, k].T, acc=acc)
        out[a, b] = acc.relu()
    return out


@case(
    [torch.randn(2, 33, 16), torch.randn(2, 33, 16), torch.randn(2, 33, 8)],
    lambda q, k, v: torch.tril(q @ k.transpose(1, 2)) @ v,
    1e-3,
)
def linear_attn(q, k, v):
    B, S, D = q.shape
    E = v.size(2)
    out = torch.empty([B, S, E])
    for b in hl.grid(B):
        state = hl.zeros([D, E], dtype=torch.float32)
        for t in hl.tile(S, block_size=8):
            qt = q[b, t, :]
            kt = k[b, t, :]
            vt = v[b, t, :]
            s = qt @ kt.T
            s = torch.where(t.index[:, None] >= t.index[None, :], s, 0.0)
            out[b, t, :] = hl.dot(s, vt) + hl.dot(qt, state)
            state = hl.dot(kt.T, vt, acc=state)
    return out


@case([X], lambda x: x.sum())
def total_scalar(x):
    part = torch.empty([x.size(0)])
    for t in hl.tile(x.size(0)):
        part[t] = x[t, :].sum(-1)
    return part.sum()


def apply_twice(f, v):
    return f(f(v))


@case([X], lambda x: x + 2)
def hof(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.shape):
        out[t] = apply_twice(lambda v: v + 1, x[t])
    return out


@case([X], lambda x: x[:, :5].softmax(-1))
def partial_cols(x):
    out = torch.empty([37, 5])
    for t in hl.tile(37):
        v = x[t, :5]
        e = torch.exp(v - torch.max(v, dim=-1, keepdim=True)[0])
        out[t, :] = e / e.sum(-1, keepdim=True)
    return out


@case([X, torch.tensor([0, 9, 20, 37])], lambda x, o: torch.stack([x[o[i] : o[i + 1]].sum(0) for i in range(3)]))
def segments(x, o):
    out = torch.empty([3, 70])
    for g in hl.grid(3):
        s = o[g]
        e = o[g + 1]
        for b in hl.tile(70):
            acc = hl.zeros([b])
            for t in hl.tile(s, e, block_size=4):
                acc = acc + x[t, b].sum(0)
            out[g, b] = acc
    return out


@case([X], lambda x: x + 1)
def empty_like_view(x):
    out = torch.empty_like(x)
    o2 = out.view(-1)
    x2 = x.reshape(-1)
    for t in hl.tile(x.numel()):
        o2[t] = x2[t] + 1
    return out


@case([X], lambda x: (x.clamp(0, 1) * 255).to(torch.uint8), 0)
def to_u8(x):
    out = torch.empty(x.shape, dtype=torch.uint8)
    for t in hl.tile(x.shape):
        out[t] = (x[t].clamp(0, 1) * 255).to(torch.uint8)
    return out


@case([X], lambda x: torch.cat([x.sum(1)[:, None], x], 1))
def cat_store(x):
    out = torch.empty([37, 71])
    for t in hl.tile(37):
        out[t, :] = torch.cat([x[t, :].sum(-1, keepdim=True), x[t, :]], dim=-1)
    return out


@case([X], lambda x: x.roll(1, 0))
def roll(x):
    out = torch.empty_like(x)
    n = x.size(0)
    for t in hl.tile(n):
        out[t, :] = x[(t.index + n - 1) % n, :]
    return out


@case([X], lambda x: x.amax(1))
def carry_scalar_to_vec(x):
    out = torch.empty([37])
    for t in hl.tile(37):
        best = -math.inf
        for k in hl.tile(70, block_size=16):
            best = torch.maximum(x[t, k].amax(-1), torch.full([t], 0.0) + best)
        out[t] = best
    return out


@case([X], lambda x: torch.stack([x.sum(1), x.amax(1)], 1))
def nd_tuple_carry(x):
    out = torch.empty([37, 2])
    for t in hl.tile(37):
        st = (hl.zeros([t]), hl.full([t], -math.inf))
        for k in hl.tile(70, block_size=16):
            s, m = st
            v = x[t, k]
            st = (s + v.sum(-1), torch.maximum(m, v.amax(-1)))
        out[t, 0], out[t, 1] = st
    return out


@case([X], lambda x: x.mul(2).add(1))
def methods(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.shape):
        out[t] = x[t].mul(2).add(1)
    return out


@case([X], lambda x: torch.log1p(torch.exp(-x.abs())) + torch.clamp(x, min=0))
def chain(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.shape):
        v = x[t]
        out[t] = torch.log1p((-torch.abs(v)).exp()) + torch.clamp(v, min=0)
    return out


@case([X], lambda x: torch.triu(x[:, :37]))
def triangular(x):
    out = torch.zeros([37, 37])
    for a in hl.tile(37, block_size=8):
        for b in hl.tile(a.begin, 37, block_size=8):
            out[a, b] = torch.where(a.index[:, None] <= b.index[None, :], x[a, b], 0)
    return out


@case([X], lambda x: x.sum(1))
def grid_step(x):
    out = torch.zeros([37])
    for i in hl.grid(37):
        acc = hl.zeros([])
        for j in hl.grid(0, 70, 10):
            acc = acc + x[i, j + hl.arange(10)].sum()
        out[i] = acc
    return out


@case([X.half()], lambda x: F.silu(x) + 1, 1e-2)
def f16(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.shape):
        out[t] = F.silu(x[t]) + 1
    return out


@case([X], lambda x: x * 0 + 5)
def constants(x):
    out = torch.full_like(x, 2)
    out[:] = 4
    out += 1
    for t in hl.tile(x.shape):
        out[t] = out[t]
    return out


@case([X], lambda x: x.t() @ x, 1e-3)
def gram(x):
    out = torch.empty([70, 70])
    for a, b in hl.tile([70, 70]):
        acc = hl.zeros([a, b])
        for k in hl.tile(37, block_size=16):
            acc = torch.addmm(acc, x[k, a].t(), x[k, b])
        out[a, b] = acc
    return out


@pytest.mark.parametrize("name", CASES)
def test_kernel(name):
    kernel, args, expected, options = CASES[name]
    check(kernel, args, expected(*args), **options)
