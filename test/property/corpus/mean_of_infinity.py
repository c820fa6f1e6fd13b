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
    numbers = torch.Generator().manual_seed(3458)
    return [
        marked(torch.randn((3,), generator=numbers) > 0, numbers),
        marked((torch.randn((5, 12), generator=numbers) * 2).to(torch.bfloat16), numbers),
    ]


def kernel(a0, a1):
    o0 = torch.empty([12], dtype=torch.bfloat16)
    o1 = torch.empty([5, 12], dtype=torch.bfloat16)
    for i0 in hl.tile(12, block_size=4):
        v0 = a1[:, i0]
        v1 = a1[:, i0]
        v2 = v1.exp2()
        v3 = v2.mul(v2)
        v4 = torch.var_mean(v1, dim=-2, correction=0)[1]
        v5 = v4.logaddexp(v4)
        c0 = v0
        if i0.begin > 0:
            c0 = torch.atan2(c0, v2)
        else:
            c0 = (torch.logical_and(c0, v2)).to(torch.bfloat16)
        o0[i0] = v5
        o1[:, i0] = c0
    return (
        o0,
        o1,
    )


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
