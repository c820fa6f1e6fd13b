"""Kernels that take whole rows and combine them, with what torch makes of the same."""

from __future__ import annotations

import torch
import torch.nn.functional as F

import kopt
import kopt.language as hl


@kopt.kernel
def softmax(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.softmax(x[i, :], dim=-1)
    return out


@kopt.kernel
def written_out(x):
    """Softmax by base 2, of scaled rows."""
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        v = x[i, :].to(torch.float32) * 0.5
        m = torch.amax(v, dim=1, keepdim=True)
        e = torch.exp2((v - m) * 1.44269504)
        out[i, :] = (e / e.sum(dim=1, keepdim=True)).to(x.dtype)
    return out


@kopt.kernel
def log_softmax(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.log_softmax(x[i, :], dim=-1)
    return out


@kopt.kernel
def softmin_above(x):
    """The sum over some lanes only, mended as a minimum falls."""
    out = torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        v = x[i, :].to(torch.float32)
        least = v.amin(dim=-1)
        out[i] = torch.where(v > 0.5, torch.exp(least[:, None] - v) * v, 0.0).sum(-1)
    return out


@kopt.kernel
def layer_norm(x, w, b):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        v = x[i, :].to(torch.float32)
        c = v - v.mean(dim=-1, keepdim=True)
        var = (c * c).mean(dim=-1, keepdim=True)
        out[i, :] = (c * torch.rsqrt(var + 1e-5) * w[:] + b[:]).to(x.dtype)
    return out


@kopt.kernel
def rms_norm(x, w):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        v = x[i, :].to(torch.float32)
        out[i, :] = (v * torch.rsqrt((v * v).mean(dim=-1, keepdim=True) + 1e-5) * w[:]).to(x.dtype)
    return out


@kopt.kernel
def cross_entropy(x, labels):
    out = torch.empty([x.size(0)], dtype=torch.float32)
    n, c = x.shape
    for i in hl.tile(n):
        v = x[i, :].to(torch.float32)
        is_label = hl.arange(c)[None, :] == labels[i][:, None]
        out[i] = torch.logsumexp(v, dim=-1) - torch.where(is_label, v, 0.0).sum(dim=1)
    return out


@kopt.kernel
def best(x):
    out = torch.empty([x.size(0)], dtype=torch.int64)
    for i in hl.tile(x.size(0)):
        out[i] = torch.argmax(x[i, :], dim=-1)
    return out


@kopt.kernel
def largest_and_sum(x):
    """A maximum, and a sum of some lanes."""
    largest = torch.empty([x.size(0)], dtype=torch.float32)
    total = torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        v = x[i, :].to(torch.float32)
        largest[i] = v.amax(-1)
        total[i] = torch.where(v > 0, v, 0.0).sum(-1)
    return largest, total


@kopt.kernel
def attention(keys, q, values):
    out = torch.empty_like(q)
    for i in hl.tile(q.size(0)):
        weights = torch.softmax(q[i, :] @ keys[:, :].T, dim=-1)
        out[i, :] = weights @ values[:, :]
    return out


@kopt.kernel
def softmax_in_place(x):
    for i in hl.tile(x.size(0)):
        x[i, :] = torch.softmax(x[i, :], dim=-1)


def _softmin_above(x):
    terms = torch.exp(x.amin(-1, keepdim=True) - x) * x
    return torch.where(x > 0.5, terms, torch.zeros_like(x)).sum(-1)


#: What torch computes, of arguments in f32.
TORCH = {
    softmax: lambda x: torch.softmax(x, -1),
    written_out: lambda x: torch.softmax(x * 0.5, -1),
    log_softmax: lambda x: torch.log_softmax(x, -1),
    softmin_above: _softmin_above,
    layer_norm: lambda x, w, b: F.layer_norm(x, x.shape[1:], w, b, 1e-5),
    rms_norm: lambda x, w: F.rms_norm(x, x.shape[1:], w, 1e-5),
    cross_entropy: lambda x, labels: torch.logsumexp(x, -1) - x.gather(1, labels[:, None])[:, 0],
    best: lambda x: x.argmax(-1),
    largest_and_sum: lambda x: (x.amax(-1), x.clamp_min(0).sum(-1)),
    attention: lambda keys, q, values: torch.softmax(q @ keys.T, -1) @ values,
}
#: Those with a sum that is mended as a maximum or minimum changes.
ONLINE = (softmax, written_out, log_softmax, softmin_above, cross_entropy, attention)
