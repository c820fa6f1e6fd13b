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
    numbers = torch.Generator().manual_seed(6482)
    return [
        marked(torch.randint(-9, 10, (5, 6, 7), generator=numbers).to(torch.int32), numbers),
        marked((torch.randn((5,), generator=numbers) * 2).to(torch.bfloat16), numbers),
    ]


def kernel(a0, a1):
    o0 = torch.empty([5], dtype=torch.bfloat16)
    for i0 in hl.tile(5, block_size=1):
        v0 = a1[i0]
        v1 = F.silu(v0)
        v2 = torch.var_mean(v0)[1]
        o0[i0] = v2[None]
    return (o0,)


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
