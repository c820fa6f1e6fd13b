import sys

import torch
import torch.nn.functional as F

import kopt
import kopt.language as hl


SPECIAL = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-6, -1e-6, 1e4, -1e4, 0.5, 1.0, -1.0]


def marked(x, numbers):
    # Special values in some places of some of the arrays.
    if x.dtype == torch.bool or torch.rand((), generator=numbers) < 0.6:
        return x
    # The lowest integer itself, divided by -1, ends torch's process.
    ends = SPECIAL if x.dtype.is_floating_point else [torch.iinfo(x.dtype).max, torch.iinfo(x.dtype).min + 1]
    picked = torch.tensor(ends)[torch.randint(len(ends), x.shape, generator=numbers)]
    return torch.where(torch.rand(x.shape, generator=numbers) < 0.15, picked.to(x.dtype), x)


def inputs():
    numbers = torch.Generator().manual_seed(0)
    return [
        marked(torch.randint(-9, 10, (7,), generator=numbers).to(torch.int32), numbers),
        marked(torch.randint(0, 10, (7, 12), generator=numbers).to(torch.uint8), numbers),
        marked(torch.randn((7, 12), generator=numbers) > 0, numbers),
    ]


def kernel(a0, a1, a2):
    o0 = torch.empty([7, 12], dtype=torch.float32)
    o1 = torch.empty([7], dtype=torch.bool)
    o2 = torch.zeros([12], dtype=torch.float32)
    for i0 in hl.tile(7, block_size=4):
        v0 = a1[6, 11]
        v1 = a2[(v0 % 7).long(), :]
        v2 = v1.div(v0[None])
        c0 = hl.full([], 0, dtype=torch.uint8)
        c1 = v2
        for i1 in hl.tile(0, i0.end, block_size=8):
            v3 = a1[(c0 % 7).long(), 0]
            v4 = a2[6, (v3 % 12).long()]
            v5 = torch.sinc(v2)
            v6 = torch.vstack([v4, v0])
            v7 = v5.msort()
            v8 = torch.cosh(c1)
            v9 = torch.amax(c1, dim=(0,))
            c0 = (torch.atan2(c0, v9)).to(torch.uint8)
            c1 = torch.add(c1, v1)
        v10 = torch.any(v1, -1)
        o0[i0, :] = c1[None, :]
        hl.store(o1, [i0], v10[None])
    for i2, i3 in hl.tile([7, 12], block_size=[4, 2]):
        v11 = o0[0, :]
        v12 = F.leaky_relu(v11)
        v13 = v11.norm(dim=-1, keepdim=True)
        v14 = torch.any(v11)
        for i4 in hl.tile(12, block_size=8):
            v15 = a0[i2]
            v16 = v11.expm1()
        v17 = torch.rad2deg(v11)
        hl.atomic_add(o2, [slice(None)], v17)
    return (
        o0,
        o1,
        o2,
    )


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
