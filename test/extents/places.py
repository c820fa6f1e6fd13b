"""Kernels with computed places, conditions and bounds, and what torch gives for each."""

from __future__ import annotations

import torch

import kopt.language as hl
from test.extents.families import Family, Sizes, numbers


def gather_rows(x, rows):
    out = x.new_empty(rows.size(0), x.size(1))
    for i, j in hl.tile([rows.size(0), x.size(1)]):
        out[i, j] = x[rows[i], j]
    return out


def gather_whole_rows(x, rows):
    out = x.new_empty(rows.size(0), x.size(1))
    for i in hl.tile(rows.size(0)):
        out[i, :] = x[rows[i], :]
    return out


def gather_elements(x, columns):
    out = x.new_empty(x.size(0))
    flat = x.view(-1)
    for i in hl.tile(x.size(0)):
        out[i] = flat[i.index * x.size(1) + columns[i]]
    return out


def embedding(weight, words):
    out = weight.new_empty(words.size(0), words.size(1), weight.size(1))
    for i, j, k in hl.tile([words.size(0), words.size(1), weight.size(1)]):
        out[i, j, k] = weight[words[i, j], k]
    return out


def scatter_rows(x, rows, old):
    out = old.clone()
    for i in hl.tile(x.size(0)):
        out[rows[i], :] = x[i, :]
    return out


def scatter_blocks(x, rows, old):
    out = old.clone()
    for i, j in hl.tile(x.shape):
        out[rows[i], j] = x[i, j]
    return out


def scatter_add(x, rows, old):
    out = old.clone()
    for i, j in hl.tile(x.shape):
        hl.atomic_add(out, [rows[i], j], x[i, j])
    return out


def scatter_inside(x, rows, old):
    out = old.clone()
    for i, j in hl.tile(x.shape):
        inside = (rows[i] < out.size(0))[:, None]
        hl.atomic_add(out, [rows[i], j], x[i, j], extra_mask=inside) if False else hl.atomic_add(
            out, [torch.where(rows[i] < out.size(0), rows[i], 0), j], torch.where(inside, x[i, j], 0)
        )
    return out


def histogram(classes, old):
    out = old.clone()
    for i in hl.tile(classes.size(0)):
        hl.atomic_add(out, [classes[i]], 1)
    return out


def next_column(x):
    out = x.new_empty(x.size(0), x.size(1) - 1)
    for i, j in hl.tile(out.shape):
        out[i, j] = x[i, j] + x[i, j + 1]
    return out


def next_row(x):
    out = x.new_empty(x.size(0) - 1, x.size(1))
    for i, j in hl.tile(out.shape):
        out[i, j] = x[i, j] - x[i.index + 1, j]
    return out


def next_columns(x):
    out = x.new_empty(x.size(0), x.size(1) - 1)
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, 1:] * 2 - x[i, : x.size(1) - 1]
    return out


def next_element(x):
    out = x.new_empty(x.size(0) - 1)
    for i in hl.tile(out.size(0)):
        out[i] = x[i + 1] - x[i]
    return out


def when_positive(x, flag):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])
        if flag[0] > 0:
            for k in hl.tile(x.size(1)):
                total = total + x[i, k].sum(1)
        out[i] = total
    return out


def rows_when_positive(x, flags):
    out = x.new_zeros(x.size(0))
    for i in hl.grid(x.size(0)):
        if flags[i] > 0:
            total = hl.zeros([])
            for k in hl.tile(x.size(1)):
                total = total + x[i, k].sum()
            out[i] = total
    return out


def stored_when_positive(x, flag):
    out = torch.zeros_like(x)
    for i in hl.tile(x.size(0)):
        if flag[0] > 0:
            for k in hl.tile(x.size(1)):
                out[i, k] = x[i, k] + 1
        else:
            out[i, :] = x[i, :] - 1
    return out


def nested_conditions(x, flags):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])
        if flags[0] > 0:
            if flags[1] > 0:
                for k in hl.tile(x.size(1)):
                    total = total + x[i, k].sum(1)
            else:
                total = total - 1
        elif flags[1] > 0:
            for k in hl.tile(x.size(1)):
                if flags[2] > 0:
                    total = total + x[i, k].amax(1) * 0 + 1
        out[i] = total
    return out


