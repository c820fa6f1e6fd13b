"""Kernels for the tests of the command."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def scaled(x, s):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows] = x[rows] * s
    return out


@kopt.kernel
def unsupported(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows] = torch.linalg.qr(x[rows])
    return out
