"""Where subnormal numbers count as 0, as on Pallas, these round, convert and sort them as they do 0."""

import sys

import torch

import kopt
import kopt.language as hl


def inputs():
    return [torch.tensor([[0.0, 1e-39, -1e-39, 3e-39, 2.0]])]


def kernel(a0):
    o0 = torch.empty([1, 5], dtype=torch.float32)
    o1 = torch.empty([1, 5], dtype=torch.float32)
    o2 = torch.empty([1, 5], dtype=torch.bool)
    o3 = torch.empty([1, 5], dtype=torch.int64)
    for i0 in hl.tile(1):
        v0 = a0[i0, :]
        o0[i0, :] = torch.ceil(v0)
        o1[i0, :] = torch.floor(v0)
        o2[i0, :] = v0.to(torch.bool)
        o3[i0, :] = torch.sort(v0, 1)[1]
    return (o0, o1, o2, o3)


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
