import torch
import triton
import triton.language as tl


@triton.jit
def add_row_0_kernel(x, row, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # add.py:22: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 3
    tile_n_block = pid % tile_n_blocks
    tile_m = pid // tile_n_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_m_mask = tile_m < 75
    tile_n = tile_n_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    tile_n_mask = tile_n < 333
    # add.py:23: out[tile_m, tile_n] = x[tile_m, tile_n] + row[tile_n]
    x_block = tl.load(x + (tile_m[:, None] * 333 + tile_n[None, :]), mask=tile_m_mask[:, None] & tile_n_mask[None, :])
    row_block = tl.load(row + tile_n, mask=tile_n_mask)
    tl.store(
        out + (tile_m[:, None] * 333 + tile_n[None, :]),
        x_block + row_block.to(tl.float32)[None, :],
        mask=tile_m_mask[:, None] & tile_n_mask[None, :],
    )


def add_row(x, row):
    # add.py:21: out = torch.empty([m, n], dtype=torch.promote_types(x.dtype, row.dtype), device=x.device)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # add.py:22: for tile_m, tile_n in hl.tile([m, n]):
    add_row_0_kernel[(9,)](x, row, out, BLOCK_0=32, BLOCK_1=128, num_warps=8, num_stages=1)
    return out