def conditions_in_loops(x, flags):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])
        for k in hl.grid(x.size(1)):
            if flags[k] > 0:
                total = total + x[i, k]
        out[i] = total
    return out


def jagged_sum(x, offsets):
    items = offsets.size(0) - 1
    out = x.new_empty(items, x.size(1))
    for i in hl.grid(items):
        for j in hl.tile(x.size(1)):
            total = hl.zeros([j])
            for k in hl.tile(offsets[i], offsets[i + 1]):
                total = total + x[k, j].sum(0)
            out[i, j] = total
    return out


def jagged_tiles(x, offsets):
    items = offsets.size(0) - 1
    out = x.new_empty(items, x.size(1))
    for i, j in hl.tile([items, x.size(1)]):
        starts = offsets[i]
        lengths = offsets[i.index + 1] - starts
        total = hl.zeros([i, j])
        for k in hl.tile(0, lengths.amax()):
            inside = (k.index[None, :] < lengths[:, None])[:, :, None]
            total = total + hl.load(x, [starts[:, None] + k.index[None, :], j], extra_mask=inside).sum(1)
        out[i, j] = total
    return out


def loaded_bound(x, count):
    out = x.new_empty(x.size(0))
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])
        for k in hl.tile(0, count[0]):
            total = total + x[i, k].sum(1)
        out[i] = total
    return out


def loaded_bounds(x, counts):
    out = x.new_empty(x.size(0))
    for i in hl.grid(x.size(0)):
        total = hl.zeros([])
        for k in hl.tile(0, counts[i]):
            total = total + x[i, k].sum()
        out[i] = total
    return out


def halvings(counts):
    out = torch.empty_like(counts)
    for i in hl.grid(counts.size(0)):
        left, steps = counts[i], 0
        while left > 0:
            left = left // 2
            steps = steps + 1
        out[i] = steps
    return out


def masked_stores(x, old):
    out = old.clone()
    for i, j in hl.tile(x.shape):
        hl.store(out, [i, j], x[i, j] * 2, extra_mask=x[i, j] > 0)
    return out


def masked_loads(x, limits):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.shape):
        out[i, j] = hl.load(x, [i, j], extra_mask=j.index[None, :] < limits[i][:, None])
    return out


def _indices(count: int, below: int) -> torch.Tensor:
    return torch.randint(max(1, below), (count,), dtype=torch.int32)


def _flags(count: int) -> torch.Tensor:
    return torch.randint(-1, 2, (count,), dtype=torch.int32)


def _scattered(rows: str, into: str, unique: bool):
    def make(s: Sizes) -> tuple[torch.Tensor, ...]:
        count, size = s[rows], s[into]
        picked = torch.randperm(size)[:count].int() if unique else _indices(count, size)
        return numbers(len(picked) if size else 0, s["n"]), picked[: len(picked) if size else 0], numbers(size, s["n"])

    return make


def _offsets(items: int, rows: int) -> torch.Tensor:
    inner = torch.randint(rows + 1, (max(0, items - 1),)).sort()[0]
    return torch.cat([torch.zeros(1, dtype=torch.int64), inner, torch.full((min(items, 1),), rows)]).int()


def _put(x, rows, old):
    new = old.clone()
    new[rows.long()] = x
    return new


def _item_sums(x, offsets):
    bounds = offsets.tolist()
    parts = [x[a:b].sum(0) for a, b in zip(bounds, bounds[1:], strict=False)]
    return torch.stack(parts) if parts else x.new_empty(0, x.size(1))


def _nested(x, flags):
    a, b, c = (flags > 0).tolist()
    if a:
        return x.sum(1) if b else x.new_full((x.size(0),), -1.0)
    return None if b and c else x.new_zeros(x.size(0))


def _first(x, counts):
    lanes = torch.arange(x.size(1))
    return torch.where(lanes < counts[:, None], x, 0)


def _counts(count: int, largest: int) -> torch.Tensor:
    return torch.randint(largest + 1, (count,), dtype=torch.int32)


def _rows_of(into: str):
    return lambda s: (numbers(s[into], s["n"]), _indices(s["m"] if s[into] else 0, s[into]))


