"""Small kernels on every CPU target beside torch: constructs that took all parts of kopt to get right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
CASES: dict[str, tuple[Callable[..., Any], list[Any], Callable[..., Any], list[int]]] = {}


def case(expected, blocks, *args):
    """Adds a kernel to the table: the same in torch, its block sizes, its arguments."""

    def add(kernel):
        CASES[kernel.__name__] = (kernel, list(args), expected, blocks)
        return kernel

    return add


def _random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def _below(high: int, *shape: int) -> torch.Tensor:
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(0))


BATCHES = (_random(3, 11, 16, dtype=torch.bfloat16), _random(3, 16, 21, dtype=torch.bfloat16))


@case(lambda x, y: torch.exp2(x.float() @ y.float()), [1, 8], *BATCHES)
def product_in_f32(x, y):
    out = torch.empty([3, 11, 21], dtype=torch.float32)
    for b, m in hl.tile([x.size(0), x.size(1)]):
        out[b, m, :] = torch.exp2(torch.bmm(x[b, m, :], y[b, :, :], torch.float32))
    return out


@case(lambda ids, table: table[ids], [8, 16], _below(9, 13), _random(9, 21))
def rows_by_int64(ids, table):
    out = torch.empty([ids.size(0), table.size(1)], dtype=table.dtype)
    for i, e in hl.tile(out.size()):
        out[i, e] = table[ids[i], e]
    return out


@case(
    lambda x, y, n: (x * 3 - y // 2, n.sum(1), x.cumsum(1), x & 7),
    [8],
    _below(99, 13, 21),
    _below(99, 13, 21),
    _below(99, 13, 21).int(),
)
def arithmetic_of_int64(x, y, n):
    """And a sum of 32-bit numbers, which torch makes in 64."""
    out, sums = torch.empty_like(x), torch.empty([x.size(0)], dtype=torch.int64)
    running, low = torch.empty_like(x), torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :] * 3 - y[i, :] // 2
        sums[i] = n[i, :].sum(1)
        running[i, :] = torch.cumsum(x[i, :], 1)
        low[i, :] = x[i, :] & 7
    return out, sums, running, low


@case(lambda: torch.tensor([3]), [])
def number_of_blocks():
    """Every cell writes the same."""
    out = torch.zeros([1], dtype=torch.int32)
    for tile in hl.tile(10, 97, block_size=32):
        out[0] = tile.count
    return out.long()


@case(lambda locks: locks, [1], torch.zeros(5, dtype=torch.int32))
def locks_taken_and_given_back(locks):
    """A loop that carries nothing but its condition."""
    locks = locks.clone()
    for i in hl.tile(locks.size(0)):
        while hl.atomic_cas(locks, [i], 0, 1) == 1:
            pass
        hl.atomic_cas(locks, [i], 1, 0)
    return locks


@case(lambda x: torch.where(x > 0, x * 2, x), [1], _random(13))
def branches_on_one_element(x):
    """A block of one stays one where a branch looks at it."""
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        if x[i] > 0:
            out[i] = x[i] * 2
        else:
            out[i] = x[i]
    return out


@case(lambda x: x + 2, [8], _random(21, 50))
def next_power_of_two(x):
    """Lanes that stand for a power of two meet a row of any length, also round a loop."""
    width = hl.next_power_of_2(x.size(1))
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i, width])
        for _ in range(2):
            total = total + 0.5
        total += hl.full([i, width], 1 / width) @ hl.full([width, width], 1.0)
        for _ in hl.grid(2):
            total += x[i, :] / 2
        out[i, :] = total
    return out


@case(lambda x, row: (row.expand(5, 8), torch.full((3,), 5) * row.sum()), [], _random(5, 8), _random(8))
def whole_tensors_stored(x, row):
    out, total = torch.empty_like(x), torch.zeros([3])
    for i in hl.grid(x.size(0)):
        out[i] = row
        hl.atomic_add(total, [slice(None)], row.sum())
    return out, total


@case(lambda x, ids: (x[torch.arange(5), ids], x * 2), [8], _random(5, 200), _below(200, 5))
def gathered_before_it_is_written(x, ids):
    picked, x = torch.empty([x.size(0)]), x.clone()
    for i in hl.grid(x.size(0)):
        picked[i] = x[i, ids[i].unsqueeze(0)].squeeze(0)
        for j in hl.tile(x.size(1)):
            x[i, j] = x[i, j] * 2
    return picked, x


@case(lambda x: x - x[:, [15, 31, 39], :].repeat_interleave(torch.tensor([16, 16, 8]), 1), [], _random(2, 40, 3))
def blocks_and_the_last_row_of_each(x):
    out = torch.empty_like(x)
    for b, c in hl.grid([x.size(0), x.size(2)]):
        for t in hl.tile(x.size(1), block_size=16):
            out[b, t, c] = x[b, t, c] - x[b, min(t.begin + 16, x.size(1)) - 1, c]
    return out


@case(lambda x, at: x[at[:, None] + torch.arange(8), 1], [8], _random(40, 4), torch.tensor([3, 17], dtype=torch.int32))
def parts_of_one_column(x, at):
    """What lies along the lanes then begins at multiples of those."""
    out = torch.empty([at.size(0), 8], dtype=x.dtype)
    for j, r in hl.tile(out.size(), block_size=[1, None]):
        out[j.begin, r] = hl.load(x, [at[j.begin] + r.index, 1])
    return out


@case(lambda x, ids: x[torch.arange(13), ids], [8], _random(13, 21), _below(21, 13))
def elements_by_int64_addresses(x, ids):
    flat = x.view(-1)
    out = torch.empty([x.size(0)], dtype=x.dtype)
    for i in hl.tile(x.size(0)):
        out[i] = hl.load(flat, [i.index * x.size(1) + ids[i]])
    return out


@case(lambda x: x.mean(1), [8, 16], _random(13, 37))
def counted_mean(x):
    out = torch.empty([x.size(0)], dtype=x.dtype)
    for i in hl.tile(x.size(0)):
        count = hl.zeros([i])
        total = hl.zeros([i])
        for j in hl.tile(x.size(1)):
            count = count + (j.index < x.size(1)).to(torch.int32).sum()
            total = total + x[i, j].sum(-1)
        out[i] = total / count
    return out


@case(torch.exp, [1, 16], _random(5, 37))
def exp_around_extremes(x):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size()):
        rows = x[i, j]
        top = torch.amax(rows, dim=0)
        out[i, j] = torch.exp(rows - top) * torch.exp(top)
    return out


@case(lambda x, ids: x.gather(1, ids), [8], _random(13, 21), _below(21, 13, 21))
def lanes_by_int64(x, ids):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.gather(x[i, :], 1, ids[i, :])
    return out


@case(lambda x, y: x @ y.repeat_interleave(2, 0), [8, 16], _random(13, 42), _random(21, 19))
def pairs_of_columns(x, y):
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype)
    for i in hl.tile(x.size(0)):
        acc = hl.zeros([i, y.size(1)])
        for k in hl.tile(y.size(0)):
            twice = torch.stack([y[k, :], y[k, :]], dim=1).reshape(k.block_size * 2, y.size(1))
            acc = torch.addmm(acc, x[i, k.begin * 2 : k.begin * 2 + k.block_size * 2], twice)
        out[i, :] = acc
    return out


LABELS = torch.tensor([4, -1, 2, -1, 0])


@case(
    lambda x, labels: torch.where((labels < 0)[:, None], 0, x * 2 + 1), [16, 16], _random(5, 37), LABELS.to(torch.int32)
)
def rows_left_out(x, labels):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0), block_size=1):
        if labels[i] == -1:
            for j in hl.tile(x.size(1)):
                out[i, j] = 0.0
            continue
        for j in hl.tile(x.size(1)):
            twice = x[i, j] * 2
            out[i, j] = twice + 1
    return out


@case(lambda x: x[:, :32].sum(1), [8], _random(13, 37))
def blocks_left_out(x, last=32):
    out = torch.empty([x.size(0)], dtype=x.dtype)
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])
        for j in hl.tile(x.size(1), block_size=16):
            if last is None:
                continue
            elif j.begin >= last:
                continue
            total = total + x[i, j].sum(-1)
        out[i] = total
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_as_torch(name, target):
    kernel, args, expected, blocks = CASES[name]
    got = kopt.kernel(kernel, config={"block_sizes": blocks or None}).on(target)(*args)
    torch.testing.assert_close(got, expected(*args), rtol=2e-4, atol=2e-4)


def test_reference_takes_given_blocks():
    low = kopt.kernel(exp_around_extremes).lower(_random(5, 37), target="reference", config={"block_sizes": [2, 4]})
    assert "b0=2" in low.ir and "b1=4" in low.ir


def test_numbers_alone_give_torch_tensors():
    def counted(n):
        out = torch.empty([n], dtype=torch.int32)
        for i in hl.tile(n):
            out[i] = i.index
        return out

    got = kopt.kernel(counted).on("pallas:interpret")(37)
    torch.testing.assert_close(got, torch.arange(37, dtype=torch.int32))


def test_slice_of_unknown_length():
    def between(x, ends):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i] = x[i] + x[i.begin : ends[0]].sum()
        return out

    with pytest.raises(kopt.UnsupportedError, match="known while the kernel is imported"):
        kopt.kernel(between).lower(_random(37), torch.tensor([3]), target="reference")


def test_int64_beyond_32_bits_is_found_before_a_call():
    """Never a wrong sum: the largest numbers that may be are those whose results fit."""

    def double(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i] = x[i] + x[i]
        return out

    kernel = kopt.kernel(double).on("pallas:interpret")
    assert kernel(torch.tensor([2**30 - 1, -5])).tolist() == [2**31 - 2, -10]
    with pytest.raises(kopt.ArgumentError, match=r"x\[1\] = 1073741824 is not from"):
        kernel(torch.tensor([0, 2**30]))
