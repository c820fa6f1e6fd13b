"""Reads by numbers that are data: rows of a matrix, and whole matrices to multiply with."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def gather_rows(x, numbers, scales):
    """The rows of ``x`` that ``numbers`` name, each by its own scale; numbers from -1 down count from the end."""
    rows, n = x.size()
    numbers = torch.where(numbers < 0, numbers + rows, numbers)
    out = torch.empty([numbers.size(0), n], dtype=x.dtype)
    for tile_i, tile_n in hl.tile([numbers.size(0), n]):
        out[tile_i, tile_n] = x[numbers[tile_i], tile_n] * scales[tile_i][:, None]
    return out


@kopt.kernel
def gather_gemv(matrices, numbers, vector):
    """Each named matrix, of 8-bit integers, times one vector."""
    m, k = matrices.size(1), matrices.size(2)
    out = torch.empty([numbers.size(0), m], dtype=vector.dtype)
    for tile_i, tile_m in hl.tile([numbers.size(0), m]):
        acc = hl.zeros([tile_i, tile_m], dtype=torch.float32)
        for tile_k in hl.tile(k):
            block = matrices[numbers[tile_i], tile_m, tile_k].to(torch.float32)
            acc = acc + (block * vector[tile_k].to(torch.float32)).sum(-1)
        out[tile_i, tile_m] = acc.to(out.dtype)
    return out


def reference_rows(x, numbers, scales):
    return x[numbers.long()] * scales[:, None]


def reference_gemv(matrices, numbers, vector):
    return (matrices[numbers.long()].float() @ vector.float()).to(vector.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
