"""The operators of published device times as kernels of kopt's, with the tiles that were recorded.

Of grouped products a list of tiles says which rows and which matrix each step takes, as by hand: ``tiles`` numbers the
tiles of rows, ``groups`` the matrices. A tile in which two groups meet is in the list twice.
"""

from __future__ import annotations

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def grouped(x, weights, tiles, groups):
    """Tiles of rows times the matrices of their groups."""
    rows, inner, columns = hl.specialize(x.size(1)), x.size(2), weights.size(2)
    out = torch.empty([tiles.size(0), rows, columns], dtype=x.dtype)
    for n, t in hl.tile([columns, tiles.size(0)], block_size=[None, 1]):
        acc = hl.zeros([rows, n], dtype=torch.float32)
        for k in hl.tile(inner):
            acc = torch.addmm(acc, x[tiles[t.begin], :, k], weights[groups[t.begin], k, n])
        out[t.begin, :, n] = acc.to(x.dtype)
    return out


@kopt.kernel
def grouped_transposed(x, weights, tiles, groups):
    """As `grouped`, of matrices whose rows are columns of the product."""
    rows, inner, columns = hl.specialize(x.size(1)), x.size(2), weights.size(1)
    out = torch.empty([tiles.size(0), rows, columns], dtype=x.dtype)
    for n, t in hl.tile([columns, tiles.size(0)], block_size=[None, 1]):
        acc = hl.zeros([rows, n], dtype=torch.float32)
        for k in hl.tile(inner):
            acc = torch.addmm(acc, x[tiles[t.begin], :, k], weights[groups[t.begin], n, k].transpose(0, 1))
        out[t.begin, :, n] = acc.to(x.dtype)
    return out


@kopt.kernel
def grouped_gradient(x, y, offsets):
    """Each group's rows of ``x``, transposed, times its rows of ``y``."""
    groups, rows, columns = offsets.size(0) - 1, x.size(1), y.size(1)
    out = torch.empty([groups, rows, columns], dtype=x.dtype)
    for g in hl.grid(groups):
        for m, n in hl.tile([rows, columns]):
            acc = hl.zeros([m, n], dtype=torch.float32)
            for k in hl.tile(offsets[g], offsets[g + 1]):
                acc = torch.addmm(acc, x[k, m].transpose(0, 1), y[k, n])
            out[g, m, n] = acc.to(x.dtype)
    return out


@kopt.kernel
def attention(q, k, v, causal: hl.constexpr, residuals: hl.constexpr, masked: hl.constexpr, bias=None, mask=None):
    """Softmax of ``q kᵀ`` times ``v``; keys come in blocks of ``j`` and are worked on in parts ``c`` of these.

    Queries come scaled. What is left of the sums is written as wide as a register has lanes, as by hand.
    """
    heads, m, d = q.size()
    d, n, depth = hl.specialize(d), k.size(1), hl.specialize(v.size(2))
    out = torch.empty([heads, m, depth], dtype=q.dtype)
    sums = torch.empty([heads, m, 128], dtype=torch.float32)
    tops = torch.empty([heads, m, 128], dtype=torch.float32)
    for h, i in hl.tile([heads, m], block_size=[1, None]):
        queries = q[h, i, :]
        top = hl.full([h, i], float("-inf"), dtype=torch.float32)
        total = hl.zeros([h, i], dtype=torch.float32)
        acc = hl.zeros([h, i, depth], dtype=torch.float32)
        for j in hl.tile(0, i.end if causal else n):
            for c in hl.tile(j.begin, j.end):
                scores = hl.dot(queries, k[h, c, :].transpose(1, 2), out_dtype=torch.float32)
                if masked:
                    scores = scores + bias[h.begin % bias.size(0), i, c].to(torch.float32)[None, :, :]
                    scores = torch.where(mask[h.begin // bias.size(0), c][None, None, :], scores, float("-inf"))
                higher = torch.maximum(top, torch.amax(scores, -1))
                decay = torch.exp(top - higher)
                weights = torch.exp(scores - higher[:, :, None])
                total = total * decay + weights.sum(-1)
                acc = torch.baddbmm(acc * decay[:, :, None], weights.to(v.dtype), v[h, c, :])
                top = higher
        out[h, i, :] = (acc / total[:, :, None]).to(out.dtype)
        if residuals:
            sums[h, i, :] = total[:, :, None].expand(-1, -1, 128)
            tops[h, i, :] = top[:, :, None].expand(-1, -1, 128)
    return out, sums, tops


@kopt.kernel
def gated(x, weights):
    """``silu(x a) · (x b)`` of two matrices that lie beside each other."""
    m, inner = x.size()
    columns = weights.size(2)
    out = torch.empty([m, columns], dtype=x.dtype)
    for i, j in hl.tile([m, columns]):
        gate = hl.zeros([i, j], dtype=torch.float32)
        up = hl.zeros([i, j], dtype=torch.float32)
        for k in hl.tile(inner):
            gate = torch.addmm(gate, x[i, k], weights[k, 0, j])
            up = torch.addmm(up, x[i, k], weights[k, 1, j])
        out[i, j] = (gate * torch.sigmoid(gate) * up).to(x.dtype)
    return out
