"""Gated linear units: SwiGLU and GEGLU."""

import torch

import kopt
import kopt.language as hl


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


def reference_swiglu(gate, up):
    return torch.nn.functional.silu(gate) * up


def reference_geglu(gate, up):
    return torch.nn.functional.gelu(gate, approximate="tanh") * up


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
