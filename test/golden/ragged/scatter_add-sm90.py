import torch
import triton
import triton.language as tl


@triton.jit
def scatter_add_0_kernel(out, rows, x, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # scatter_add.py:9: for tile, cols in hl.tile(x.size()):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 3
    cols_block = pid % cols_blocks
    tile = pid // cols_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_mask = tile < 75
    cols = cols_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    cols_mask = cols < 333
    # scatter_add.py:10: hl.atomic_add(out, [rows[tile], cols], x[tile, cols])
    rows_block = tl.load(rows + tile, mask=tile_mask, other=0)
    x_block = tl.load(x + (tile[:, None] * 333 + cols[None, :]), mask=tile_mask[:, None] & cols_mask[None, :])
    tl.atomic_add(
        out + (rows_block[:, None] * 333 + cols[None, :]),
        x_block,
        mask=tile_mask[:, None] & cols_mask[None, :],
        sem="relaxed",
        scope="gpu",
    )


def scatter_add(out, rows, x):
    # scatter_add.py:9: for tile, cols in hl.tile(x.size()):
    scatter_add_0_kernel[(9,)](out, rows, x, BLOCK_0=32, BLOCK_1=128, num_warps=8, num_stages=1)
    return out
