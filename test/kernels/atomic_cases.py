"""Kernels of atomic updates and what torch gives for them."""

import torch

import kopt.language as hl


def random(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0 if dtype == torch.bool else -50, 2 if dtype == torch.bool else 50, shape).to(dtype)


NUMBERS = [torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.int32, torch.int64]
BITS = [torch.uint8, torch.int32, torch.bool]
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


def _odd_blocks(out, rows, x):
    for i, j in hl.tile([x.size(0), 40], block_size=[12, 20]):
        hl.atomic_add(out, [0, j], x[i, j].sum(0))


def _odd_blocks_wanted(out, rows, x):
    out[0] += x.sum(0)
    return out


def _column(out, rows, x):
    for i in hl.tile(x.size(0), block_size=8):
        hl.atomic_add(out, [rows[i], 3], x[i, :].sum(1))


def _column_wanted(out, rows, x):
    out[:, 3].index_add_(0, rows, x.sum(1))
    return out


def _overlapping(out, rows, x):
    for i in hl.tile(x.size(0), block_size=8):
        for j in hl.tile(16, block_size=8):
            hl.atomic_add(out, [slice(1, 4), slice(j.begin, j.begin + 16)], x[i, 0:16].sum(0))


def _overlapping_wanted(out, rows, x):
    for first in (0, 8):
        out[1:4, first : first + 16] += x[:, 0:16].sum(0)
    return out


def _repeated(out, rows, x):
    wide = out[1:2].expand(37, 40)
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        hl.atomic_add(wide, [i, j], x[i, j])


def _repeated_wanted(out, rows, x):
    out[1] += x.sum(0)
    return out


INDICES = {
    "odd blocks": (_odd_blocks, _odd_blocks_wanted),
    "repeated": (_repeated, _repeated_wanted),
    "rows": (_scatter, lambda out, rows, x: out.index_add(0, rows, x)),
    "product": (_product, lambda out, rows, x: out[:, :32].index_add(0, rows, x[:, :32])),
    "pointwise": (_pointwise, _pointwise_wanted),
    "strided": (_strided, _strided_wanted),
    "offset": (_offset, _offset_wanted),
    "None": (_new_dimension, _new_dimension_wanted),
    "moving": (_moving, lambda out, rows, x: out + 1.5),
    "of one": (_of_one, _of_one_wanted),
    "views": (_views, lambda out, rows, x: out + 1 + x[:9]),
    "column": (_column, _column_wanted),
    "overlapping": (_overlapping, _overlapping_wanted),
    "scalar": (_scalar, _scalar_wanted),
}


def segment_sum(x, segments, count):
    """The sum of the rows of each segment, in whatever order rows come."""
    out = torch.zeros([count, x.size(1)], dtype=x.dtype)
    for rows, columns in hl.tile(x.size()):
        hl.atomic_add(out, [segments[rows], columns], x[rows, columns])
    return out


def split_matmul(x, y, splits):
    """A matrix product whose long dimension is dealt out to ``splits`` cells for each block of the result."""
    out = torch.zeros([x.size(0), y.size(1)], dtype=x.dtype)
    part = -(-x.size(1) // splits)
    for m, n, outer in hl.tile([x.size(0), y.size(1), x.size(1)], block_size=[None, None, part]):
        acc = hl.zeros([m, n], dtype=torch.float32)
        for k in hl.tile(outer.begin, outer.end):
            acc = torch.addmm(acc, x[m, k], y[k, n])
        hl.atomic_add(out, [m, n], acc)
    return out
