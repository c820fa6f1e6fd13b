"""Kernels over whole arrays, and what torch gives for each."""

from __future__ import annotations

import torch

import kopt.language as hl
from test.extents.families import Family, operands


def elementwise_1d(x, y):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * 2 + y[i]
    return out


def elementwise_2d(x, rows, columns):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.shape):
        out[i, j] = torch.relu(x[i, j] + columns[j]) * rows[i][:, None]
    return out


def elementwise_3d(x, y):
    out = torch.empty_like(x)
    for i, j, k in hl.tile(x.shape):
        out[i, j, k] = x[i, j, k] - y[j, k]
    return out


def row_sums(x):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])
        for k in hl.tile(x.size(1)):
            total = total + x[i, k].sum(1)
        out[i] = total
    return out


def row_largest(x):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        out[i] = x[i, :].amax(1)
    return out


def row_means(x):
    out = x.new_empty(x.size(0), 1)
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :].mean(1, keepdim=True)
    return out


def column_sums(x):
    out = x.new_empty(x.size(1))
    for j in hl.tile(x.size(1)):
        total = hl.zeros([j])
        for i in hl.tile(x.size(0)):
            total += x[i, j].sum(0)
        out[j] = total
    return out


def middle_sums(x):
    out = x.new_empty(x.size(0), x.size(2))
    for i, k in hl.tile([x.size(0), x.size(2)]):
        out[i, k] = x[i, :, k].sum(1)
    return out


def whole_sum(x):
    out = x.new_zeros(1)
    for i, j in hl.tile(x.shape):
        hl.atomic_add(out, [0], x[i, j].sum())
    return out


def scalar_sum(x):
    out = x.new_empty([])
    for _ in hl.grid(1):
        total = hl.zeros([])
        for i in hl.tile(x.size(0)):
            total = total + x[i, :].sum()
        out[()] = total
    return out


