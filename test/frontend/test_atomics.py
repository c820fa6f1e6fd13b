"""``hl.atomic_*``: every function, dtype and kind of index, imported and run by the reference beside torch."""

import pytest
import torch

import kopt.language as hl
from test.frontend.support import imported, reference
from test.frontend.test_errors import refused


def _random(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0 if dtype == torch.bool else -50, 2 if dtype == torch.bool else 50, shape).to(dtype)


NUMBERS = [torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int8, torch.int32, torch.int64]
BITS = [torch.int8, torch.int32, torch.int64, torch.uint8, torch.bool]
FOLDS = {
    "add": (hl.atomic_add, lambda out, x: (out.double() + x.double().sum(0)).to(out.dtype), NUMBERS),
    "max": (hl.atomic_max, lambda out, x: torch.maximum(out, x.amax(0)), NUMBERS),
    "min": (hl.atomic_min, lambda out, x: torch.minimum(out, x.amin(0)), NUMBERS),
    "and": (hl.atomic_and, lambda out, x: _fold(torch.bitwise_and, out, x), BITS),
    "or": (hl.atomic_or, lambda out, x: _fold(torch.bitwise_or, out, x), BITS),
    "xor": (hl.atomic_xor, lambda out, x: _fold(torch.bitwise_xor, out, x), BITS),
}


def _fold(function, out, x):
    for row in x:
        out = function(out, row)
    return out


@pytest.mark.parametrize("kind, dtype", [(kind, dtype) for kind, row in FOLDS.items() for dtype in row[2]], ids=str)
def test_lanes_of_all_rows_meet_in_one(kind, dtype):
    function, expected, _ = FOLDS[kind]

    def kernel(out, x):
        for i, j in hl.tile(x.size(), block_size=[8, 16]):
            zero = i.index * 0
            function(out, [zero, j], x[i, j])

    out, x = _random(1, 21, dtype=dtype), _random(13, 21, dtype=dtype)
    wanted = expected(out[0], x)
    reference(kernel, out, x)
    rtol, atol = (2**-6, 2**-5) if dtype.itemsize == 2 else (1e-5, 1e-5)
    torch.testing.assert_close(out[0], wanted, rtol=rtol, atol=atol)


def test_exchange_gives_what_was_there():
    def swap(x, y):
        old = torch.empty_like(x)
        for i, j in hl.tile(x.size(), block_size=[4, 8]):
            old[i, j] = hl.atomic_xchg(x, [i, j], y[i, j], sem="acq_rel")
        return old

    x, y = _random(5, 13), _random(5, 13, dtype=torch.int32)
    before = x.clone()
    torch.testing.assert_close(reference(swap, x, y), before)
    torch.testing.assert_close(x, y.float())


def test_compare_and_swap():
    def claim(x, owner):
        old = torch.empty_like(x)
        for i in hl.tile(x.size(0), block_size=8):
            old[i] = hl.atomic_cas(x, [i], 0, owner[i])
        return old

    x = torch.tensor([0, 3, 0, 0, 7, 0, 1, 0, 0, 2, 0], dtype=torch.int64)
    owner = torch.arange(11, dtype=torch.int32) + 100
    wanted = torch.where(x == 0, owner.long(), x)
    before = x.clone()
    torch.testing.assert_close(reference(claim, x, owner), before)
    torch.testing.assert_close(x, wanted)


