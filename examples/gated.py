"""Gated linear units, SwiGLU and GEGLU, and their gradients: elementwise, so over tensors seen as one long row."""

import math

import torch

import kopt
import kopt.language as hl

#: Of GELU's form with a tanh.
SCALE, CUBIC = math.sqrt(2 / math.pi), 0.044715


@kopt.kernel
def swiglu(gate, up):
    out = torch.empty_like(up)
    for tile in hl.tile(out.size()):
        opened = gate[tile].to(torch.float32)
        out[tile] = (opened * torch.sigmoid(opened)).to(up.dtype) * up[tile]
    return out


@kopt.kernel
def geglu(gate, up):
    out = torch.empty_like(up)
    for tile in hl.tile(out.size()):
        opened = torch.nn.functional.gelu(gate[tile].to(torch.float32), approximate="tanh")
        out[tile] = opened.to(up.dtype) * up[tile]
    return out


@swiglu.backward
@kopt.kernel
def swiglu_backward(grad, gate, up):
    grad_gate, grad_up = torch.empty_like(gate), torch.empty_like(up)
    grads, gates, ups = grad.view(-1), gate.view(-1), up.view(-1)
    to_gate, to_up = grad_gate.view(-1), grad_up.view(-1)
    for tile in hl.tile(gate.numel()):
        arriving, opened = grads[tile].to(torch.float32), gates[tile].to(torch.float32)
        share = torch.sigmoid(opened)
        to_up[tile] = (arriving * opened * share).to(up.dtype)
        slope = share * (1 + opened * (1 - share))
        to_gate[tile] = (arriving * ups[tile] * slope).to(gate.dtype)
    return grad_gate, grad_up


@geglu.backward
@kopt.kernel
def geglu_backward(grad, gate, up):
    grad_gate, grad_up = torch.empty_like(gate), torch.empty_like(up)
    grads, gates, ups = grad.view(-1), gate.view(-1), up.view(-1)
    to_gate, to_up = grad_gate.view(-1), grad_up.view(-1)
    for tile in hl.tile(gate.numel()):
        arriving, opened = grads[tile].to(torch.float32), gates[tile].to(torch.float32)
        square = opened * opened
        bend = torch.tanh(SCALE * opened * (1 + CUBIC * square))
        to_up[tile] = (arriving * 0.5 * opened * (1 + bend)).to(up.dtype)
        slope = 1 + bend + opened * (1 - bend * bend) * SCALE * (1 + 3 * CUBIC * square)
        to_gate[tile] = (arriving * ups[tile] * 0.5 * slope).to(gate.dtype)
    return grad_gate, grad_up


@kopt.kernel
def swiglu_matmul(x, gate, up):
    """Of both products of ``x``: they share its blocks, and neither goes to memory."""
    m, k = x.size()
    n = gate.size(1)
    out = torch.empty([m, n], dtype=x.dtype)
    for tile_m, tile_n in hl.tile([m, n]):
        opened = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        lifted = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            rows = x[tile_m, tile_k]
            opened = torch.addmm(opened, rows, gate[tile_k, tile_n])
            lifted = torch.addmm(lifted, rows, up[tile_k, tile_n])
        out[tile_m, tile_n] = (opened * torch.sigmoid(opened) * lifted).to(x.dtype)
    return out


def reference_swiglu(gate, up):
    return torch.nn.functional.silu(gate) * up


def reference_geglu(gate, up):
    return torch.nn.functional.gelu(gate, approximate="tanh") * up


def reference_swiglu_matmul(x, gate, up):
    return reference_swiglu(x.float() @ gate.float(), x.float() @ up.float()).to(x.dtype)


def reference_swiglu_backward(grad, gate, up):
    return _gradients(reference_swiglu, grad, gate, up)


def reference_geglu_backward(grad, gate, up):
    return _gradients(reference_geglu, grad, gate, up)


def _gradients(function, grad, *inputs):
    exact = [value.double().requires_grad_() for value in inputs]
    return tuple(value.to(grad.dtype) for value in torch.autograd.grad(function(*exact), exact, grad.double()))


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
