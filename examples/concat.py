"""Concatenation of two matrices: side by side, by whole rows or masked loads, and on top of each other in two loops."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def concat_columns(x, y):
    m, n = x.size()
    out = torch.empty([m, n + y.size(1)], dtype=x.dtype, device=x.device)
    for rows in hl.tile(m):
        out[rows, :] = torch.cat([x[rows, :], y[rows, :]], dim=1)
    return out


@kopt.kernel
def concat_masked(x, y):
    m, n = x.size()
    out = torch.empty([m, n + y.size(1)], dtype=x.dtype, device=x.device)
    for rows, cols in hl.tile(out.size()):
        left = (cols.index < n)[None, :]
        from_x = hl.load(x, [rows, cols], extra_mask=left)
        from_y = hl.load(y, [rows, cols.index - n], extra_mask=~left)
        out[rows, cols] = torch.where(left, from_x, from_y)
    return out


@kopt.kernel
def concat_rows(x, y):
    m, n = x.size()
    out = torch.empty([m + y.size(0), n], dtype=x.dtype, device=x.device)
    for rows, cols in hl.tile([m, n]):
        out[rows, cols] = x[rows, cols]
    for rows, cols in hl.tile([y.size(0), n]):
        out[rows.index + m, cols] = y[rows, cols]
    return out


def reference_columns(x, y):
    return torch.cat([x, y], dim=1)


def reference_rows(x, y):
    return torch.cat([x, y], dim=0)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
