"""Kernels over rows that lie one item after another: item ``i`` has those from ``offsets[i]`` to ``offsets[i + 1]``."""

from __future__ import annotations

import torch

import kopt.language as hl


def jagged_sum(x, offsets):
    """The sum of each item's rows, by element numbers of the flat storage."""
    items, columns = offsets.size(0) - 1, x.size(1)
    flat = x.view(-1)
    out = torch.empty([items, columns], dtype=x.dtype)
    for b in hl.tile(items):
        starts = offsets[b]
        lengths = offsets[b.index + 1] - starts
        for m in hl.tile(columns):
            total = hl.zeros([b, m], dtype=torch.float32)
            for k in hl.jagged_tile(lengths):
                rows = (starts[:, None] + k.index[None, :]) * columns
                total = total + flat[rows[:, :, None] + m.index[None, None, :]].to(torch.float32).sum(1)
            out[b, m] = total.to(x.dtype)
    return out


def jagged_sum_by_rows(x, offsets):
    """The same, by row numbers."""
    items, columns = offsets.size(0) - 1, x.size(1)
    out = torch.empty([items, columns], dtype=x.dtype)
    for b, m in hl.tile([items, columns]):
        starts = offsets[b]
        total = hl.zeros([b, m], dtype=torch.float32)
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            total = total + x[starts[:, None] + k.index[None, :], m].to(torch.float32).sum(1)
        out[b, m] = total.to(x.dtype)
    return out


def jagged_sum_masked(x, offsets):
    """The same, with a loop to the longest item and a mask."""
    items, columns = offsets.size(0) - 1, x.size(1)
    flat = x.view(-1)
    out = torch.empty([items, columns], dtype=x.dtype)
    for b in hl.tile(items):
        starts = offsets[b]
        lengths = offsets[b.index + 1] - starts
        longest = lengths.amax()
        for m in hl.tile(columns):
            total = hl.zeros([b, m], dtype=torch.float32)
            for k in hl.tile(0, longest):
                rows = (starts[:, None] + k.index[None, :]) * columns
                mask = (k.index[None, :] < lengths[:, None])[:, :, None] & (m.index < columns)[None, None, :]
                block = hl.load(flat, [rows[:, :, None] + m.index[None, None, :]], extra_mask=mask)
                total = total + block.to(torch.float32).sum(1)
            out[b, m] = total.to(x.dtype)
    return out


def jagged_sum_by_items(x, offsets):
    """The same, item by item with bounds that are numbers."""
    items, columns = offsets.size(0) - 1, x.size(1)
    out = torch.empty([items, columns], dtype=x.dtype)
    for i in hl.grid(items):
        begin, end = offsets[i], offsets[i + 1]
        for m in hl.tile(columns):
            total = hl.zeros([m], dtype=torch.float32)
            for row in hl.tile(begin, end):
                total = total + x[row, m].to(torch.float32).sum(0)
            out[i, m] = total.to(x.dtype)
    return out


def jagged_mean(x, offsets, features):
    """The mean of each item's rows over its own number of features; 0 elsewhere and for items without rows."""
    items, columns = offsets.size(0) - 1, x.size(1)
    flat = x.view(-1)
    out = torch.zeros([items, columns], dtype=x.dtype)
    for b in hl.tile(items):
        starts = offsets[b]
        lengths = offsets[b.index + 1] - starts
        for m in hl.jagged_tile(features[b]):
            total = hl.zeros([b, m], dtype=torch.float32)
            for k in hl.jagged_tile(lengths):
                rows = (starts[:, None] + k.index[None, :]) * columns
                total = total + flat[rows[:, :, None] + m.index[None, None, :]].to(torch.float32).sum(1)
            count = torch.maximum(lengths, torch.ones_like(lengths)).to(torch.float32)
            out[b, m] = (total / count[:, None]).to(x.dtype)
    return out


def jagged_softmax(x, offsets):
    """Softmax over each item's rows, column by column, in three passes."""
    items, columns = offsets.size(0) - 1, x.size(1)
    flat = x.view(-1)
    out = torch.zeros_like(x)
    out_flat = out.view(-1)
    for b in hl.tile(items):
        starts = offsets[b]
        lengths = offsets[b.index + 1] - starts
        for m in hl.tile(columns):
            top = hl.full([b, m], float("-inf"), dtype=torch.float32)
            total = hl.zeros([b, m], dtype=torch.float32)
            for k in hl.jagged_tile(lengths):
                rows = (starts[:, None] + k.index[None, :]) * columns
                block = flat[rows[:, :, None] + m.index[None, None, :]].to(torch.float32)
                top = torch.maximum(top, block.amax(1))
            for k in hl.jagged_tile(lengths):
                rows = (starts[:, None] + k.index[None, :]) * columns
                block = flat[rows[:, :, None] + m.index[None, None, :]].to(torch.float32)
                total = total + torch.exp(block - top[:, None, :]).sum(1)
            for k in hl.jagged_tile(lengths):
                rows = (starts[:, None] + k.index[None, :]) * columns
                place = rows[:, :, None] + m.index[None, None, :]
                block = flat[place].to(torch.float32)
                out_flat[place] = (torch.exp(block - top[:, None, :]) / total[:, None, :]).to(x.dtype)
    return out


