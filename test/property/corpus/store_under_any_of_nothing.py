"""The mask is false once the array without rows is gone, so the loop stores nothing: its launch had no grid."""

import sys

import torch

import kopt
import kopt.language as hl


def inputs():
    return [torch.zeros(0, 3)]


def kernel(a0):
    o0 = torch.zeros([3], dtype=torch.bool)
    for i0 in hl.tile(3, block_size=1):
        v0 = a0[:, i0].any()
        hl.store(o0, [i0.id], v0, extra_mask=v0)
    return (o0,)


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
