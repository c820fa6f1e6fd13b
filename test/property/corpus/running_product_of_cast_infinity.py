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
    numbers = torch.Generator().manual_seed(3232)
    return [
        marked((torch.randn((7, 17), generator=numbers) * 2).to(torch.float32), numbers),
    ]


def kernel(a0):
    o0 = torch.zeros([2, 7], dtype=torch.float32)
    o1 = torch.zeros([7, 7], dtype=torch.float32)
    o2 = torch.zeros([7], dtype=torch.float32)
    o3 = torch.empty([7, 17], dtype=torch.int32)
    for i0 in hl.tile(0, 0, block_size=4):
        v0 = a0[i0, 0]
        v1 = torch.exp(v0)
        v2 = v0.half()
        v3 = F.relu6(v0)
        v4 = torch.exp(v0)
        c0 = hl.full([i0], 0, dtype=torch.float32)
        c1 = v0
        for i1 in hl.tile(7, block_size=4):
            v5 = a0[i0, :]
            v6 = torch.logical_or(v0, v0)
            v7 = torch.exp(v0)
            v8 = v0.reshape(-1).sum()
            c0 = torch.clamp(c0, v0)
            c1 = torch.clamp(c1, v0)
            hl.store(o0, [i1.id, i0], v7)
            o1[i0, i1] = v8[None, None]
        v9 = torch.exp(v0)
        o2[i0] = v9
    for i2, i3 in hl.tile([7, 17], block_size=[4, 4]):
        v10 = a0[i2, i3]
        v11 = a0[i2, i3]
        v12 = torch.cumprod(v10, dim=0, dtype=torch.int32)
        v13 = torch.logcumsumexp(v10, 0)
        v14 = torch.clamp(v12, 0)
        o3[i2, i3] = v14
    return (o0, o1, o2, o3,)


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
