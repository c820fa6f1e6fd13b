import sys
import torch
import torch.nn.functional as F
import kopt
import kopt.language as hl

SPECIAL = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-06, -1e-06, 10000.0, -10000.0, 0.5, 1.0, -1.0]


def ends(dtype):
    info = torch.finfo(dtype)
    return [info.max, info.min, info.tiny, info.smallest_normal * info.eps, -info.tiny]


def marked(x, numbers):
    if x.dtype == torch.bool or torch.rand((), generator=numbers) < 0.6:
        return x
    floats = x.dtype.is_floating_point
    odd = SPECIAL + ends(x.dtype) if floats else [torch.iinfo(x.dtype).max, torch.iinfo(x.dtype).min + 1]
    picked = torch.tensor(odd)[torch.randint(len(odd), x.shape, generator=numbers)]
    return torch.where(torch.rand(x.shape, generator=numbers) < 0.15, picked.to(x.dtype), x)


def inputs():
    numbers = torch.Generator().manual_seed(0)
    return [
        marked((torch.randn((2, 0, 0), generator=numbers) * 0).to(torch.float32), numbers),
        marked((torch.randn((0,), generator=numbers) * 0).to(torch.float32), numbers),
    ]


def kernel(a0, a1):
    o0 = torch.empty([0, 0, 0, 0], dtype=torch.float32)
    for i0 in hl.tile(0, block_size=1):
        v0 = a0[0, :, i0]
        v28 = a0[:, :, i0]
        v31 = hl.dot(v28, v0[None, :, :].mT)
    return (o0,)


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
