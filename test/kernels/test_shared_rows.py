"""Vectors in blocks of fewer than 128 lanes: cells share rows of them, if they are few."""

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = [
    "reference",
    *(f"pallas:{kind}@{chip}" for chip in ("v6e", "v5p") for kind in ("interpret", "strict")),
    "triton:interpret",
]
WIDE = 24


def statistics(x, scale, block):
    """Of each row a float and an integer, by a vector of factors."""
    n = x.size(0)
    largest = torch.empty([n], dtype=torch.float32)
    where = torch.empty([n], dtype=torch.int32)
    for rows in hl.tile(n, block_size=block):
        values = x[rows, :] * scale[rows][:, None]
        largest[rows] = torch.amax(values, dim=1)
        where[rows] = torch.argmax(values, dim=1).to(torch.int32)
    return largest, where


@kopt.kernel
def in_place(total, x, block: hl.constexpr):
    for rows in hl.tile(x.size(0), block_size=block):
        total[rows] = total[rows] * 2.0 + x[rows, :].sum(dim=1)
    return total


@kopt.kernel
def by_columns(x, scale, block: hl.constexpr):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size(), block_size=[8, block]):
        out[i, j] = x[i, j] * scale[j][None, :]
    return out


def operands(n):
    torch.manual_seed(n)
    return torch.randn(n, WIDE), torch.randn(n)


def expected(x, scale):
    values = x * scale[:, None]
    return values.amax(1), values.argmax(1).int()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("n", "block"), [(256, 8), (256, 32), (256, 64), (256, 1), (200, 32), (96, 32), (1280, 128)])
def test_statistics(target, n, block):
    kernel = kopt.kernel(lambda x, scale: statistics(x, scale, block), target=target)
    x, scale = operands(n)
    for found, exact in zip(kernel(x, scale), expected(x, scale), strict=True):
        torch.testing.assert_close(found, exact, rtol=0, atol=0)


@pytest.mark.parametrize("target", TARGETS)
def test_in_place(target):
    x, total = operands(256)
    exact = total * 2.0 + x.sum(1)
    found = in_place.on(target)(total, x, 16)
    torch.testing.assert_close(found, exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_by_columns(target):
    """Blocks that move with the inner dimension of a grid."""
    x, scale = torch.randn(16, 256), torch.randn(256)
    found = by_columns.on(target)(x, scale, 32)
    torch.testing.assert_close(found, x * scale, rtol=0, atol=0)


@kopt.kernel
def numbered(x, block: hl.constexpr):
    """The number of each row's block, how many there are, and what is before the next one."""
    which, all, ends = (torch.empty([x.size(0)], dtype=torch.int32) for _ in range(3))
    for rows in hl.tile(x.size(0), block_size=block):
        zero = (x[rows, :].sum(dim=1) * 0).to(torch.int32)
        which[rows] = zero + rows.id
        all[rows] = zero + rows.count
        ends[rows] = zero + rows.end
    return which, all, ends


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_of_blocks(target):
    """Numbers are those of the source, whatever cells cores have."""
    x, _ = operands(256)
    blocks = torch.arange(256, dtype=torch.int32) // 32
    for found, exact in zip(numbered.on(target)(x, 32), (blocks, blocks * 0 + 8, (blocks + 1) * 32), strict=True):
        torch.testing.assert_close(found, exact, rtol=0, atol=0)


def lowered(n, block, chip):
    x, scale = operands(n)
    return kopt.kernel(lambda x, scale: statistics(x, scale, block)).lower(x, scale, target=f"pallas:{chip}")


@pytest.mark.parametrize(("n", "block", "chip", "vectors"), [
    (1024, 32, "v6e", 0),  # all are as they are
    (1024, 32, "v5p", 0),  # each core has rows of its own
    (384, 32, "v5p", 2),  # two cores have no three rows for each: results are not shared
    (1024, 8, "v6e", 3),  # too many cells
    (1000, 40, "v6e", 3),  # rows that do not divide
])  # fmt: skip
def test_no_operations_around(n, block, chip, vectors):
    """How many of the three vectors XLA lays out anew."""
    host = lowered(n, block, chip).source.split("\ndef ")[-1]
    assert host.count(".reshape(") == vectors


@kopt.kernel
def sums_of_columns(x):
    out = torch.empty([x.size(0)], dtype=torch.float32)
    for rows in hl.tile(x.size(0), block_size=32):
        total = hl.zeros([rows], dtype=torch.float32)
        for columns in hl.tile(x.size(1), block_size=8):
            total = total + x[rows, columns].sum(dim=1)
        out[rows] = total
    return out


@kopt.kernel
def in_parts(x):
    out = torch.empty([x.size(0)], dtype=torch.float32)
    for rows in hl.tile(x.size(0), block_size=32):
        for some in hl.tile(rows.begin, rows.end, block_size=16):
            out[some] = x[some, :].sum(dim=1)
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_parts_of_blocks(target):
    x, _ = operands(256)
    torch.testing.assert_close(in_parts.on(target)(x), x.sum(1), rtol=1e-5, atol=1e-5)


def test_both_cores_have_cells():
    """On v5p, also beside a loop that is a dimension of the grid."""
    source = sums_of_columns.lower(operands(256)[0], target="pallas:v5p").source
    assert "grid=(2, 4, 3)" in source and 'dimension_semantics=("parallel", "arbitrary", "arbitrary")' in source


@pytest.mark.parametrize("target", TARGETS)
def test_sums_of_columns(target):
    x, _ = operands(256)
    torch.testing.assert_close(sums_of_columns.on(target)(x), x.sum(1), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["v6e", "v5e", "v5p"])
def test_compiles(chip):
    report = lowered(1024, 32, chip).report(estimates=False)
    assert report["legal"], report["reason"]
