"""Kernels whose statements have few lanes or none, and what torch gives for each."""

from __future__ import annotations

import torch

import kopt.language as hl
from test.extents.families import Family, Sizes, numbers, operands


def ones_broadcast(x, column, row):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.shape):
        out[i, j] = x[i, j] * column[i, :] + row[:, j]
    return out


def first_and_last(x):
    out = x.new_zeros(x.size(0), 2)
    for i in hl.tile(x.size(0)):
        out[i, 0] = x[i, 0]
        out[i, 1] = x[i, x.size(1) - 1]
    return out


def first_row(x):
    out = torch.zeros_like(x)
    for j in hl.tile(x.size(1)):
        out[0, j] = x[0, j] * 3
    return out


def kept_dims(x):
    out = x.new_empty(x.size(0), 1, x.size(2))
    for i, k in hl.tile([x.size(0), x.size(2)]):
        out[i, :, k] = x[i, :, k].sum(1, keepdim=True)
    return out


def centred(x):
    mean = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        mean[i] = x[i, :].mean(1)
    out = torch.empty_like(x)
    for i, j in hl.tile(x.shape):
        out[i, j] = x[i, j] - mean[i][:, None]
    return out


def in_place(x):
    for i, j in hl.tile(x.shape):
        x[i, j] += 1
    return x


def halves(x):
    out = torch.empty_like(x)
    middle = x.size(1) // 2
    for i in hl.tile(x.size(0)):
        out[i, :middle] = x[i, x.size(1) - middle :]
        out[i, middle:] = x[i, : x.size(1) - middle]
    return out


def largest_of_columns(x, classes, old):
    out = old.clone()
    for i, j in hl.tile(x.shape):
        hl.atomic_max(out, [classes[i], j], x[i, j])
    return out


def column_maxima(x):
    out = x.new_full([x.size(1)], -100.0)
    for i, j in hl.tile(x.shape):
        hl.atomic_max(out, [j], x[i, j].amax(0))
    return out


def tickets(x):
    counter, out = torch.zeros(1, dtype=torch.int32), torch.zeros(x.size(0), dtype=torch.int32)
    for _ in hl.grid(x.size(0)):
        ticket = hl.atomic_add(counter, [0], 1)
        out[ticket] = 1
    return out, counter


def parts_of_rows(x):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])
        for outer in hl.tile(x.size(1)):
            for k in hl.tile(outer.begin, outer.end):
                total = total + x[i, k].sum(1)
        out[i] = total
    return out


def element_by_element(x):
    out = torch.empty_like(x)
    for i in hl.grid(x.size(0)):
        for j in hl.grid(x.size(1)):
            out[i, j] = -x[i, j]
    return out


def rows_by_grid(x, flags):
    out = torch.zeros_like(x)
    for i in hl.grid(x.size(0)):
        if flags[i] > 0:
            out[i, :] = x[i, :] + 1
        elif flags[i] < 0:
            for j in hl.tile(x.size(1)):
                out[i, j] = x[i, j] * 2
    return out


def updates_when_positive(x, flags):
    out = x.new_zeros(x.size(1))
    for i in hl.grid(x.size(0)):
        if flags[i] > 0:
            for j in hl.tile(x.size(1)):
                hl.atomic_add(out, [j], x[i, j])
    return out


def product_when_positive(x, y, flag):
    out = x.new_empty(x.size(0), y.size(1))
    for i, j in hl.tile([x.size(0), y.size(1)]):
        total = hl.zeros([i, j])
        if flag[()] > 0:
            for k in hl.tile(x.size(1)):
                total = torch.addmm(total, x[i, k], y[k, j])
        else:
            total = total - 1
        out[i, j] = total
    return out


