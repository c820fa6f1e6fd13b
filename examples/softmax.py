"""Softmax over the rows of a matrix: in one call, spelt out, online in two passes over blocks; and its gradient."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def softmax(x):
    m, _ = x.size()
    out = torch.empty_like(x)
    for rows in hl.tile(m):
        out[rows, :] = torch.softmax(x[rows, :], dim=1)
    return out


@kopt.kernel
def softmax_decomposed(x):
    m, _ = x.size()
    out = torch.empty_like(x)
    for rows in hl.tile(m):
        values = x[rows, :]
        largest = torch.amax(values, dim=1, keepdim=True)
        powers = torch.exp(values - largest)
        out[rows, :] = powers / torch.sum(powers, dim=1, keepdim=True)
    return out


@kopt.kernel
def softmax_two_pass(x):
    m, n = x.size()
    out = torch.empty_like(x)
    block_m = hl.register_block_size(m)
    block_n = hl.register_block_size(n)
    for rows in hl.tile(m, block_size=block_m):
        largest = hl.full([rows], float("-inf"), dtype=torch.float32)
        total = hl.zeros([rows], dtype=torch.float32)
        for cols in hl.tile(n, block_size=block_n):
            values = x[rows, cols].to(torch.float32)
            grown = torch.maximum(largest, torch.amax(values, dim=1))
            total = total * torch.exp(largest - grown) + torch.exp(values - grown[:, None]).sum(dim=1)
            largest = grown
        for cols in hl.tile(n, block_size=block_n):
            values = x[rows, cols].to(torch.float32)
            out[rows, cols] = (torch.exp(values - largest[:, None]) / total[:, None]).to(x.dtype)
    return out


@kopt.kernel
def softmax_backward(grad, y):
    m, n = y.size()
    out = torch.empty_like(y)
    for rows in hl.tile(m):
        shared = hl.zeros([rows], dtype=torch.float32)
        for cols in hl.tile(n):
            shared += (grad[rows, cols].to(torch.float32) * y[rows, cols]).sum(1)
        for cols in hl.tile(n):
            out[rows, cols] = ((grad[rows, cols] - shared[:, None]) * y[rows, cols]).to(y.dtype)
    return out


def reference(x):
    return torch.softmax(x, dim=1)


def reference_decomposed(x):
    powers = torch.exp(x - torch.amax(x, dim=1, keepdim=True))
    return powers / torch.sum(powers, dim=1, keepdim=True)


def reference_backward(grad, y):
    x = torch.log(y.double()).requires_grad_()
    (exact,) = torch.autograd.grad(torch.softmax(x, dim=1), x, grad.double())
    return exact.to(y.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