FAMILIES = [
    Family(gather_rows, "m n k", "m n", _rows_of("k"), lambda x, rows: x[rows.long()]),
    Family(gather_whole_rows, "m n k", "m", _rows_of("k"), lambda x, rows: x[rows.long()]),
    Family(
        gather_elements,
        "m n",
        "m",
        lambda s: (numbers(s["m"] if s["n"] else 0, s["n"]), _indices(s["m"] if s["n"] else 0, s["n"])),
        lambda x, columns: x[torch.arange(x.size(0)), columns.long()],
    ),
    Family(
        embedding,
        "m n k v",
        "m n k",
        lambda s: (numbers(s["v"], s["k"]), _indices(s["m"] * s["n"], s["v"]).reshape(s["m"], s["n"])),
        lambda w, words: w[words.long()],
    ),
    Family(scatter_rows, "m n k", "m", _scattered("m", "k", True), _put),
    Family(scatter_blocks, "m n k", "m n", _scattered("m", "k", True), _put),
    Family(scatter_add, "m n k", "m n", _scattered("m", "k", False), lambda x, rows, old: old.index_add(0, rows, x)),
    Family(
        histogram,
        "m n",
        "m",
        lambda s: (_indices(s["m"] if s["n"] else 0, s["n"]), torch.zeros(s["n"], dtype=torch.int32)),
        lambda c, old: torch.bincount(c, minlength=old.size(0)).int(),
    ),
    Family(next_column, "m n", "m n", lambda s: (numbers(s["m"], s["n"] + 1),), lambda x: x[:, :-1] + x[:, 1:]),
    Family(next_row, "m n", "m n", lambda s: (numbers(s["m"] + 1, s["n"]),), lambda x: x[:-1] - x[1:]),
    Family(next_columns, "m n", "m", lambda s: (numbers(s["m"], s["n"] + 1),), lambda x: x[:, 1:] * 2 - x[:, :-1]),
    Family(next_element, "m", "m", lambda s: (numbers(s["m"] + 1),), lambda x: x[1:] - x[:-1]),
    Family(
        when_positive, "m k", "m k", lambda s: (numbers(s["m"], s["k"]), _flags(1)), lambda x, f: x.sum(1) * (f > 0)
    ),
    Family(
        rows_when_positive,
        "m k",
        "k",
        lambda s: (numbers(s["m"], s["k"]), _flags(s["m"])),
        lambda x, f: x.sum(1) * (f > 0),
        steps="m",
    ),
    Family(
        stored_when_positive,
        "m k",
        "m k",
        lambda s: (numbers(s["m"], s["k"]), _flags(1)),
        lambda x, f: x + 1 if f > 0 else x - 1,
    ),
    Family(nested_conditions, "m k", "m k k", lambda s: (numbers(s["m"], s["k"]), _flags(3)), _nested),
    Family(
        conditions_in_loops,
        "m k",
        "m",
        lambda s: (numbers(s["m"], s["k"]), _flags(s["k"])),
        lambda x, f: (x * (f > 0)).sum(1),
        steps="k",
    ),
    Family(
        jagged_sum, "m n k", "n k", lambda s: (numbers(s["k"], s["n"]), _offsets(s["m"], s["k"])), _item_sums, steps="m"
    ),
    Family(jagged_tiles, "m n k", "m n k", lambda s: (numbers(s["k"], s["n"]), _offsets(s["m"], s["k"])), _item_sums),
    Family(
        loaded_bound,
        "m k",
        "m k",
        lambda s: (numbers(s["m"], s["k"]), _counts(1, s["k"])),
        lambda x, c: x[:, : int(c)].sum(1),
    ),
    Family(
        loaded_bounds,
        "m k",
        "k",
        lambda s: (numbers(s["m"], s["k"]), _counts(s["m"], s["k"])),
        lambda x, c: _first(x, c).sum(1),
        steps="m",
    ),
    Family(
        halvings,
        "m",
        "",
        lambda s: (_counts(s["m"], 40),),
        lambda c: torch.tensor([n.bit_length() for n in c.tolist()], dtype=torch.int32),
        steps="m",
    ),
    Family(
        masked_stores,
        "m n",
        "m n",
        lambda s: (numbers(s["m"], s["n"]), numbers(s["m"], s["n"])),
        lambda x, old: torch.where(x > 0, x * 2, old),
    ),
    Family(masked_loads, "m n", "m n", lambda s: (numbers(s["m"], s["n"]), _counts(s["m"], s["n"])), _first),
]
