"""A squeeze-and-excitation net: features scaled by a gate made of them in two layers, and all its gradients."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def squeeze_excite(x, squeeze, excite):
    m, n = x.size()
    _, k = squeeze.size()
    out, gate = torch.empty_like(x), torch.empty_like(x)
    hidden = torch.empty([m, k], dtype=x.dtype, device=x.device)
    for rows in hl.tile(m):
        for inner in hl.tile(k):
            hidden[rows, inner] = torch.relu(x[rows, :] @ squeeze[:, inner])
        for cols in hl.tile(n):
            acc = hl.zeros([rows, cols], dtype=torch.float32)
            for inner in hl.tile(k):
                acc = torch.addmm(acc, hidden[rows, inner], excite[inner, cols])
            opened = torch.sigmoid(acc).to(x.dtype)
            gate[rows, cols] = opened
            out[rows, cols] = x[rows, cols] * opened
    return out, hidden, gate


@kopt.kernel
def squeeze_excite_backward(grad, x, squeeze, excite, hidden, gate):
    m, n = x.size()
    _, k = squeeze.size()
    grad_x, to_gate = torch.empty_like(x), torch.empty_like(x)
    grad_squeeze, grad_excite, to_hidden = (torch.empty_like(t) for t in (squeeze, excite, hidden))
    for rows, cols in hl.tile([m, n]):
        opened, arriving = gate[rows, cols].to(torch.float32), grad[rows, cols].to(torch.float32)
        to_gate[rows, cols] = (arriving * x[rows, cols] * opened * (1 - opened)).to(x.dtype)
    hl.barrier()
    for rows, inner in hl.tile([m, k]):
        acc = hl.zeros([rows, inner], dtype=torch.float32)
        for cols in hl.tile(n):
            acc = torch.addmm(acc, to_gate[rows, cols], excite[inner, cols].T)
        to_hidden[rows, inner] = torch.where(hidden[rows, inner] > 0, acc, 0.0).to(x.dtype)
    for inner, cols in hl.tile([k, n]):
        acc = hl.zeros([inner, cols], dtype=torch.float32)
        for rows in hl.tile(m):
            acc = torch.addmm(acc, hidden[rows, inner].T, to_gate[rows, cols])
        grad_excite[inner, cols] = acc.to(x.dtype)
    hl.barrier()
    for rows, cols in hl.tile([m, n]):
        acc = grad[rows, cols].to(torch.float32) * gate[rows, cols]
        for inner in hl.tile(k):
            acc = torch.addmm(acc, to_hidden[rows, inner], squeeze[cols, inner].T)
        grad_x[rows, cols] = acc.to(x.dtype)
    for cols, inner in hl.tile([n, k]):
        acc = hl.zeros([cols, inner], dtype=torch.float32)
        for rows in hl.tile(m):
            acc = torch.addmm(acc, x[rows, cols].T, to_hidden[rows, inner])
        grad_squeeze[cols, inner] = acc.to(x.dtype)
    return grad_x, grad_squeeze, grad_excite


def reference(x, squeeze, excite):
    hidden = torch.relu(x.float() @ squeeze.float()).to(x.dtype)
    gate = torch.sigmoid(hidden.float() @ excite.float()).to(x.dtype)
    return x * gate, hidden, gate


def reference_backward(grad, x, squeeze, excite, hidden, gate):
    opened = gate.float()
    to_gate = (grad.float() * x * opened * (1 - opened)).to(x.dtype).float()
    to_hidden = ((to_gate @ excite.float().T) * (hidden > 0)).to(x.dtype).float()
    grad_x = grad * opened + to_hidden @ squeeze.float().T
    return tuple(t.to(x.dtype) for t in (grad_x, x.float().T @ to_hidden, hidden.float().T @ to_gate))


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