def test_tickets_are_a_permutation():
    def tickets(bins, n):
        count = torch.zeros([n], dtype=torch.int32)
        ticket = torch.empty_like(bins)
        for i in hl.tile(bins.size(0), block_size=16):
            ticket[i] = hl.atomic_add(count, [bins[i]], 1)
        return count, ticket

    bins = torch.randint(5, (77,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    count, ticket = reference(tickets, bins, 5)
    assert count.tolist() == bins.bincount(minlength=5).tolist()
    for number, total in enumerate(count.tolist()):
        assert sorted(ticket[bins == number].tolist()) == list(range(total))


def _scatter(out, rows, x):
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        hl.atomic_add(out, [rows[i], j], x[i, j])


def _product(out, rows, x):
    for i in hl.tile(x.size(0), block_size=8):
        hl.atomic_add(out, [rows[i], hl.arange(32)], x[i, 0:32])


def _pointwise(out, rows, x):
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        row = rows[i][:, None] + torch.zeros_like(x[i, j], dtype=torch.int32)
        hl.atomic_add(out, [row, (j.index * 2 % 5)[None, :]], x[i, j])


def _pointwise_wanted(out, rows, x):
    columns = torch.arange(x.size(1)) * 2 % 5
    return out.index_put((rows.long()[:, None], columns[None, :].expand(x.shape)), x, accumulate=True)


def _strided(out, rows, x):
    for i in hl.tile(x.size(0), block_size=8):
        hl.atomic_add(out, [3, slice(0, 40, 2)], x[i, 0:20].sum(0))


def _strided_wanted(out, rows, x):
    out[3, 0:40:2] += x[:, 0:20].sum(0)
    return out


def _offset(out, rows, x):
    for i, j in hl.tile([7, 30], block_size=[4, 16]):
        hl.atomic_add(out, [i.index + 1, j + 2], x[i, j])


def _offset_wanted(out, rows, x):
    out[1:8, 2:32] += x[:7, :30]
    return out


def _new_dimension(out, rows, x):
    for i, j in hl.tile([9, 32], block_size=[8, 16]):
        hl.atomic_add(out, [i, None, j], x[i, None, j] * 2)


def _new_dimension_wanted(out, rows, x):
    out[:, :32] += 2 * x[:9, :32]
    return out


def _moving(out, rows, x):
    for i in hl.tile(out.size(0), block_size=4):
        for j in hl.tile(out.size(1), block_size=16):
            hl.atomic_add(out, [i, slice(j.begin, j.begin + 16)], 1.5)


def _of_one(out, rows, x):
    total = out[0:1, 0:1]
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        hl.atomic_add(total, [i, j], x[i, j])


def _of_one_wanted(out, rows, x):
    out[0, 0] += x.sum()
    return out


def _views(out, rows, x):
    flat, turned = out.view(-1), out.t()
    for i in hl.tile(flat.size(0), block_size=64):
        hl.atomic_add(flat, [i], 1)
    for i, j in hl.tile(turned.size(), block_size=[16, 4]):
        hl.atomic_add(turned, [i, j], x[j, i].t())


def _scalar(out, rows, x):
    for i in hl.tile(x.size(0), block_size=8):
        hl.atomic_add(out, [2, 3], x[i, :].sum())


def _scalar_wanted(out, rows, x):
    out[2, 3] += x.sum()
    return out


INDICES = {
    "rows": (_scatter, lambda out, rows, x: out.index_add(0, rows, x)),
    "product": (_product, lambda out, rows, x: out[:, :32].index_add(0, rows, x[:, :32])),
    "pointwise": (_pointwise, _pointwise_wanted),
    "strided": (_strided, _strided_wanted),
    "offset": (_offset, _offset_wanted),
    "None": (_new_dimension, _new_dimension_wanted),
    "moving": (_moving, lambda out, rows, x: out + 1.5),
    "of one": (_of_one, _of_one_wanted),
    "views": (_views, lambda out, rows, x: out + 1 + x[:9]),
    "scalar": (_scalar, _scalar_wanted),
}


@pytest.mark.parametrize("name", INDICES)
def test_index_lists(name):
    kernel, expected = INDICES[name]
    out, x = _random(9, 40), _random(37, 40) + 1
    rows = torch.randint(9, (37,), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
    wanted = expected(out.clone(), rows, x)
    reference(kernel, out, rows, x)
    torch.testing.assert_close(out[:, : wanted.size(1)], wanted, rtol=1e-4, atol=1e-4)


def test_numbers_are_converted_to_the_target():
    def numbers(x, flag):
        for i in hl.tile(x.size(0), block_size=4):
            hl.atomic_add(x, [i], 2.75)
            hl.atomic_or(flag, [i], i.index > 2)

    x, flag = torch.arange(6, dtype=torch.int32), torch.zeros(6, dtype=torch.bool)
    reference(numbers, x, flag)
    assert x.tolist() == [2, 3, 4, 5, 6, 7]
    assert flag.tolist() == [False, False, False, True, True, True]


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
def test_orderings(sem):
    def ordered(x):
        for i in hl.tile(x.size(0)):
            hl.atomic_max(x, [i], 1.0, sem)

    (op,) = [op for op in imported(ordered, torch.zeros(9)).module.walk() if op.name == "atomic.rmw"]
    assert op.properties["ordering"].data == sem


def _ordering(x, n):
    for i in hl.tile(n.size(0)):
        hl.atomic_add(n, [i], 1, sem="seq_cst")


def _float_bits(x, n):
    for i in hl.tile(x.size(0)):
        hl.atomic_xor(x, [i], 1)


def _bool_sum(x, n):
    flag = torch.zeros([9], dtype=torch.bool)
    for i in hl.tile(x.size(0)):
        hl.atomic_add(flag, [i], 1)


def _of_a_value(x, n):
    for i in hl.tile(x.size(0)):
        hl.atomic_add(x[i], [0], 1)


def _on_the_host(x, n):
    hl.atomic_add(x, [0], 1)


def _wrong_shape(x, n):
    for i in hl.tile(x.size(0), block_size=4):
        hl.atomic_add(x, [i], hl.zeros([3]))


def _too_many(x, n):
    for i in hl.tile(x.size(0)):
        hl.atomic_cas(x, [i, 0], 0, 1)


@pytest.mark.parametrize(
    "kernel, text",
    [
        (_ordering, "hl.atomic_add knows the orderings relaxed, acquire, release, acq_rel, found 'seq_cst'"),
        (_float_bits, "hl.atomic_xor needs a target of integers or booleans, found torch.float32"),
        (_bool_sum, "hl.atomic_add needs a target of numbers, found torch.bool"),
        (_of_a_value, "hl.atomic_add needs a host tensor, found a device tensor"),
        (_on_the_host, "hl.atomic_add works inside device loops"),
        (_wrong_shape, "does not broadcast"),
        (_too_many, "2 indices for an array of 1 dimensions"),
    ],
)
def test_refusals_name_the_place(kernel, text):
    found = refused(kernel, torch.zeros(9), torch.zeros(9, dtype=torch.int32))
    assert text in found
    assert "hl.atomic_" in found.split("error:")[1]
