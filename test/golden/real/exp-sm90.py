import torch
import triton
import triton.language as tl


@triton.jit
def exp_0_kernel(x, out, BLOCK_2: tl.constexpr):
    # only written: out
    # exp.py:12: for tile in hl.tile(x.size()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
    # exp.py:13: out[tile] = torch.exp(x[tile])
    x_block = tl.load(x + tile)
    tl.store(out + tile, tl.exp(x_block.to(tl.float32)).to(tl.bfloat16))


def exp(x):
    # exp.py:11: out = torch.empty_like(x)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=x.device)
    # exp.py:12: for tile in hl.tile(x.size()):
    exp_0_kernel[(2560,)](x, out, BLOCK_2=4096, num_warps=4, num_stages=1)
    return out
