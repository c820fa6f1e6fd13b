"""An elementwise kernel of any rank, and its gradient."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def exp(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size()):
        out[tile] = torch.exp(x[tile])
    return out


@kopt.kernel
def exp_backward(grad, y):
    out = torch.empty_like(y)
    for tile in hl.tile(y.size()):
        out[tile] = grad[tile] * y[tile]
    return out


def reference(x):
    return torch.exp(x)


def reference_backward(grad, y):
    x = torch.log(y.double()).requires_grad_()
    (exact,) = torch.autograd.grad(torch.exp(x), x, grad.double())
    return exact.to(y.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
