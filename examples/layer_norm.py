"""Layer normalisation over the last dimension; the bias may be left out."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def layer_norm(x, weight, bias=None, eps=1e-5):
    m, _ = x.size()
    out = torch.empty_like(x)
    for rows in hl.tile(m):
        values = x[rows, :].to(torch.float32)
        centred = values - torch.mean(values, dim=-1, keepdim=True)
        variance = torch.mean(centred * centred, dim=-1, keepdim=True)
        result = centred * torch.rsqrt(variance + eps) * weight[:].to(torch.float32)
        if bias is not None:
            result = result + bias[:].to(torch.float32)
        out[rows, :] = result.to(x.dtype)
    return out


def reference(x, weight, bias=None, eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
