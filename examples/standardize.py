"""Two launches in one kernel: statistics of each column, then every element by them."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def standardize(x, eps=1e-5):
    m, n = x.size()
    mean = torch.empty([n], dtype=torch.float32, device=x.device)
    rstd = torch.empty([n], dtype=torch.float32, device=x.device)
    out = torch.empty_like(x)
    for cols in hl.tile(n):
        values = x[:, cols].to(torch.float32)
        average = torch.mean(values, dim=0)
        centred = values - average[None, :]
        mean[cols] = average
        rstd[cols] = torch.rsqrt(torch.mean(centred * centred, dim=0) + eps)
    hl.barrier()  # what the first loop wrote, the second reads
    for rows, cols in hl.tile([m, n]):
        values = x[rows, cols].to(torch.float32)
        out[rows, cols] = ((values - mean[cols][None, :]) * rstd[cols][None, :]).to(x.dtype)
    return out


def reference(x, eps=1e-5):
    values = x.float()
    centred = values - values.mean(0)
    return (centred * torch.rsqrt(centred.square().mean(0) + eps)).to(x.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
