import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def _aligned(x):
    # The array of a descriptor begins at a multiple of 16 bytes.
    if x.data_ptr() % 16 == 0:
        return x
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)


@triton.jit
def int4_matmul_0_kernel(x, packed, out_desc, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # quantized.py:15: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    tile_n_blocks: tl.constexpr = 16
    group_cells = GROUP_M * tile_n_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    tile_m_block = first + inside % GROUP_M
    tile_n_block = inside // GROUP_M
    tile_m_begin = tile_m_block * BLOCK_0
    tile_m = tile_m_begin + tl.arange(0, BLOCK_0)
    tile_n_begin = tile_n_block * BLOCK_1
    tile_n = tile_n_begin + tl.arange(0, BLOCK_1)
    # quantized.py:16: acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    # quantized.py:17: for pair in hl.tile(packed.size(0), block_size=pairs):
    for pair_begin in range(0, 2048, BLOCK_2):
        pair = pair_begin + tl.arange(0, BLOCK_2)
        begin = pair_begin * 2
        # quantized.py:19: low, high = nibbles(packed[pair, tile_n])
        packed_block = tl.load(packed + (pair[:, None] * 4096 + tile_n[None, :]))
        # quantized.py:84: return (packed << 4) >> 4, packed >> 4
        low = packed_block << 4 >> 4
        high = packed_block >> 4
        # quantized.py:20: both = torch.stack([low.to(x.dtype), high.to(x.dtype)], 1).reshape(2 * pairs, tile_n.block_size)
        v = tl.permute(tl.join(low.to(tl.bfloat16), high.to(tl.bfloat16)), [0, 2, 1])
        both = tl.reshape(v, [64, BLOCK_1])
        # quantized.py:21: acc = hl.dot(x[tile_m, begin : begin + 2 * pairs], both, acc=acc)
        x_block = tl.load(x + (tile_m[:, None] * 4096 + (tl.arange(0, 64) + tl.cast(begin, tl.int32))[None, :]))
        acc = tl.dot(x_block, both, acc)
    # quantized.py:22: out[tile_m, tile_n] = acc.to(out.dtype)
    out_desc.store([tile_m_begin, tile_n_begin], acc.to(tl.bfloat16))


def int4_matmul(x, packed):
    # quantized.py:13: out = torch.empty([m, n], dtype=x.dtype)
    out = torch.empty((4096, 4096), dtype=torch.bfloat16, device=x.device)
    # quantized.py:15: for tile_m, tile_n in hl.tile([m, n]):
    int4_matmul_0_kernel[(512,)](
        x,
        packed,
        TensorDescriptor(out, [4096, 4096], [4096, 1], [128, 256]),
        BLOCK_0=128,
        BLOCK_1=256,
        BLOCK_2=32,
        num_warps=8,
        num_stages=4,
    )
    return out
