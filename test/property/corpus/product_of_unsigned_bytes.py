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
    numbers = torch.Generator().manual_seed(0)
    return [
        marked((torch.randn((7,), generator=numbers) * 2).to(torch.float32), numbers),
        marked(torch.randint(0, 10, (7, 17), generator=numbers).to(torch.uint8), numbers),
    ]


def kernel(a0, a1):
    o0 = torch.empty([7, 7, 7, 7], dtype=torch.uint8)
    for i0, i1 in hl.tile([7, 7], block_size=[4, 4]):
        v0 = a1[:, :]
        v1 = torch.matmul(v0, v0.mT)
        o0[i0, i1, :, :] = v1[None, None, :, :]
    return (o0,)


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
