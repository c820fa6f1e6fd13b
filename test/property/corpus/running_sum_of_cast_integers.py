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
    numbers = torch.Generator().manual_seed(562)
    return [
        marked((torch.randn((11, 2), generator=numbers) * 0).to(torch.bfloat16), numbers),
        marked(torch.randint(-1, 0, (11, 2), generator=numbers).to(torch.int32), numbers),
    ]


def kernel(a0, a1):
    o0 = torch.empty([0, 0], dtype=torch.bfloat16)
    o1 = torch.empty([0, 0], dtype=torch.bool)
    o2 = torch.empty([6], dtype=torch.float32)
    for i1 in hl.tile(6, block_size=6):
        v3 = a1[i1, 1:2]
        v8 = torch.amin(v3, dim=(1,))
        v10 = v8.cumsum(dim=-0, dtype=torch.float32)
        o2[i1] = v10
    return (o0, o1, o2)


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
