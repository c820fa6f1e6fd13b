import torch
import triton
import triton.language as tl


@triton.jit
def add_0_kernel(x, y, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # add.py:13: for tile in hl.tile(out.size()):
    pid = tl.program_id(0)
    tile_blocks: tl.constexpr = 3
    tile_block = pid % tile_blocks
    tile = pid // tile_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_mask = tile < 75
    v = tile_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    v_mask = v < 333
    # add.py:14: out[tile] = x[tile] + y[tile]
    x_block = tl.load(x + (tile[:, None] * 333 + v[None, :]), mask=tile_mask[:, None] & v_mask[None, :])
    y_block = tl.load(y + (tile[:, None] + v[None, :] * 0), mask=tile_mask[:, None] & v_mask[None, :])
    tl.store(
        out + (tile[:, None] * 333 + v[None, :]),
        x_block + y_block.to(tl.float32),
        mask=tile_mask[:, None] & v_mask[None, :],
    )


def add(x, y):
    # add.py:11: x, y = torch.broadcast_tensors(x, y)
    y_2 = y.expand((75, 333))
    # add.py:12: out = torch.empty(x.shape, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # add.py:13: for tile in hl.tile(out.size()):
    add_0_kernel[(9,)](x, y_2, out, BLOCK_0=32, BLOCK_1=128, num_warps=8, num_stages=1)
    return out
