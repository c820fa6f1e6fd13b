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
def int16_matmul_0_kernel(
    x,
    weights,
    acc_parts_desc,
    BLOCK_0: tl.constexpr,
    BLOCK_1: tl.constexpr,
    BLOCK_5: tl.constexpr,
    BLOCK_2: tl.constexpr,
):
    # quantized.py:47: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 3
    part_block = pid % part_blocks
    rest = pid // part_blocks
    tile_n_blocks: tl.constexpr = 2
    tile_n_block = rest % tile_n_blocks
    tile_m_begin = rest // tile_n_blocks * BLOCK_0
    tile_m = tile_m_begin + tl.arange(0, BLOCK_0)
    tile_m_mask = tile_m < 35
    tile_n_begin = tile_n_block * BLOCK_1
    tile_n = tile_n_begin + tl.arange(0, BLOCK_1)
    tile_n_mask = tile_n < 200
    part = part_block * BLOCK_5
    # quantized.py:49: for tile_k in hl.tile(x.size(1)):
    v = min(part + BLOCK_5, 300)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    for tile_k_begin in range(part, v, BLOCK_2):
        tile_k = tile_k_begin + tl.arange(0, BLOCK_2)
        tile_k_mask = tile_k < v
        # quantized.py:50: acc = hl.dot(x[tile_m, tile_k], weights[tile_k, tile_n].to(x.dtype), acc=acc)
        x_block = tl.load(
            x + (tile_m[:, None] * 300 + tile_k[None, :]), mask=tile_m_mask[:, None] & tile_k_mask[None, :], other=0.0
        )
        weights_block = tl.load(
            weights + (tile_k[:, None] * 200 + tile_n[None, :]),
            mask=tile_k_mask[:, None] & tile_n_mask[None, :],
            other=0,
        )
        acc = tl.dot(x_block, weights_block.to(tl.float32), acc, input_precision="ieee")
    # quantized.py:49: for tile_k in hl.tile(x.size(1)):
    acc_parts_desc.store(
        [tl.cast(part_block, tl.int32), tile_m_begin, tile_n_begin], acc.reshape([1, BLOCK_0, BLOCK_1])
    )


@triton.jit
def int16_matmul_1_kernel(out, acc_parts, BLOCK_3: tl.constexpr, BLOCK_4: tl.constexpr):
    # only written: out
    # quantized.py:47: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 13
    tile_n_block = pid % tile_n_blocks
    tile_m = pid // tile_n_blocks * BLOCK_3 + tl.arange(0, BLOCK_3)
    tile_m_mask = tile_m < 35
    tile_n = tile_n_block * BLOCK_4 + tl.arange(0, BLOCK_4)
    tile_n_mask = tile_n < 200
    lanes = tl.arange(0, 4)
    lanes_mask = lanes < 3
    # quantized.py:49: for tile_k in hl.tile(x.size(1)):
    acc_parts_block = tl.load(
        acc_parts + (lanes[:, None, None] * 7000 + tile_m[None, :, None] * 200 + tile_n[None, None, :]),
        mask=lanes_mask[:, None, None] & tile_m_mask[None, :, None] & tile_n_mask[None, None, :],
        other=0.0,
    )
    acc = tl.sum(acc_parts_block, axis=0)
    # quantized.py:51: out[tile_m, tile_n] = acc.to(out.dtype)
    tl.store(out + (tile_m[:, None] * 200 + tile_n[None, :]), acc, mask=tile_m_mask[:, None] & tile_n_mask[None, :])


def int16_matmul(x, weights):
    # quantized.py:46: out = torch.empty([m, n], dtype=x.dtype)
    out = torch.empty((35, 200), dtype=torch.float32, device=x.device)
    # quantized.py:47: for tile_m, tile_n in hl.tile([m, n]):
    acc_parts = torch.empty((3, 35, 200), dtype=torch.float32, device=x.device)
    int16_matmul_0_kernel[(12,)](
        x,
        weights,
        TensorDescriptor(acc_parts, [3, 35, 200], [7000, 200, 1], [1, 32, 128]),
        BLOCK_0=32,
        BLOCK_1=128,
        BLOCK_5=128,
        BLOCK_2=128,
        num_warps=4,
        num_stages=3,
    )
    int16_matmul_1_kernel[(26,)](out, acc_parts, BLOCK_3=32, BLOCK_4=16, num_warps=4, num_stages=1)
    return out
