import sys
import torch
import torch.nn.functional as F
import kopt
import kopt.language as hl
SPECIAL = [0.0, -0.0, float('inf'), -float('inf'), float('nan'), 1e-06, -1e-06, 10000.0, -10000.0, 0.5, 1.0, -1.0]

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
    return [marked((torch.randn((0, 0), generator=numbers) * 0).to(torch.bfloat16), numbers), marked(torch.randint(-2, 0, (1, 1), generator=numbers).to(torch.int8), numbers), marked(torch.randint(0, 1, (0, 0), generator=numbers).to(torch.uint8), numbers)]

def kernel(a0, a1, a2):
    o0 = torch.zeros([1, 2], dtype=torch.int8)
    o1 = torch.empty([0, 0], dtype=torch.int8)
    o2 = torch.empty([1, 1], dtype=torch.int8)
    for i0 in hl.tile(2, block_size=4):
        v0 = a1[i0, 0]
        v1 = hl.load(a1, [slice(None), 0])
        v2 = torch.bitwise_not(v1)
        v3 = i0.index
        c0 = v2
        for i1 in hl.tile(i0.begin, i0.end, block_size=1):
            v17 = torch.amax(v0, dim=(0,))
            c0 = torch.sub(c0, v17[None])
            o0[i0, i1] = v17[None, None]
        v18 = c0.positive()
        o2[i0, :] = v18[None, :]
    return (o0, o1, o2)
if __name__ == '__main__':
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
