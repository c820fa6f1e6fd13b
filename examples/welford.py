"""Layer normalisation whose mean and variance are found in one pass over blocks of columns, by Welford's method."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def welford(x, weight, bias, eps=1e-5):
    m, n = x.size()
    out = torch.empty_like(x)
    block_m = hl.register_block_size(m)
    block_n = hl.register_block_size(n)
    for rows in hl.tile(m, block_size=block_m):
        count = hl.zeros([rows], dtype=torch.float32)
        mean = hl.zeros([rows], dtype=torch.float32)
        squares = hl.zeros([rows], dtype=torch.float32)
        for cols in hl.tile(n, block_size=block_n):
            chunk = x[rows, cols].to(torch.float32)
            size = cols.end - cols.begin
            chunk_mean = chunk.sum(1) / size
            centred = chunk - chunk_mean[:, None]
            delta = chunk_mean - mean
            grown = count + size
            mean = mean + delta * (size / grown)
            squares = squares + (centred * centred).sum(1) + delta * delta * count * (size / grown)
            count = grown
        rstd = torch.rsqrt(squares / count + eps)
        for cols in hl.tile(n, block_size=block_n):
            chunk = x[rows, cols].to(torch.float32)
            scaled = (chunk - mean[:, None]) * rstd[:, None] * weight[cols].to(torch.float32)[None, :]
            out[rows, cols] = (scaled + bias[cols].to(torch.float32)[None, :]).to(x.dtype)
    return out


def reference(x, weight, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
