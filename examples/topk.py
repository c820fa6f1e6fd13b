"""The largest elements of each row, in order, and where they are."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def topk(x, k):
    m, _ = x.size()
    k = hl.specialize(k)
    values = torch.empty([m, k], dtype=x.dtype, device=x.device)
    places = torch.empty([m, k], dtype=torch.int64, device=x.device)
    for rows in hl.tile(m):
        values[rows, :], places[rows, :] = torch.topk(x[rows, :], k, dim=-1)
    return values, places


def reference(x, k):
    places = torch.argsort(x, dim=-1, descending=True, stable=True)[:, :k]
    return x.gather(1, places), places


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
