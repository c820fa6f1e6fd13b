# A variance of equal elements is 0, or 0 but for rounding: a comparison with it may be either.
import torch
import torch.nn.functional as F

import kopt.language as hl


def inputs():
    return [torch.ones(1, 4)]


def kernel(a0):
    o0 = torch.empty([1, 4], dtype=torch.float32)
    for i0 in hl.tile(1, block_size=1):
        v0 = a0[i0, :]
        v1 = torch.cat([v0, v0], 0).flatten().log_softmax(0).var(correction=0)
        v2 = F.softsign(v0).mT.reshape(-1).cumsum(0).sum()
        v3 = torch.not_equal(v2.less(v1), v1)
        o0[i0, :] = v3.to(torch.float32)[None, None].expand(1, 4)
    return (o0,)
