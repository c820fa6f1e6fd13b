"""Sums over each axis of a tensor, by whole rows or columns, and in a loop over blocks of columns."""

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


def reference_rows(x):
    return x.sum(1)


def reference_columns(x):
    return x.sum(0)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