def until_large(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        for j in hl.tile(x.size(1)):
            block = x[i, j] * x[i, j]
            count = 0
            while (block.amax() < 40.0) & (count < 9):
                block = block * 2 + 1
                count = count + 1
            out[i, j] = torch.where(block >= 0, x[i, j], 0)
    return out


def outer_products(x, y):
    out = x.new_empty(x.size(0), y.size(0))
    for i, j in hl.tile([x.size(0), y.size(0)]):
        out[i, j] = x[i][:, None] * y[j][None, :]
    return out


def flat_rows(x):
    out = torch.empty_like(x)
    source, target = x.view(-1), out.view(-1)
    for i in hl.tile(x.numel()):
        target[i] = source[i] + 1
    return out


def flips(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.flip(x[i, :], [1])
    return out


def pairs(x):
    out = x.new_empty(x.size(0), x.size(1))
    for i in hl.tile(x.size(0)):
        both = x[i, :].reshape(-1, x.size(1) // 2, 2) if x.size(1) > 1 else x[i, :].unsqueeze(1)
        out[i, :] = (both * 2).flatten(1)
    return out


def counts(x):
    out = torch.empty(x.size(0), dtype=torch.int64)
    for i in hl.tile(x.size(0)):
        out[i] = (x[i, :] > 0).sum(1)
    return out


def any_positive(x):
    out = torch.empty(x.size(0), dtype=torch.bool)
    for i in hl.tile(x.size(0)):
        out[i] = (x[i, :] > 0).any(1)
    return out


def spreads(x):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        out[i] = torch.var(x[i, :], 1, correction=0)
    return out


def row_norms(x):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        out[i] = torch.logsumexp(x[i, :], 1)
    return out


def row_dots(x, y):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        out[i] = (x[i, :] * y[:]).sum(1)
    return out


def times_vector(x, y):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])
        for k in hl.tile(x.size(1)):
            total = total + x[i, k] @ y[k]
        out[i] = total
    return out


def linear_recurrence(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        state = hl.zeros([i])
        for t in hl.grid(x.size(1)):
            state = state * 0.5 + x[i, t]
            out[i, t] = state
    return out


def rows_before(x):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.shape):
        inside = (i.index > 0)[:, None]
        out[i, j] = hl.load(x, [i.index - 1, j], extra_mask=inside)
    return out


def batched_rows(x):
    out = x.new_empty(x.size(0), x.size(1))
    for b in hl.grid(x.size(0)):
        for i in hl.tile(x.size(1)):
            out[b, i] = x[b, i, :].sum(1)
    return out


def _flags(count: int) -> torch.Tensor:
    return torch.randint(-1, 2, (count,), dtype=torch.int32)


def _flagged(*shapes: str):
    return lambda s: (*operands(*shapes)(s), _flags(s["m"]))


def _ends(x):
    out = x.new_zeros(x.size(0), 2)
    out[:, 0], out[:, 1] = x[:, 0], x[:, -1]
    return out


def _first_row(x):
    out = torch.zeros_like(x)
    out[0] = x[0] * 3
    return out


def _recurrence(x):
    state, out = torch.zeros(x.size(0)), torch.empty_like(x)
    for t in range(x.size(1)):
        state = state * 0.5 + x[:, t]
        out[:, t] = state
    return out


def _classed(s: Sizes) -> tuple[torch.Tensor, ...]:
    rows = s["m"] if s["k"] else 0
    classes = torch.randint(max(1, s["k"]), (rows,), dtype=torch.int32)
    return numbers(rows, s["n"]), classes, numbers(s["k"], s["n"])


def _by_flag(x, f):
    return torch.where(f[:, None] > 0, x + 1, torch.where(f[:, None] < 0, x * 2, 0))


FAMILIES = [
    Family(
        ones_broadcast, "m n", "m n", lambda s: operands("m n", "m o", "o n")({**s, "o": 1}), lambda x, c, r: x * c + r
    ),
    Family(first_and_last, "m n", "m", operands("m n"), _ends),
    Family(first_row, "m n", "n", operands("m n"), _first_row),
    Family(kept_dims, "m n k", "m k", operands("m n k"), lambda x: x.sum(1, keepdim=True)),
    Family(centred, "m n", "m m n", operands("m n"), lambda x: x - x.mean(1, keepdim=True)),
    Family(in_place, "m n", "m n", operands("m n"), lambda x: x + 1),
    Family(halves, "m n", "m", operands("m n"), lambda x: torch.roll(x, x.size(1) // 2, 1) if x.numel() else x.clone()),
    Family(
        largest_of_columns,
        "m n k",
        "m n",
        _classed,
        lambda x, c, old: old.scatter_reduce(0, c.long()[:, None].expand_as(x), x, "amax"),
    ),
    Family(
        column_maxima,
        "m n",
        "m n",
        operands("m n"),
        lambda x: x.amax(0) if x.size(0) else x.new_full([x.size(1)], -100.0),
    ),
    Family(
        tickets,
        "m",
        "",
        operands("m"),
        lambda x: (torch.ones(x.size(0), dtype=torch.int32), torch.full((1,), x.size(0), dtype=torch.int32)),
        steps="m",
    ),
    Family(parts_of_rows, "m k", "m k k", operands("m k"), lambda x: x.sum(1)),
    Family(element_by_element, "m n", "", operands("m n"), lambda x: -x, steps="m n"),
    Family(rows_by_grid, "m n", "n", _flagged("m n"), _by_flag, steps="m"),
    Family(updates_when_positive, "m n", "n", _flagged("m n"), lambda x, f: (x * (f > 0)[:, None]).sum(0), steps="m"),
    Family(
        product_when_positive,
        "m n k",
        "m n k",
        lambda s: (*operands("m k", "k n")(s), _flags(1)[0]),
        lambda x, y, f: x @ y if f > 0 else x.new_full((x.size(0), y.size(1)), -1.0),
    ),
    Family(until_large, "m n", "m n", operands("m n"), lambda x: x),
    Family(outer_products, "m n", "m n", operands("m", "n"), lambda x, y: x[:, None] * y),
    Family(flat_rows, "m n", "m", operands("m n"), lambda x: x + 1),
    Family(flips, "m n", "m", operands("m n"), lambda x: x.flip(1)),
    Family(pairs, "m n", "m", lambda s: (numbers(s["m"], s["n"] & -2 or min(s["n"], 1)),), lambda x: x * 2),
    Family(counts, "m n", "m", operands("m n"), lambda x: (x > 0).sum(1)),
    Family(any_positive, "m n", "m", operands("m n"), lambda x: (x > 0).any(1)),
    Family(spreads, "m n", "m", operands("m n"), lambda x: ((x - x.mean(1, keepdim=True)) ** 2).mean(1)),
    Family(row_norms, "m n", "m", operands("m n"), lambda x: torch.logsumexp(x, 1)),
    Family(row_dots, "m n", "m", operands("m n", "n"), lambda x, y: (x * y).sum(1)),
    Family(times_vector, "m k", "m k", operands("m k", "k"), lambda x, y: x @ y),
    Family(linear_recurrence, "m k", "m", operands("m k"), _recurrence, steps="k"),
    Family(
        rows_before,
        "m n",
        "m n",
        operands("m n"),
        lambda x: torch.cat([torch.zeros(min(1, x.size(0)), x.size(1)), x[:-1]]),
    ),
    Family(batched_rows, "m n k", "n", operands("m n k"), lambda x: x.sum(2), steps="m"),
]
