"""Sums over each axis of a tensor, by whole rows or columns, in a loop over blocks of columns, and in two phases."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def sum_rows(x):
    m, _ = x.size()
    out = torch.empty([m], dtype=x.dtype, device=x.device)
    for rows in hl.tile(m):
        out[rows] = x[rows, :].sum(1)
    return out


@kopt.kernel
def sum_columns(x):
    _, n = x.size()
    out = torch.empty([n], dtype=x.dtype, device=x.device)
    for cols in hl.tile(n):
        out[cols] = x[:, cols].sum(0)
    return out


@kopt.kernel
def sum_middle(x):
    m, _, n = x.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows, cols in hl.tile([m, n]):
        out[rows, cols] = x[rows, :, cols].sum(1)
    return out


@kopt.kernel
def long_sum(x):
    m, n = x.size()
    out = torch.empty([m], dtype=x.dtype, device=x.device)
    for rows in hl.tile(m):
        total = hl.zeros([rows], dtype=torch.float32)
        for cols in hl.tile(n):
            total += x[rows, cols].to(torch.float32).sum(1)
        out[rows] = total.to(x.dtype)
    return out


@kopt.kernel
def two_phase_sum(x, parts):
    m, n = x.size()
    part = -(-n // parts)
    sums = torch.zeros([parts, m], dtype=torch.float32, device=x.device)
    out = torch.empty([m], dtype=x.dtype, device=x.device)
    # Few long rows give one cell each: more cells sum parts of them, and a second launch adds those.
    for rows, outer in hl.tile([m, n], block_size=[None, part]):
        total = hl.zeros([rows], dtype=torch.float32)
        for cols in hl.tile(outer.begin, outer.end):
            total += x[rows, cols].to(torch.float32).sum(1)
        sums[outer.id, rows] = total
    hl.barrier()
    for rows in hl.tile(m):
        out[rows] = sums[:, rows].sum(0).to(x.dtype)
    return out


def reference_rows(x):
    return x.sum(1)


def reference_parts(x, parts):
    return x.sum(1)


def reference_columns(x):
    return x.sum(0)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
