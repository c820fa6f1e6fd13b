import torch
import triton
import triton.language as tl


@triton.jit
def int4_matmul_0_kernel(
    x, packed, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_3: tl.constexpr, BLOCK_2: tl.constexpr
):
    # only written: out
    # quantized.py:15: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 2
    tile_n_block = pid % tile_n_blocks
    tile_m = pid // tile_n_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_m_mask = tile_m < 35
    tile_n = tile_n_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    tile_n_mask = tile_n < 200
    # quantized.py:16: acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    # quantized.py:17: for pair in hl.tile(packed.size(0), block_size=pairs):
    acc_2 = tl.full([32, 128], True, tl.int1)
    for pair_begin in range(0, 128, BLOCK_3):
        pair = pair_begin + tl.arange(0, BLOCK_3)
        pair_mask = pair < 128
        begin = pair_begin * 2
        # quantized.py:19: low, high = nibbles(packed[pair, tile_n])
        packed_block = tl.load(
            packed + (pair[:, None] * 200 + tile_n[None, :]), mask=pair_mask[:, None] & tile_n_mask[None, :], other=0
        )
        # quantized.py:84: return (packed << 4) >> 4, packed >> 4
        low = packed_block << 4 >> 4
        high = packed_block >> 4
        # quantized.py:20: both = torch.stack([low.to(x.dtype), high.to(x.dtype)], 1).reshape(2 * pairs, tile_n.block_size)
        v = tl.permute(tl.join(low.to(tl.float32), high.to(tl.float32)), [0, 2, 1])
        both = tl.reshape(tl.where(pair_mask[:, None, None], v, 0.0), [256, BLOCK_1])
        v_2 = tl.reshape(tl.broadcast_to(pair_mask[:, None], [128, 2]), [256])
        # quantized.py:21: acc = hl.dot(x[tile_m, begin : begin + 2 * pairs], both, acc=acc)
        x_block = tl.load(
            x + (tile_m[:, None] * 300 + (tl.arange(0, 256) + tl.cast(begin, tl.int32))[None, :]),
            mask=tile_m_mask[:, None],
        )
        both_2 = tl.where(v_2[:, None], both, 0.0)
        acc = tl.dot(x_block, both_2, acc, input_precision="ieee")
    # quantized.py:17: for pair in hl.tile(packed.size(0), block_size=pairs):
    acc_3 = acc
    acc_4 = acc_2
    for pair_begin_2 in range(128, 150, BLOCK_2):
        pair_2 = pair_begin_2 + tl.arange(0, BLOCK_2)
        pair_2_mask = pair_2 < 150
        begin_2 = pair_begin_2 * 2
        # quantized.py:19: low, high = nibbles(packed[pair, tile_n])
        packed_block_2 = tl.load(
            packed + (pair_2[:, None] * 200 + tile_n[None, :]),
            mask=pair_2_mask[:, None] & tile_n_mask[None, :],
            other=0,
        )
        # quantized.py:84: return (packed << 4) >> 4, packed >> 4
        low_2 = packed_block_2 << 4 >> 4
        high_2 = packed_block_2 >> 4
        # quantized.py:20: both = torch.stack([low.to(x.dtype), high.to(x.dtype)], 1).reshape(2 * pairs, tile_n.block_size)
        v_3 = tl.permute(tl.join(low_2.to(tl.float32), high_2.to(tl.float32)), [0, 2, 1])
        both_3 = tl.reshape(tl.where(pair_2_mask[:, None, None], v_3, 0.0), [256, BLOCK_1])
        v_4 = tl.reshape(tl.broadcast_to(pair_2_mask[:, None], [128, 2]), [256])
        # quantized.py:21: acc = hl.dot(x[tile_m, begin : begin + 2 * pairs], both, acc=acc)
        x_block_2 = tl.load(
            x + (tile_m[:, None] * 300 + (tl.arange(0, 256) + tl.cast(begin_2, tl.int32))[None, :]),
            mask=tile_m_mask[:, None] & (43 >= tl.arange(0, 256))[None, :],
            other=0.0,
        )
        both_4 = tl.where(v_4[:, None], both_3, 0.0)
        acc_3 = tl.dot(x_block_2, both_4, acc_3, input_precision="ieee")
    # quantized.py:22: out[tile_m, tile_n] = acc.to(out.dtype)
    tl.store(
        out + (tile_m[:, None] * 200 + tile_n[None, :]), acc_3, mask=tile_m_mask[:, None] & tile_n_mask[None, :] & acc_4
    )


def int4_matmul(x, packed):
    # quantized.py:13: out = torch.empty([m, n], dtype=x.dtype)
    out = torch.empty((35, 200), dtype=torch.float32, device=x.device)
    # quantized.py:15: for tile_m, tile_n in hl.tile([m, n]):
    int4_matmul_0_kernel[(4,)](
        x, packed, out, BLOCK_0=32, BLOCK_1=128, BLOCK_3=128, BLOCK_2=128, num_warps=4, num_stages=3
    )
    return out
