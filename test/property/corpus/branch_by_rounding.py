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
    numbers = torch.Generator().manual_seed(1597)
    return [marked(torch.randn((7, 7), generator=numbers) > 0, numbers)]


def kernel(a0):
    o0 = torch.zeros([0, 0, 0], dtype=torch.float16)
    o1 = torch.zeros([0, 0, 0], dtype=torch.bool)
    o2 = torch.zeros([0, 0], dtype=torch.bfloat16)
    o3 = torch.empty([1, 7], dtype=torch.bool)
    for i0 in hl.tile(4, block_size=4):
        v0 = hl.load(a0, [i0, slice(None)])
        v2 = v0.bfloat16()
        v3 = v0.bfloat16()
        for i1 in hl.tile(i0.begin, 1, block_size=1):
            v5 = torch.mv(v3, v2.select(-0, 0))
            v13 = v5.repeat_interleave(2, 0).flatten().float().log_softmax(0).amin()
        v14 = F.pad(v0, (1, 2)).flatten().float().log_softmax(0).float().logsumexp(0)
        c2 = hl.full([i0, 1], 0, dtype=torch.bool)
        if v14 > 0:
            c2 = torch.max(c2, v2).to(torch.bool)
        hl.store(o3, [i0, slice(None)], c2)
    return (o0, o1, o2, o3)


if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