def softmax(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.softmax(x[i, :], 1)
    return out


def online_softmax(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        largest, total = hl.full([i], float("-inf")), hl.zeros([i])
        for k in hl.tile(x.size(1)):
            new = torch.maximum(largest, x[i, k].amax(1))
            total = total * torch.exp(largest - new) + torch.exp(x[i, k] - new[:, None]).sum(1)
            largest = new
        for k in hl.tile(x.size(1)):
            out[i, k] = torch.exp(x[i, k] - largest[:, None]) / total[:, None]
    return out


def layer_norm(x, weight, bias):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        row = x[i, :]
        mean = row.mean(1, keepdim=True)
        spread = ((row - mean) * (row - mean)).mean(1, keepdim=True)
        out[i, :] = (row - mean) * torch.rsqrt(spread + 1e-3) * weight[:] + bias[:]
    return out


def matmul(x, y, bias):
    out = x.new_empty(x.size(0), y.size(1))
    for i, j in hl.tile([x.size(0), y.size(1)]):
        total = hl.zeros([i, j])
        for k in hl.tile(x.size(1)):
            total = torch.addmm(total, x[i, k], y[k, j])
        out[i, j] = torch.relu(total + bias[j])
    return out


def whole_matmul(x, y):
    out = x.new_empty(x.size(0), y.size(1))
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :] @ y[:, :]
    return out


def bmm(x, y):
    out = x.new_empty(x.size(0), x.size(1), y.size(2))
    for b, i, j in hl.tile([x.size(0), x.size(1), y.size(2)]):
        total = hl.zeros([b, i, j])
        for k in hl.tile(x.size(2)):
            total = torch.baddbmm(total, x[b, i, k], y[b, k, j])
        out[b, i, j] = total
    return out


def split_k(x, y):
    out = x.new_zeros(x.size(0), y.size(1))
    for i, j, part in hl.tile([x.size(0), y.size(1), x.size(1)]):
        total = hl.zeros([i, j])
        for k in hl.tile(part.begin, part.end):
            total = torch.addmm(total, x[i, k], y[k, j])
        hl.atomic_add(out, [i, j], total)
    return out


def transposes(x):
    out = x.new_empty(x.size(1), x.size(0))
    for i, j in hl.tile(x.shape):
        out[j, i] = x[i, j].T
    return out


def turns(x):
    out = x.new_empty(x.size(2), x.size(0), x.size(1))
    for i, j in hl.tile([x.size(0), x.size(1)]):
        out[:, i, j] = x[i, j, :].permute(2, 0, 1)
    return out


def joins(x, y):
    out = x.new_empty(x.size(0), x.size(1) + y.size(1))
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.cat([x[i, :], y[i, :]], 1)
    return out


def stacks(x, y):
    out = x.new_empty(x.size(0), 2, x.size(1))
    for i, j in hl.tile(x.shape):
        out[i, :, j] = torch.stack([x[i, j], y[i, j]], 1)
    return out


def running_sums(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.cumsum(x[i, :], 1)
    return out


def sorts(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.sort(x[i, :], 1)[0]
    return out


def tops(x):
    out = x.new_empty(x.size(0), 1)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.topk(x[i, :], 1, dim=1)[0]
    return out


def places(x):
    out = torch.empty(x.size(0), dtype=torch.int64)
    for i in hl.tile(x.size(0)):
        out[i] = torch.argmax(x[i, :], 1)
    return out


def several(x):
    doubled, sums = torch.empty_like(x), x.new_empty(x.size(0))
    largest = x.new_empty(x.size(0), 1)
    for i in hl.tile(x.size(0)):
        row = x[i, :]
        doubled[i, :] = row * 2
        sums[i] = row.sum(1)
        largest[i, 0] = torch.where(row > 0, row, 0).sum(1)
    return doubled, sums, largest


def scaled(x, scale):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.shape):
        out[i, j] = x[i, j] * scale[()]
    return out


def reshapes(x):
    out = x.new_empty(x.size(0), x.size(1) * x.size(2))
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :, :].flatten(1)
    return out


def attention(q, k, v):
    out = torch.empty_like(q)
    for i in hl.tile(q.size(0)):
        largest, total = hl.full([i], float("-inf")), hl.zeros([i])
        found = hl.zeros([i, q.size(1)])
        for j in hl.tile(k.size(0)):
            scores = q[i, :] @ k[j, :].T
            new = torch.maximum(largest, scores.amax(1))
            weights = torch.exp(scores - new[:, None])
            factor = torch.exp(largest - new)
            total = total * factor + weights.sum(1)
            found = found * factor[:, None] + weights @ v[j, :]
            largest = new
        out[i, :] = found / total[:, None]
    return out


FAMILIES = [
    Family(elementwise_1d, "m", "m", operands("m", "m"), lambda x, y: x * 2 + y),
    Family(elementwise_2d, "m n", "m n", operands("m n", "m", "n"), lambda x, r, c: torch.relu(x + c) * r[:, None]),
    Family(elementwise_3d, "m n k", "m n k", operands("m n k", "n k"), lambda x, y: x - y),
    Family(row_sums, "m k", "m k", operands("m k"), lambda x: x.sum(1)),
    Family(row_largest, "m k", "m", operands("m k"), lambda x: x.amax(1)),
    Family(row_means, "m k", "m", operands("m k"), lambda x: x.mean(1, keepdim=True)),
    Family(column_sums, "m n", "n m", operands("m n"), lambda x: x.sum(0)),
    Family(middle_sums, "m n k", "m k", operands("m n k"), lambda x: x.sum(1)),
    Family(whole_sum, "m n", "m n", operands("m n"), lambda x: x.sum().reshape(1)),
    Family(scalar_sum, "m n", "m", operands("m n"), lambda x: x.sum()),
    Family(softmax, "m k", "m", operands("m k"), lambda x: torch.softmax(x, 1)),
    Family(online_softmax, "m k", "m k k", operands("m k"), lambda x: torch.softmax(x, 1)),
    Family(
        layer_norm,
        "m k",
        "m",
        operands("m k", "k", "k"),
        lambda x, w, b: torch.nn.functional.layer_norm(x, x.shape[1:], w, b, 1e-3) if x.numel() else x.clone(),
    ),
    Family(matmul, "m n k", "m n k", operands("m k", "k n", "n"), lambda x, y, b: torch.relu(x @ y + b)),
    Family(whole_matmul, "m n k", "m", operands("m k", "k n"), lambda x, y: x @ y),
    Family(bmm, "b m n k", "b m n k", operands("b m k", "b k n"), lambda x, y: x @ y),
    Family(split_k, "m n k", "m n k k", operands("m k", "k n"), lambda x, y: x @ y),
    Family(transposes, "m n", "m n", operands("m n"), lambda x: x.T.contiguous()),
    Family(turns, "m n k", "m n", operands("m n k"), lambda x: x.permute(2, 0, 1).contiguous()),
    Family(joins, "m n k", "m", operands("m n", "m k"), lambda x, y: torch.cat([x, y], 1)),
    Family(stacks, "m n", "m n", operands("m n", "m n"), lambda x, y: torch.stack([x, y], 1)),
    Family(running_sums, "m k", "m", operands("m k"), lambda x: x.cumsum(1)),
    Family(sorts, "m k", "m", operands("m k"), lambda x: x.sort(1)[0]),
    Family(tops, "m k", "m", operands("m k"), lambda x: x.topk(1, 1)[0]),
    Family(places, "m k", "m", operands("m k"), lambda x: x.argmax(1)),
    Family(several, "m k", "m", operands("m k"), lambda x: (x * 2, x.sum(1), x.clamp_min(0).sum(1, keepdim=True))),
    Family(scaled, "m n", "m n", operands("m n", ""), lambda x, s: x * s),
    Family(reshapes, "m n k", "m", operands("m n k"), lambda x: x.reshape(x.size(0), x.size(1) * x.size(2))),
    Family(
        attention,
        "m n k",
        "m n",
        operands("m k", "n k", "n k"),
        lambda q, k, v: torch.softmax(q @ k.T, 1) @ v if k.size(0) else torch.full_like(q, float("nan")),
    ),
]
