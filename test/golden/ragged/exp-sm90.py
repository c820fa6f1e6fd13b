import torch
import triton
import triton.language as tl


@triton.jit
def exp_0_kernel(x, out, BLOCK_2: tl.constexpr):
    # only written: out
    # exp.py:12: for tile in hl.tile(x.size()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
    tile_mask = tile < 24975
    # exp.py:13: out[tile] = torch.exp(x[tile])
    x_block = tl.load(x + tile, mask=tile_mask)
    tl.store(out + tile, tl.exp(x_block), mask=tile_mask)


def exp(x):
    # exp.py:11: out = torch.empty_like(x)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # exp.py:12: for tile in hl.tile(x.size()):
    exp_0_kernel[(7,)](x, out, BLOCK_2=4096, num_warps=8, num_stages=1)
    return out
