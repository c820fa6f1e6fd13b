import sys

import torch
import torch.nn.functional as F

import kopt
import kopt.language as hl


SPECIAL = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-6, -1e-6, 1e4, -1e4, 0.5, 1.0, -1.0]


def ends(dtype):
    # The largest, the smallest normal and the smallest number of a float.
    info = torch.finfo(dtype)
    return [info.max, info.min, info.tiny, info.smallest_normal * info.eps, -info.tiny]


def marked(x, numbers):
    # Special values in some places of some of the arrays.
    if x.dtype == torch.bool or torch.rand((), generator=numbers) < 0.6:
        return x
    # The lowest integer itself, divided by -1, ends torch's process.
    floats = x.dtype.is_floating_point
    odd = SPECIAL + ends(x.dtype) if floats else [torch.iinfo(x.dtype).max, torch.iinfo(x.dtype).min + 1]
    picked = torch.tensor(odd)[torch.randint(len(odd), x.shape, generator=numbers)]
    return torch.where(torch.rand(x.shape, generator=numbers) < 0.15, picked.to(x.dtype), x)


def inputs():
    numbers = torch.Generator().manual_seed(1646)
    return [
        marked((torch.randn((17, 5), generator=numbers) * 2).to(torch.float32), numbers),
        marked((torch.randn((7, 5), generator=numbers) * 2).to(torch.float32), numbers),
    ]


def kernel(a0, a1):
    o0 = torch.empty([17, 5], dtype=torch.float32)
    o1 = torch.empty([17, 5], dtype=torch.float32)
    for i0, i1 in hl.tile([5, 17], block_size=[4, 4]):
        v0 = a0[i1, i0]
        v1 = torch.exp(v0)
        v2 = torch.exp(v0)
        o0[i1, i0] = v2
    for g0 in hl.grid(17):
        v3 = a0[g0, :]
        v4 = a0[g0, :]
        v5 = torch.logcumsumexp(v3, 0)
        v6 = torch.exp(v3)
        v7 = torch.exp(v3)
        c0 = v5
        for u0 in hl.static_range(2):
            c0 = torch.add(c0, v3)
        o1[g0, :] = c0
    return (o0, o1,)


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
