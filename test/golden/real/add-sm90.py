import torch
import triton
import triton.language as tl


@triton.jit
def add_0_kernel(x, y, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # add.py:13: for tile in hl.tile(out.size()):
    pid = tl.program_id(0)
    tile_blocks: tl.constexpr = 5
    tile_block = pid % tile_blocks
    tile = pid // tile_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    v = tile_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    # add.py:14: out[tile] = x[tile] + y[tile]
    x_block = tl.load(x + (tile[:, None] * 2560 + v[None, :]))
    y_block = tl.load(y + (tile[:, None] + v[None, :] * 0))
    v_2 = x_block.to(tl.float32) + y_block.to(tl.bfloat16).to(tl.float32)
    tl.store(out + (tile[:, None] * 2560 + v[None, :]), v_2.to(tl.bfloat16))


def add(x, y):
    # add.py:11: x, y = torch.broadcast_tensors(x, y)
    y_2 = y.expand((4096, 2560))
    # add.py:12: out = torch.empty(x.shape, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=x.device)
    # add.py:13: for tile in hl.tile(out.size()):
    add_0_kernel[(2560,)](x, y_2, out, BLOCK_0=8, BLOCK_1=512, num_warps=4, num_stages=1)
    return out
