import torch
import triton
import triton.language as tl


@triton.jit
def add_row_0_kernel(x, row, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # add.py:22: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 5
    tile_n_block = pid % tile_n_blocks
    tile_m = pid // tile_n_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_n = tile_n_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    # add.py:23: out[tile_m, tile_n] = x[tile_m, tile_n] + row[tile_n]
    x_block = tl.load(x + (tile_m[:, None] * 2560 + tile_n[None, :]))
    row_block = tl.load(row + tile_n)
    v = x_block.to(tl.float32) + row_block.to(tl.bfloat16).to(tl.float32)[None, :]
    tl.store(out + (tile_m[:, None] * 2560 + tile_n[None, :]), v.to(tl.bfloat16))


def add_row(x, row):
    # add.py:21: out = torch.empty([m, n], dtype=torch.promote_types(x.dtype, row.dtype), device=x.device)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=x.device)
    # add.py:22: for tile_m, tile_n in hl.tile([m, n]):
    add_row_0_kernel[(2560,)](x, row, out, BLOCK_0=8, BLOCK_1=512, num_warps=4, num_stages=1)
    return out
