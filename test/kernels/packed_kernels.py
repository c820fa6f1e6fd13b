"""Kernels over packed items beside those of the examples."""

from __future__ import annotations

import torch

import kopt.language as hl


def packed_attention_padded(q, k, v, offsets, longest: int):
    """Causal, over blocks of a grid that goes to the longest sequence; rows are numbered from each sequence's start."""
    rows, heads, depth = q.size()
    out = torch.zeros_like(q)
    scale = depth**-0.5
    for b, h, i in hl.tile([offsets.size(0) - 1, heads, longest], block_size=[1, 1, None]):
        start = offsets[b.begin]
        length = offsets[b.begin + 1] - start
        if i.begin < length:
            inside = i.index < length
            mine = hl.load(q, [i.index + start, h.begin, slice(None)], extra_mask=inside[:, None])
            top = hl.full([i], float("-inf"), dtype=torch.float32)
            total = hl.zeros([i], dtype=torch.float32)
            acc = hl.zeros([i, depth], dtype=torch.float32)
            for j in hl.tile(0, i.end):
                there = (j.index < length)[:, None]
                keys = hl.load(k, [j.index + start, h.begin, slice(None)], extra_mask=there)
                values = hl.load(v, [j.index + start, h.begin, slice(None)], extra_mask=there)
                scores = torch.matmul(mine, keys.transpose(0, 1)).to(torch.float32) * scale
                scores = torch.where(i.index[:, None] >= j.index[None, :], scores, float("-inf"))
                higher = torch.maximum(top, scores.amax(1))
                weights = torch.exp(scores - higher[:, None])
                decay = torch.exp(top - higher)
                total = total * decay + weights.sum(1)
                acc = torch.addmm(acc * decay[:, None], weights.to(v.dtype), values)
                top = higher
            result = (acc / total[:, None]).to(q.dtype)
            hl.store(out, [i.index + start, h.begin, slice(None)], result, extra_mask=inside[:, None])
    return out


def grouped_matmul_filled(x, weights, offsets):
    """The rows of each group times the group's own matrix, and zeros where a row belongs to none."""
    groups, inner, columns = weights.size()
    out = torch.zeros([x.size(0), columns], dtype=x.dtype)
    for g in hl.grid(groups):
        for m, n in hl.tile([offsets[g], 0], [offsets[g + 1], columns]):
            acc = hl.zeros([m, n], dtype=torch.float32)
            for k in hl.tile(inner):
                acc = torch.addmm(acc, x[m, k], weights[g, k, n])
            out[m, n] = acc.to(x.dtype)
    return out


def grouped_matmul_by_index(x, weights, offsets):
    """The rows of each group times the group's own matrix, numbered from the group's start."""
    groups, inner, columns = weights.size()
    out = torch.zeros([x.size(0), columns], dtype=x.dtype)
    for g in hl.grid(groups):
        start = offsets[g]
        count = offsets[g + 1] - start
        if count > 0:
            for m, n in hl.tile([count, columns]):
                acc = hl.zeros([m, n], dtype=torch.float32)
                for k in hl.tile(inner):
                    acc = torch.addmm(acc, x[start + m.index, k], weights[g, k, n])
                out[start + m.index, n] = acc.to(x.dtype)
    return out


def routed_matmul(x, weights, tokens, offsets, most: int):
    """The rows of ``x`` that each expert has, by their numbers in ``tokens``, times the expert's matrix."""
    experts, inner, columns = weights.size()
    out = torch.zeros([x.size(0), columns], dtype=x.dtype)
    for e in hl.grid(experts):
        start = offsets[e]
        count = offsets[e + 1] - start
        for t, n in hl.tile([most, columns]):
            has = t.index < count
            token = hl.load(tokens, [start + t.index], extra_mask=has)
            acc = hl.zeros([t, n], dtype=torch.float32)
            for k in hl.tile(inner):
                acc = torch.addmm(acc, hl.load(x, [token, k], extra_mask=has[:, None]), weights[e, k, n])
            hl.store(out, [token, n], acc.to(x.dtype), extra_mask=has[:, None])
    return out


def routed_matmul_kept(x, weights, tokens, offsets, most: int):
    """The same where lanes without a token stand for the expert's first one, and put back what it has."""
    experts, inner, columns = weights.size()
    out = torch.zeros([x.size(0), columns], dtype=x.dtype)
    for e in hl.grid(experts):
        start = offsets[e]
        count = offsets[e + 1] - start
        if count != 0:
            for t, n in hl.tile([most, columns]):
                has = t.index < count
                token = tokens[start + torch.where(has, t.index, 0)]
                acc = hl.zeros([t, n], dtype=torch.float32)
                for k in hl.tile(inner):
                    acc = torch.addmm(acc, torch.where(has[:, None], x[token, k], 0.0), weights[e, k, n])
                out[token, n] = torch.where(has[:, None], acc.to(x.dtype), out[token, n])
    return out
