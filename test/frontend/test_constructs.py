"""More of the language: small kernels in a table, each run by the reference interpreter and compared with torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import kopt.language as hl
from kopt.frontend import import_kernel

from .support import check

torch.manual_seed(0)
CASES: dict[str, tuple[Any, list[Any], Callable[..., Any], dict[str, Any]]] = {}
X = torch.randn(37, 70)


def case(args, expected, tolerance=1e-4, **options):
    """Adds a kernel to the table: its arguments, the same in torch, options of the import."""

    def add(kernel):
        CASES[kernel.__name__] = (kernel, args, expected, {"tolerance": tolerance, **options})
        return kernel

    return add


class Sums:
    """What a kernel keeps in an object."""

    def __init__(self, total, rows=0):
        self.total, self.blocks, self.rows = total, 0, rows

    def add(self, block):
        self.total = self.total + block.sum(1)
        self.blocks += 1


GLOBAL_SUMS = Sums(None)


@case([X], lambda x: x.sum(1) * 10 + 1)
def sums_in_objects(x):
    out = torch.empty(x.size(0))
    for i in hl.tile(x.size(0)):
        sums = Sums(hl.zeros([i]))
        GLOBAL_SUMS.total = hl.zeros([i])
        for j in hl.tile(x.size(1), block_size=16):
            sums.add(x[i, j])
            GLOBAL_SUMS.add(x[i, j])
            sums.seen = 1
        while sums.rows < i.begin - i.begin + 3:
            sums.rows += 1
        out[i] = sums.total * sums.blocks + GLOBAL_SUMS.total * (2 + sums.rows) + sums.seen
    return out


def test_objects_of_others_do_not_keep_device_values():
    GLOBAL_SUMS.total, GLOBAL_SUMS.blocks = None, 0
    import_kernel(sums_in_objects, [X])
    assert (GLOBAL_SUMS.total, GLOBAL_SUMS.blocks) == (None, 0)


def add_blocks(sums, x, i):
    for j in hl.tile(x.size(1), block_size=16):
        sums[0] = sums[0] + x[i, j].sum(1)


@case([X], lambda x: x.sum(1) * 2)
def sums_in_the_callers_list(x):
    out = torch.empty(x.size(0))
    for i in hl.tile(x.size(0)):
        sums = [hl.zeros([i])]
        same, other = sums, sums
        add_blocks(sums, x, i)
        for j in hl.tile(x.size(1), block_size=16):
            other = [*other]
            other[0] = x[i, j].sum(1)
        out[i] = sums[0] + same[0]
    return out


@case([X], lambda x: torch.where((torch.arange(37) < 8)[:, None], x * 10 + 5, x * 2 + 1), block_sizes=[8, 16])
def objects_and_lists_under_conditions(x):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.shape):
        sums, numbers = Sums(x[i, j]), [1, 1]
        if i.begin < 8:
            sums.total = sums.total * 10
            numbers[0] = 5
        else:
            sums.total += x[i, j]
            numbers[1] = numbers[0]
        out[i, j] = sums.total + numbers[0] * numbers[1]
    return out


@case([X], lambda x: x.sum(1))
def sums_by_a_nested_function(x):
    out = torch.empty(x.size(0))
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])

        def add(block):
            nonlocal total
            total = total + block.sum(1)

        for j in hl.tile(x.size(1), block_size=16):
            add(x[i, j])
        out[i] = total
    return out


@case([X], lambda x: x * 2)
def begin_end_lists(x):
    m, n = x.shape
    out = torch.zeros_like(x)
    for a, b in hl.tile([0, 0], [m, n], block_size=[8, None]):
        out[a, b] = x[a, b] * 2
    return out


@case([X], lambda x: torch.cat([torch.zeros(5, 70), x[5:30], torch.zeros(7, 70)]))
def begin_offset(x):
    out = torch.zeros_like(x)
    for t in hl.tile(5, 30):
        out[t, :] = x[t, :]
    return out


@case([X], lambda x: torch.stack([x[i * 8 : i * 8 + 8].sum() for i in range(5)]), block_sizes=[8])
def per_block(x):
    bs = hl.register_block_size(x.size(0))
    out = torch.empty([(x.size(0) + bs - 1) // bs], dtype=x.dtype)
    for t in hl.tile(x.size(0), block_size=bs):
        out[t.id] = x[t, :].sum()
    return out


@case([X], lambda x: x * 3)
def arange_index(x):
    out = torch.empty_like(x)
    for t in hl.tile(36, block_size=4):
        idx = t.begin + hl.arange(t.block_size)
        out[idx, :] = x[idx, :] * 3
    for t in hl.tile(36, 37, block_size=1):
        i2 = t.index
        out[i2, :] = x[i2, :] * 3
    return out


@case([X], lambda x: x.mean(0))
def mean_over_tile(x):
    out = torch.empty([x.size(1)])
    for t in hl.tile(x.size(1)):
        for tm in hl.tile(x.size(0), block_size=64):
            out[t] = x[tm, t].mean(0)
    return out


@case([X], lambda x: (x.amax(), x.sum()))
def full_reduce(x):
    a = torch.empty([], dtype=x.dtype)
    b = x.new_empty([1])
    for _ in hl.grid(1):
        a[()] = torch.amax(x[:, :], dim=(0, 1))
        b[0] = x[:, :].sum()
    return a, b[0]


@case([X], lambda x: x + x.shape[0])
def helper_kwargs(x, *, scale=1.0, fn=None):
    def inner(v, k=1):
        return v * k

    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        out[t, :] = inner(x[t, :], k=1) + x.shape[0]
    return out


@case([X], lambda x: x.sum((0, 1)).expand(3))
def nd_inner_carry(x):
    out = torch.empty([3])
    for t in hl.tile(3):
        acc = hl.zeros([t])
        for a, b in hl.tile(x.shape, block_size=[16, 16]):
            acc = acc + x[a, b].sum()
        out[t] = acc
    return out


@case([X], lambda x: torch.where(x.sum(1) > 0, x.sum(1), x.sum(1) * 0 - 1))
def if_in_loop(x):
    out = torch.empty([x.size(0)])
    for i in hl.grid(x.size(0)):
        acc = hl.zeros([])
        for t in hl.tile(x.size(1), block_size=16):
            v = x[i, t].sum()
            acc = acc + v
        if acc > 0:
            out[i] = acc
        else:
            out[i] = -1
    return out


@case([X], lambda x: x[:, None, :].expand(37, 2, 70) * torch.tensor([1.0, 2.0])[None, :, None])
def none_index(x):
    out = x.new_empty([37, 2, 70])
    for t in hl.tile(x.size(0)):
        v = x[t, None, :]
        out[t, :, :] = v * (torch.arange(2) + 1)[None, :, None]
    return out


@case([X, torch.tensor(2.5)], lambda x, s: x * s)
def zero_dim_arg(x, s):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        out[t, :] = x[t, :] * s
    return out


@case([X, torch.tensor([2.5])], lambda x, s: x * 2.5)
def one_elem(x, s):
    out = torch.empty_like(x)
    k = s.item()
    for t in hl.tile(x.size(0)):
        out[t, :] = x[t, :] * k
    return out


@case([X, torch.tensor([2.5])], lambda x, s: x * 5)
def scalar_load(x, s):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        k = s[0]
        out[t, :] = x[t, :] * k + x[t, :] * hl.load(s, [0])
    return out


I = torch.randint(0, 70, (37, 5))


@case([X, I], lambda x, i: torch.gather(x, 1, i))
def gather_rank2(x, idx):
    out = torch.empty(idx.shape, dtype=x.dtype)
    for t in hl.tile(x.size(0)):
        cols = idx[t, :]
        out[t, :] = x[t.index[:, None], cols]
    return out


@case([X], lambda x: x[torch.arange(37) // 2])
def div_index(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        out[t, :] = x[t.index // 2, :]
    return out


@case([X], lambda x: x[:, torch.arange(70) % 7])
def mod_index(x):
    out = torch.empty_like(x)
    for a, b in hl.tile(x.shape):
        out[a, b] = x[a, b.index % 7]
    return out


@case([torch.randn(6, 4, 8)], lambda x: x[torch.arange(6)[:, None], torch.arange(4)[None], None, :] * x[:, :, None])
def new_dimension_behind_two_indices(x):
    out = x.new_empty(6, 4, 1, 8)
    for t in hl.tile(x.size(0)):
        v = x[t.index[:, None], hl.arange(4)[None, :], None, :]
        out[t, :, :, :] = v * x[t, :, None, :]
    return out


def of_each_block(x):
    return torch.stack([torch.stack([v.sum(), v[1:].sum(), v[::2].sum(), v[:, :4].sum()]) for v in x.split(4)])


@case([torch.randn(8, 6)], of_each_block)
def slices_to_the_end_of_a_block(x):
    out = x.new_empty(2, 4)
    for t in hl.tile(x.size(0), block_size=4):
        v, end = x[t, :], t.block_size
        out[t.id, 0] = v[:end].sum()
        out[t.id, 1] = v[1:end].sum()
        out[t.id, 2] = v[:end:2].sum()
        out[t.id, 3] = v[:, :end].sum()
    return out


@case([torch.randn(6, 9, 16), torch.randn(16, 12)], lambda a, b: a @ b)
def mm3d(a, b):
    B, M, K = hl.specialize(a.shape)
    out = torch.empty([B, M, b.size(1)])
    for tb, tm in hl.tile([B, M]):
        out[tb, tm, :] = torch.matmul(a[tb, tm, :], b[:, :])
    return out


@case([[X, X * 2, X * 3]], lambda xs: sum(xs))
def list_arg(xs):
    out = torch.zeros_like(xs[0])
    for t in hl.tile(out.size(0)):
        acc = xs[0][t, :]
        for x in xs[1:]:
            acc = acc + x[t, :]
        out[t, :] = acc
    return out


@case([X], lambda x: torch.where(x > 0, x, 0))
def extra_store(x):
    out = torch.zeros_like(x)
    for t in hl.tile(x.shape):
        v = x[t]
        hl.store(out, [*t], v, extra_mask=v > 0)
    return out


@case([X], lambda x: x + 5)
def host_while(x):
    n = 0
    while n < 5:
        n += 1
    out = torch.empty_like(x)
    out.fill_(1.0)
    for t in hl.tile(x.size(0)):
        out[t, :] = x[t, :] + n
    return out


@case([X], lambda x: (x * x.shape[0]).half())
def finfo(x):
    big = torch.finfo(x.dtype).max
    out = torch.empty(x.shape, dtype=torch.float16, device=x.device)
    for t in hl.tile(x.size(0)):
        out[t, :] = torch.clamp(x[t, :], -big, big) * x.size(0)
    return out


@case([X], lambda x: x.cumsum(0))
def carry_row(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(1)):
        acc = torch.zeros([t], dtype=torch.float32, device=x.device)
        for i in hl.grid(x.size(0)):
            acc = acc + x[i, t]
            out[i, t] = acc
    return out


@case([X], lambda x: x.t().contiguous())
def transpose_store(x):
    out = x.new_empty([x.size(1), x.size(0)])
    for a, b in hl.tile(x.shape):
        out[b, a] = x[a, b].t()
    return out


@case([X], lambda x: torch.stack([x.sum(0), x.amax(0)]))
def tuple_helper(x):
    out = x.new_empty([2, x.size(1)])

    def stats(v):
        return v.sum(0), v.amax(0)

    for t in hl.tile(x.size(1)):
        s, m = stats(x[:, t])
        out[0, t] = s
        out[1, t] = m
    return out


@case([X], lambda x: x.reshape(37, 7, 10).sum(-1))
def view_inside(x):
    out = x.new_empty([37, 7])
    for t in hl.tile(37):
        out[t, :] = x[t, :].view(t.block_size, 7, 10).sum(-1)
    return out


@case([X], lambda x: x.reshape(37, 7, 10).transpose(1, 2))
def view_tile(x):
    out = x.new_empty([37, 10, 7])
    for t in hl.tile(37):
        out[t, :, :] = x[t, :].reshape(t, 7, 10).permute(0, 2, 1)
    return out


@case([X], lambda x: x * 2 + 1)
def two_grids_same_names(x):
    tmp = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        v = x[t, :] * 2
        tmp[t, :] = v
    for t in hl.tile(x.size(1)):
        v = tmp[:, t]
        tmp[:, t] = v + 1
    return tmp


@case([X], lambda x: x.abs().to(torch.int32).sum(1, dtype=torch.int32))
def int_carry(x):
    out = torch.empty([x.size(0)], dtype=torch.int32)
    for t in hl.tile(x.size(0)):
        acc = hl.zeros([t], dtype=torch.int32)
        for k in hl.tile(x.size(1), block_size=16):
            acc += x[t, k].abs().to(torch.int32).sum(-1).to(torch.int32)
        out[t] = acc
    return out


@case([X], lambda x: torch.tensor([[sum(range(i)), sum(range(2, i)), sum(range(1, i, 3))] for i in range(10)]).float())
def ranges_of_the_device(x):
    out = x.new_empty(10, 3)
    for i in hl.grid(10):
        each = hl.zeros([], dtype=torch.float32)
        from_two = hl.zeros([], dtype=torch.float32)
        in_threes = hl.zeros([], dtype=torch.float32)
        for j in range(i):
            each = each + j
        for j in range(2, i):
            from_two = from_two + j
        for j in range(1, i, 3):
            in_threes = in_threes + j
        out[i, 0] = each
        out[i, 1] = from_two
        out[i, 2] = in_threes
    return out


@case([X], lambda x: torch.tensor([float(sum(range(i))) for i in range(10)]))
def range_dev(x):
    out = torch.empty([10])
    for i in hl.grid(10):
        acc = 0.0
        for j in range(i):
            acc = acc + j
        out[i] = acc
    return out


@case([torch.arange(12.0)], lambda x: torch.stack([x[::2], x[1::2]], -1).flip(-1).reshape(-1))
def split_join(x):
    out = torch.empty_like(x)
    for _ in hl.tile(6, block_size=4):
        pass
    x2 = x.view(6, 2)
    o2 = out.view(6, 2)
    for t in hl.tile(6):
        a, b = hl.split(x2[t, :])
        o2[t, :] = hl.join(b, a)
    return out


@case([X, True], lambda x, f: x + 1)
def early_none(x, flag, bias=None):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        v = x[t, :]
        if bias is not None:
            v = v + bias[:]
        v = v + 1 if flag else v - 1
        out[t, :] = v
    return out


@case([X], lambda x: F.silu(x[:, :35]) * x[:, 35:])
def swiglu(x):
    n = x.size(1) // 2
    out = x.new_empty([x.size(0), n])
    for a, b in hl.tile(out.shape):
        g = x[a, b]
        u = x[a, b.index + n]
        out[a, b] = F.silu(g) * u
    return out


@case([X], lambda x: torch.topk(x, 1, -1)[0][:, 0])
def argmax_gather(x):
    out = x.new_empty([x.size(0)])
    for t in hl.tile(x.size(0)):
        v = x[t, :]
        i = v.argmax(-1)
        out[t] = torch.gather(v, 1, i[:, None]).squeeze(1)
    return out


@case([X.double()], lambda x: x * 2, 1e-9)
def f64(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.shape):
        out[t] = x[t] * 2.0
    return out


@case([X > 0], lambda x: ~x)
def bools(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.shape):
        out[t] = ~x[t]
    return out


@case([torch.randn(4, 8, 12)], lambda x: x.sum(1))
def sum_middle(x):
    out = x.new_empty([4, 12])
    for a, b in hl.tile([4, 12]):
        acc = hl.zeros([a, b])
        for k in hl.tile(8):
            acc += x[a, k, b].sum(1)
        out[a, b] = acc
    return out


@case([X], lambda x: x[5:20, 10:40] * 2)
def shifted2(x):
    out = x.new_empty([15, 30])
    for a, b in hl.tile(out.shape):
        out[a, b] = x[a + 5, b.index + 10] * 2
    return out


@case([X], lambda x: torch.cat([x, x], 0))
def offset_store(x):
    out = x.new_empty([74, 70])
    for a in hl.tile(37):
        out[a, :] = x[a, :]
        out[a + 37, :] = x[a, :]
    return out


@case([X], lambda x: x.sum(1, keepdim=True) + torch.zeros_like(x))
def keepdim(x):
    out = torch.empty_like(x)
    for a in hl.tile(37):
        out[a, :] = x[a, :].sum(dim=-1, keepdim=True)
    return out


@case([X], lambda x: x + torch.arange(70)[None, :] + torch.arange(37)[:, None])
def index_bcast(x):
    out = torch.empty_like(x)
    for a, b in hl.tile(x.shape):
        out[a, b] = x[a, b] + a.index[:, None] + b.index
    return out


@case([X], lambda x: x.exp().sum(1).log())
def online(x):
    m, n = x.shape
    out = torch.empty([m])
    for t in hl.tile(m):
        mx = hl.full([t], -math.inf)
        s = hl.zeros([t])
        for k in hl.tile(n, block_size=16):
            v = x[t, k]
            new = torch.maximum(mx, v.amax(-1))
            s = s * torch.exp(mx - new) + torch.exp(v - new[:, None]).sum(-1)
            mx = new
        out[t] = mx + s.log()
    return out


@case([X], lambda x: x.sum(1))
def while_unused_stale(x):
    out = torch.empty([x.size(0)])
    for t in hl.tile(x.size(0)):
        for k in hl.tile(x.size(1), block_size=16):
            v = x[t, k]
        acc = hl.zeros([t])
        flag = True
        for k in hl.tile(x.size(1), block_size=32):
            if flag:
                v = x[t, k]
            acc += v.sum(-1)
        out[t] = acc
    return out


@case([X], lambda x: F.layer_norm(x, [70]), block_sizes=[16, 32, 128])
def welford(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        count = torch.zeros_like(x[rows, 0])
        mean = torch.zeros_like(count)
        m2 = torch.zeros_like(count)
        for columns in hl.tile(x.size(1)):
            chunk = x[rows, columns]
            size = chunk.size(-1)
            total = chunk.sum(-1)
            inner = (chunk * chunk).sum(-1) - total * total / size
            delta = total / size - mean
            grown = count + size
            mean = mean + delta * (size / grown)
            m2 = m2 + inner + delta * delta * (count * size / grown)
            count = grown
        rstd = torch.rsqrt(m2 / count + 1e-5)
        for columns in hl.tile(x.size(1)):
            out[rows, columns] = (x[rows, columns] - mean[:, None]) * rstd[:, None]
    return out


@pytest.mark.parametrize("name", CASES)
def test_kernel(name):
    kernel, args, expected, options = CASES[name]
    check(kernel, args, expected(*args), **options)
