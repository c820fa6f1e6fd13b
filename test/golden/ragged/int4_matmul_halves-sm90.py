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
def int4_matmul_halves_0_kernel(
    packed, even, odd, out_desc, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr
):
    # quantized.py:32: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 2
    tile_n_block = pid % tile_n_blocks
    tile_m_begin = pid // tile_n_blocks * BLOCK_0
    tile_m = tile_m_begin + tl.arange(0, BLOCK_0)
    tile_m_mask = tile_m < 35
    tile_n_begin = tile_n_block * BLOCK_1
    tile_n = tile_n_begin + tl.arange(0, BLOCK_1)
    tile_n_mask = tile_n < 200
    # quantized.py:33: acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    # quantized.py:34: for pair in hl.tile(packed.size(0)):
    for pair_begin in range(0, 150, BLOCK_2):
        pair = pair_begin + tl.arange(0, BLOCK_2)
        pair_mask = pair < 150
        # quantized.py:35: low, high = nibbles(packed[pair, tile_n])
        packed_block = tl.load(
            packed + (pair[:, None] * 200 + tile_n[None, :]), mask=pair_mask[:, None] & tile_n_mask[None, :], other=0
        )
        # quantized.py:84: return (packed << 4) >> 4, packed >> 4
        low = packed_block << 4 >> 4
        high = packed_block >> 4
        # quantized.py:36: acc = hl.dot(even[tile_m, pair], low.to(x.dtype), acc=acc)
        even_block = tl.load(
            even + (tile_m[:, None] * 300 + pair[None, :] * 2),
            mask=tile_m_mask[:, None] & pair_mask[None, :],
            other=0.0,
        )
        acc_2 = tl.dot(even_block, tl.where(pair_mask[:, None], low.to(tl.float32), 0.0), acc, input_precision="ieee")
        # quantized.py:37: acc = hl.dot(odd[tile_m, pair], high.to(x.dtype), acc=acc)
        odd_block = tl.load(
            odd + (tile_m[:, None] * 300 + pair[None, :] * 2), mask=tile_m_mask[:, None] & pair_mask[None, :], other=0.0
        )
        acc = tl.dot(odd_block, tl.where(pair_mask[:, None], high.to(tl.float32), 0.0), acc_2, input_precision="ieee")
    # quantized.py:38: out[tile_m, tile_n] = acc.to(out.dtype)
    out_desc.store([tile_m_begin, tile_n_begin], acc)


def int4_matmul_halves(x, packed):
    # quantized.py:30: even, odd = x[:, 0::2], x[:, 1::2]
    even = x[:, 0:299:2]
    odd = x[:, 1:300:2]
    # quantized.py:31: out = torch.empty([m, n], dtype=x.dtype)
    out = torch.empty((35, 200), dtype=torch.float32, device=x.device)
    # quantized.py:32: for tile_m, tile_n in hl.tile([m, n]):
    int4_matmul_halves_0_kernel[(4,)](
        packed,
        even,
        odd,
        TensorDescriptor(out, [35, 200], [200, 1], [32, 128]),
        BLOCK_0=32,
        BLOCK_1=128,
        BLOCK_2=128,
        num_warps=4,
        num_stages=3,
    )
    return out
