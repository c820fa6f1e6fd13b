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
        marked((torch.randn((7,), generator=numbers) * 2).to(torch.float32), numbers),
    ]


def kernel(a0):
    o0 = torch.empty([1, 7], dtype=torch.bool)
    o1 = torch.zeros([3], dtype=torch.float32)
    for i0 in hl.tile(1, block_size=4):
        v0 = a0[0]
        v1 = a0[:]
        v2 = torch.exp(v0)
        v3 = torch.logical_xor(v1, v0[None])
        c0 = v3
        for i1 in hl.tile(1, block_size=4):
            v4 = a0[:]
            v5 = a0[:]
            v6 = torch.exp(v0)
            v7 = v4.half()
            for i2 in hl.tile(1, block_size=4):
                v8 = hl.load(a0, [slice(None)], extra_mask=v3)
                v9 = torch.ravel(v0)
                v10 = F.pad(v7, (1, 7))
                v11 = torch.movedim(v1, 0, 0)
                c1 = hl.full([], 0, dtype=torch.float32)
                if v0 > 0:
                    c1 = torch.clamp(c1, v0)
            v12 = i0.index
            c2 = hl.full([], 0, dtype=torch.float32)
            if v0 > 0:
                c2 = torch.clamp(c2, v0)
            v13 = torch.amax(v12, dim=(0,))
            c0 = (torch.div(c0, v13[None])).to(torch.bool)
        v14 = v0.new_ones((3,))
        o0[i0, :] = c0[None, :]
        hl.atomic_add(o1, [slice(None)], v14)
    return (
        o0,
        o1,
    )


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
