"""Kernels that the tests of torch's operators call: results, writes, numbers, trees of arguments, random numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def softmax(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :]
        shares = torch.exp(values - torch.amax(values, -1, keepdim=True))
        out[rows, :] = shares / shares.sum(-1, keepdim=True)
    return out


@softmax.backward
def softmax_backward(grad, result):
    return result * (grad - (grad * result).sum(-1, keepdim=True))


@kopt.kernel
def swiglu(gate, up):
    out = torch.empty_like(up)
    for rows in hl.tile(up.size(0)):
        opened = gate[rows, :]
        out[rows, :] = opened * torch.sigmoid(opened) * up[rows, :]
    return out


@swiglu.backward
@kopt.kernel
def swiglu_backward(grad, gate, up):
    to_gate, to_up = torch.empty_like(gate), torch.empty_like(up)
    for rows in hl.tile(gate.size(0)):
        arriving, opened = grad[rows, :], gate[rows, :]
        share = torch.sigmoid(opened)
        to_up[rows, :] = arriving * opened * share
        to_gate[rows, :] = arriving * up[rows, :] * share * (1 + opened * (1 - share))
    return to_gate, to_up


@kopt.kernel
def matmul(x, y):
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype, device=x.device)
    for rows, columns in hl.tile(out.size()):
        acc = hl.zeros([rows, columns], dtype=x.dtype)
        for k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[rows, k], y[k, columns])
        out[rows, columns] = acc
    return out


@matmul.backward
def matmul_backward(grad, x, y):
    return {"x": matmul(grad, y.t()), "y": matmul(x.t(), grad)}


@kopt.kernel
def normed(x, eps=1e-5):
    """Rows over their root mean squares, and one over these."""
    out = torch.empty_like(x)
    inverse = torch.empty([x.size(0)], dtype=x.dtype, device=x.device)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :]
        rstd = torch.rsqrt((values * values).mean(-1) + eps)
        out[rows, :] = values * rstd[:, None]
        inverse[rows] = rstd
    return out, inverse


@normed.backward
def normed_backward(grad_0, grad_1, result_0, result_1):
    rows = grad_0 - result_0 * (grad_0 * result_0).mean(-1, keepdim=True)
    return rows * result_1[:, None] - (grad_1 * result_1**2)[:, None] * result_0 / result_0.size(1)


@kopt.kernel
def doubled(x):
    """It has no backward."""
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out


@kopt.kernel
def scaled(x, by=2.0):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * by
    return out


@kopt.kernel
def add_into(out, x):
    for rows in hl.tile(x.size(0)):
        out[rows, :] += x[rows, :]


@kopt.kernel
def add_and_triple(out, x, alpha=2.0):
    """Writes an argument, returns it, and a result."""
    tripled = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] += x[rows, :] * alpha
        tripled[rows, :] = x[rows, :] * 3
    return out, tripled


class Pair(NamedTuple):
    """Two tensors of one argument."""

    a: Any
    b: Any


@kopt.kernel
def summed(pair, dtype):
    """Takes a tuple and a dtype, and returns a dict."""
    out = torch.empty_like(pair.a, dtype=dtype)
    largest = torch.empty([pair.a.size(0)], dtype=torch.int64, device=pair.a.device)
    for rows in hl.tile(pair.a.size(0)):
        values = pair.a[rows, :] + pair.b[rows, :]
        out[rows, :] = values.to(dtype)
        largest[rows] = torch.argmax(values, -1)
    return {"sum": out, "largest": largest}


@kopt.kernel
def mapped(x, function):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = function(x[rows, :])
    return out


@kopt.kernel
def pooled(x, factor):
    """Its result's size follows from a size and a number."""
    out = torch.empty([x.size(0), x.size(1) // factor], dtype=x.dtype, device=x.device)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :].reshape([rows, x.size(1) // factor, factor]).sum(-1)
    return out


@kopt.kernel
def noisy(x):
    out = torch.empty_like(x)
    for rows, columns in hl.tile(x.size()):
        out[rows, columns] = x[rows, columns] + torch.rand_like(x[rows, columns])
    return out
