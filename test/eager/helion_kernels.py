"""Kernels that use ``helion.language``."""

import helion.language as hl
import torch
from helion.language import arange
from helion.language import tile as walk


def clamped(x, most: hl.constexpr):
    """The smaller of elements and a number, and the number of the row."""
    out = torch.empty_like(x)
    for rows, columns in walk(x.shape):
        limit = hl.full([rows, columns], most, dtype=x.dtype)
        value = torch.minimum(hl.load(x, [rows, columns]), limit)
        hl.store(out, [rows, columns], value + hl.tile_index(rows)[:, None])
    return out


def numbered(x):
    """Products and running sums of rows, times the numbers of columns."""
    out = torch.empty_like(x)
    for rows in walk(x.size(0)):
        product = hl.dot(x[rows, :], x[:, :].T, acc=hl.zeros([rows, x.size(0)]), out_dtype=torch.float32)
        out[rows, :] = (product.sum(1, keepdim=True) + hl.cumsum(x[rows, :], 1)) * arange(x.size(1))
    return out


def lengths(x, counts):
    """Sums of as many elements of each row as it has."""
    out = torch.empty(x.size(0))
    for rows in walk(x.size(0)):
        total = hl.zeros([rows])
        for columns in hl.jagged_tile(counts[rows]):
            total = total + x[rows, columns].sum(1)
        out[rows] = total
    return out
