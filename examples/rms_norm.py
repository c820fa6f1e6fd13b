"""RMS normalisation over the last dimension, and its gradients, which use the reciprocal roots that it returns."""

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


@kopt.kernel
def rms_norm_backward(grad, x, weight, inverse):
    m, n = x.size()
    block = hl.register_block_size(m)
    out = torch.empty_like(x)
    parts = torch.empty([-(-m // block), n], dtype=torch.float32, device=x.device)
    for batch in hl.tile(m, block_size=block):
        part = hl.zeros([n], dtype=torch.float32)
        for rows in hl.tile(batch.begin, batch.end):
            rstd = inverse[rows][:, None]
            normal = x[rows, :].to(torch.float32) * rstd
            arriving = grad[rows, :].to(torch.float32)
            scaled = arriving * weight[:].to(torch.float32)
            out[rows, :] = ((scaled - normal * (scaled * normal).mean(-1, keepdim=True)) * rstd).to(x.dtype)
            part += (arriving * normal).sum(0)
        parts[batch.id, :] = part
    return out, parts.sum(0).to(weight.dtype)


rms_norm.backward(rms_norm_backward, saved=("grad_0", "x", "weight", "result_1"))


def reference(x, weight, eps=1e-5):
    values = x.float()
    inverse = torch.rsqrt(values.square().mean(-1) + eps)
    return (values * inverse[:, None] * weight.float()).to(x.dtype), inverse


def reference_backward(grad, x, weight, inverse, eps=1e-5):
    values, scale = x.double().requires_grad_(), weight.double().requires_grad_()
    result = values * torch.rsqrt(values.square().mean(-1, keepdim=True) + eps) * scale
    return tuple(t.to(x.dtype) for t in torch.autograd.grad(result, [values, scale], grad.double()))


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
