"""Rotary position embedding of queries and keys: pairs of features, half a head apart, turned by each step's angles."""

import torch

import kopt
import kopt.language as hl


def turned(x, cos, sin):
    """The features of one block by the angles of its steps, the same for all heads."""
    first, second = x.to(torch.float32).chunk(2, dim=-1)
    cos_first, cos_second = cos.to(torch.float32)[:, None].chunk(2, dim=-1)
    sin_first, sin_second = sin.to(torch.float32)[:, None].chunk(2, dim=-1)
    both = [first * cos_first - second * sin_first, second * cos_second + first * sin_second]
    return torch.cat(both, dim=-1).to(x.dtype)


def turned_back(grad, cos, sin):
    """The transposed of `turned`."""
    first, second = grad.to(torch.float32).chunk(2, dim=-1)
    cos_first, cos_second = cos.to(torch.float32)[:, None].chunk(2, dim=-1)
    sin_first, sin_second = sin.to(torch.float32)[:, None].chunk(2, dim=-1)
    both = [first * cos_first + second * sin_second, second * cos_second - first * sin_first]
    return torch.cat(both, dim=-1).to(grad.dtype)


@kopt.kernel
def rotary(q, k, cos, sin):
    batch, _, length, _ = q.size()
    q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    for items, steps in hl.tile([batch, length]):
        angles = cos[items, steps, :], sin[items, steps, :]
        q_out[items, :, steps, :] = turned(q[items, :, steps, :], *angles)
        k_out[items, :, steps, :] = turned(k[items, :, steps, :], *angles)
    return q_out, k_out


@kopt.kernel
def rotary_backward(grad_q, grad_k, cos, sin):
    batch, _, length, _ = grad_q.size()
    q_out, k_out = torch.empty_like(grad_q), torch.empty_like(grad_k)
    for items, steps in hl.tile([batch, length]):
        angles = cos[items, steps, :], sin[items, steps, :]
        q_out[items, :, steps, :] = turned_back(grad_q[items, :, steps, :], *angles)
        k_out[items, :, steps, :] = turned_back(grad_k[items, :, steps, :], *angles)
    return q_out, k_out


def reference(q, k, cos, sin):
    return _turn(q, cos, sin).to(q.dtype), _turn(k, cos, sin).to(k.dtype)


def _turn(x, cos, sin):
    first, second = x.double().chunk(2, dim=-1)
    return x * cos.double()[:, None] + torch.cat([-second, first], dim=-1) * sin.double()[:, None]


def reference_backward(grad_q, grad_k, cos, sin):
    def back(grad):
        x = torch.zeros_like(grad, dtype=torch.float64, requires_grad=True)
        (exact,) = torch.autograd.grad(_turn(x, cos, sin), x, grad.double())
        return exact.to(grad.dtype)

    return back(grad_q), back(grad_k)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
