"""Layer normalisation over the last dimension, with or without a bias, and its gradients."""

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


@kopt.kernel
def layer_norm_backward(grad, x, weight, mean, rstd):
    m, n = x.size()
    block = hl.register_block_size(m)
    out = torch.empty_like(x)
    # Each block of rows has sums of its own: no cell waits for another, and long batches are added in parallel.
    weight_parts = torch.empty([-(-m // block), n], dtype=torch.float32, device=x.device)
    bias_parts = torch.empty_like(weight_parts)
    for batch in hl.tile(m, block_size=block):
        weight_part = hl.zeros([n], dtype=torch.float32)
        bias_part = hl.zeros([n], dtype=torch.float32)
        for rows in hl.tile(batch.begin, batch.end):
            arriving = grad[rows, :].to(torch.float32)
            normal = (x[rows, :].to(torch.float32) - mean[rows][:, None]) * rstd[rows][:, None]
            scaled = arriving * weight[:].to(torch.float32)
            along = (scaled * normal).mean(-1, keepdim=True)
            level = scaled.mean(-1, keepdim=True)
            out[rows, :] = ((scaled - normal * along - level) * rstd[rows][:, None]).to(x.dtype)
            weight_part += (arriving * normal).sum(0)
            bias_part += arriving.sum(0)
        weight_parts[batch.id, :] = weight_part
        bias_parts[batch.id, :] = bias_part
    return out, weight_parts.sum(0).to(weight.dtype), bias_parts.sum(0).to(weight.dtype)


def reference(x, weight, bias=None, eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


def statistics(x, eps=1e-5):
    """What the gradient needs of the forward pass: each row's mean and reciprocal deviation."""
    return x.float().mean(-1), torch.rsqrt(x.float().var(-1, correction=0) + eps)


def reference_backward(grad, x, weight, mean, rstd):
    values, scale, shift = (t.double().requires_grad_() for t in (x, weight, torch.zeros_like(weight)))
    exact = torch.autograd.grad(reference(values, scale, shift), [values, scale, shift], grad.double())
    return tuple(t.to(x.dtype) for t in exact)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