def jagged_layer_norm(x, offsets):
    """Layer norm over all of an item's numbers."""
    items, columns = offsets.size(0) - 1, x.size(1)
    out = torch.zeros_like(x)
    for b in hl.tile(items):
        starts = offsets[b]
        lengths = offsets[b.index + 1] - starts
        count = (torch.maximum(lengths, torch.ones_like(lengths)) * columns).to(torch.float32)
        total = hl.zeros([b], dtype=torch.float32)
        for k in hl.jagged_tile(lengths):
            for m in hl.tile(columns):
                total = total + x[starts[:, None] + k.index[None, :], m].to(torch.float32).sum(2).sum(1)
        mean = total / count
        squares = hl.zeros([b], dtype=torch.float32)
        for k in hl.jagged_tile(lengths):
            for m in hl.tile(columns):
                centred = x[starts[:, None] + k.index[None, :], m].to(torch.float32) - mean[:, None, None]
                squares = squares + (centred * centred).sum([1, 2])
        scale = torch.rsqrt(squares / count + 1e-5)
        for k in hl.jagged_tile(lengths):
            for m in hl.tile(columns):
                rows = starts[:, None] + k.index[None, :]
                centred = x[rows, m].to(torch.float32) - mean[:, None, None]
                out[rows, m] = (centred * scale[:, None, None]).to(x.dtype)
    return out


def jagged_dense_add(x, offsets, dense):
    """Each item's numbers added to the front of its row of a dense matrix."""
    out = torch.empty_like(dense)
    for b in hl.tile(dense.size(0)):
        starts = offsets[b]
        lengths = offsets[b.index + 1] - starts
        for k in hl.tile(dense.size(1)):
            inside = k.index[None, :] < lengths[:, None]
            row = hl.load(x, [starts[:, None] + k.index[None, :]], extra_mask=inside)
            out[b, k] = dense[b, k] + row
    return out


def jagged_dense_bmm(x, offsets, dense):
    """Each item's rows times its own matrix."""
    items, inner, columns = dense.size()
    out = torch.zeros([x.size(0), columns], dtype=x.dtype)
    for b in hl.tile(items):
        starts = offsets[b]
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            rows = starts[:, None] + k.index[None, :]
            for n in hl.tile(columns):
                acc = hl.zeros([b, k, n], dtype=torch.float32)
                for d in hl.tile(inner):
                    acc = acc + torch.bmm(x[rows, d], dense[b, d, n]).to(torch.float32)
                out[rows, n] = acc.to(x.dtype)
    return out


def hstu_attention(q, k, v, offsets):
    """Causal attention of each item's rows, with silu in place of softmax."""
    rows, heads, depth = q.size()
    out = torch.zeros_like(q)
    scale = 1.0 / depth
    for b, h in hl.tile([offsets.size(0) - 1, heads], block_size=[None, 1]):
        starts = offsets[b]
        lengths = offsets[b.index + 1] - starts
        for i in hl.jagged_tile(lengths):
            mine = starts[:, None] + i.index[None, :]
            acc = hl.zeros([b, i, depth], dtype=torch.float32)
            for j in hl.jagged_tile(lengths):
                others = starts[:, None] + j.index[None, :]
                scores = torch.bmm(q[mine, h.begin, :], k[others, h.begin, :].transpose(1, 2)).to(torch.float32)
                weights = torch.nn.functional.silu(scores * scale)
                weights = torch.where(i.index[:, None] >= j.index[None, :], weights, 0.0).to(v.dtype)
                acc = acc + torch.bmm(weights, v[others, h.begin, :]).to(torch.float32)
            out[mine, h.begin, :] = acc.to(q.dtype)
    return out


def segment_max(x, offsets):
    """The largest row of each item, column by column; -inf for items without rows."""
    items, columns = offsets.size(0) - 1, x.size(1)
    out = torch.empty([items, columns], dtype=x.dtype)
    for b, m in hl.tile([items, columns]):
        starts = offsets[b]
        top = hl.full([b, m], float("-inf"), dtype=x.dtype)
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            top = torch.maximum(top, x[starts[:, None] + k.index[None, :], m].amax(1))
        out[b, m] = top
    return out


def sum_of_numbers(x, offsets):
    """The sum of each item's numbers, in f32."""
    out = torch.empty([offsets.size(0) - 1], dtype=torch.float32)
    for b in hl.tile(offsets.size(0) - 1):
        starts = offsets[b]
        total = hl.zeros([b], dtype=torch.float32)
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            total = total + x[starts[:, None] + k.index[None, :]].to(torch.float32).sum(1)
        out[b] = total
    return out


def scaled_numbers(x, offsets, scale):
    """Each item's numbers times the item's own; 0 outside of all items."""
    out = torch.zeros_like(x)
    for b in hl.tile(offsets.size(0) - 1):
        starts = offsets[b]
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            place = starts[:, None] + k.index[None, :]
            out[place] = (x[place].to(torch.float32) * scale[b][:, None]).to(x.dtype)
    return out


def dense_fronts(x, offsets, dense):
    """The front of each row of a dense matrix added to the item's numbers; 0 outside of all items."""
    out = torch.zeros_like(x)
    for b, k in hl.tile([dense.size(0), dense.size(1)], block_size=[1, None]):
        start = offsets[b.begin]
        inside = k.index < offsets[b.begin + 1] - start
        place = start + k.index
        hl.store(out, [place], dense[b.begin, k] + hl.load(x, [place], extra_mask=inside), extra_mask=inside)
    return out
