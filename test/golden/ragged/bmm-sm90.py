import torch
import triton
import triton.language as tl


@triton.jit
def bmm_0_kernel(
    x, y, acc_parts, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_7: tl.constexpr, BLOCK_3: tl.constexpr
):
    # only written: acc_parts
    # bmm.py:14: for tile_b, tile_m, tile_n in hl.tile([batch, m, n]):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 3
    part_block = pid % part_blocks
    rest = pid // part_blocks
    tile_n_blocks: tl.constexpr = 3
    tile_n_block = rest % tile_n_blocks
    rest_2 = rest // tile_n_blocks
    tile_m_blocks: tl.constexpr = 3
    tile_m_block = rest_2 % tile_m_blocks
    tile_b = rest_2 // tile_m_blocks
    tile_m = tile_m_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    tile_m_mask = tile_m < 75
    tile_n = tile_n_block * BLOCK_2 + tl.arange(0, BLOCK_2)
    tile_n_mask = tile_n < 333
    part = part_block * BLOCK_7
    # bmm.py:16: for tile_k in hl.tile(k):
    v = min(part + BLOCK_7, 300)
    acc = tl.zeros([BLOCK_1, BLOCK_2], tl.float32)
    for tile_k_begin in range(part, v, BLOCK_3):
        tile_k = tile_k_begin + tl.arange(0, BLOCK_3)
        tile_k_mask = tile_k < v
        # bmm.py:17: acc = torch.baddbmm(acc, x[tile_b, tile_m, tile_k], y[tile_b, tile_k, tile_n])
        x_block = tl.load(
            x + tile_b.to(tl.int64) * 22500 + (tile_m[:, None] * 300 + tile_k[None, :]),
            mask=tile_m_mask[:, None] & tile_k_mask[None, :],
            other=0.0,
        )
        y_block = tl.load(
            y + tile_b.to(tl.int64) * 99900 + (tile_k[:, None] * 333 + tile_n[None, :]),
            mask=tile_k_mask[:, None] & tile_n_mask[None, :],
            other=0.0,
        )
        acc = tl.dot(x_block, y_block, acc, input_precision="ieee")
    # bmm.py:16: for tile_k in hl.tile(k):
    tl.store(
        acc_parts + (part_block * 74925 + tile_b * 24975) + (tile_m[:, None] * 333 + tile_n[None, :]),
        acc,
        mask=tile_m_mask[:, None] & tile_n_mask[None, :],
    )


@triton.jit
def bmm_1_kernel(out, acc_parts, BLOCK_6: tl.constexpr):
    # only written: out
    # bmm.py:14: for tile_b, tile_m, tile_n in hl.tile([batch, m, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 2
    tile_n_block = pid % tile_n_blocks
    rest = pid // tile_n_blocks
    tile_m_blocks: tl.constexpr = 75
    tile_m_block = rest % tile_m_blocks
    tile_b = rest // tile_m_blocks
    tile_n = tile_n_block * BLOCK_6 + tl.arange(0, BLOCK_6)
    tile_n_mask = tile_n < 333
    lanes = tl.arange(0, 4)
    lanes_mask = lanes < 3
    # bmm.py:16: for tile_k in hl.tile(k):
    acc_parts_block = tl.load(
        acc_parts + (tile_b * 24975 + tile_m_block * 333) + (lanes[:, None] * 74925 + tile_n[None, :]),
        mask=lanes_mask[:, None] & tile_n_mask[None, :],
        other=0.0,
    )
    acc = tl.sum(acc_parts_block, axis=0)
    # bmm.py:18: out[tile_b, tile_m, tile_n] = acc.to(out.dtype)
    tl.store(out + (tile_b * 24975 + tile_m_block * 333) + tile_n, acc, mask=tile_n_mask)


def bmm(x, y):
    # bmm.py:13: out = torch.empty([batch, m, n], dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    out = torch.empty((3, 75, 333), dtype=torch.float32, device=x.device)
    # bmm.py:14: for tile_b, tile_m, tile_n in hl.tile([batch, m, n]):
    acc_parts = torch.empty((3, 3, 75, 333), dtype=torch.float32, device=x.device)
    bmm_0_kernel[(81,)](x, y, acc_parts, BLOCK_1=32, BLOCK_2=128, BLOCK_7=128, BLOCK_3=128, num_warps=4, num_stages=2)
    bmm_1_kernel[(450,)](out, acc_parts, BLOCK_6=256, num_warps=4, num_stages=1)
    return out
