import torch

import kopt.language as hl


def inputs():
    return [torch.ones(1)]


def kernel(x):
    out = torch.empty([1, 2], dtype=torch.int32)
    more = torch.empty([1, 2, 3], dtype=torch.int32)
    for i in hl.tile(1, block_size=1):
        only = torch.arange(1)
        out[i, :] = torch.broadcast_to(only, (2,))[None, :]
        more[i, :, :] = only.broadcast_to((2, 3))[None, :, :]
    return out, more
