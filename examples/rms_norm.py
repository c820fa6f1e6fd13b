"""RMS normalisation over the last dimension, which also returns the reciprocal root for a backward pass."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def rms_norm(x, weight, eps=1e-5):
    m, _ = x.size()
    out = torch.empty_like(x)
    inverse = torch.empty([m], dtype=torch.float32, device=x.device)
    for rows in hl.tile(m):
        values = x[rows, :].to(torch.float32)
        rstd = torch.rsqrt(torch.mean(values * values, dim=-1) + eps)
        out[rows, :] = (values * rstd[:, None] * weight[:].to(torch.float32)[None, :]).to(x.dtype)
        inverse[rows] = rstd
    return out, inverse


def reference(x, weight, eps=1e-5):
    values = x.float()
    inverse = torch.rsqrt(values.square().mean(-1) + eps)
    return (values * inverse[:, None] * weight.float()).to(x.dtype), inverse


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
