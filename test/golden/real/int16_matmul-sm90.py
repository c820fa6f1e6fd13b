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
    x_desc, weights_desc, out_desc, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr
):
    # quantized.py:47: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    tile_n_blocks: tl.constexpr = 16
    group_cells = GROUP_M * tile_n_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    tile_m_block = first + inside % GROUP_M
    tile_n_block = inside // GROUP_M
    tile_m = tile_m_block * BLOCK_0
    tile_n = tile_n_block * BLOCK_1
    # quantized.py:48: acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    # quantized.py:49: for tile_k in hl.tile(x.size(1)):
    for tile_k in range(0, 4096, BLOCK_2):
        # quantized.py:50: acc = hl.dot(x[tile_m, tile_k], weights[tile_k, tile_n].to(x.dtype), acc=acc)
        x_block = x_desc.load([tile_m, tile_k])
        weights_block = weights_desc.load([tile_k, tile_n])
        acc = tl.dot(x_block, weights_block.to(tl.bfloat16), acc)
    # quantized.py:51: out[tile_m, tile_n] = acc.to(out.dtype)
    out_desc.store([tile_m, tile_n], acc.to(tl.bfloat16))


def int16_matmul(x, weights):
    # quantized.py:46: out = torch.empty([m, n], dtype=x.dtype)
    out = torch.empty((4096, 4096), dtype=torch.bfloat16, device=x.device)
    # quantized.py:47: for tile_m, tile_n in hl.tile([m, n]):
    int16_matmul_0_kernel[(512,)](
        TensorDescriptor(_aligned(x), [4096, 4096], [4096, 1], [128, 64]),
        TensorDescriptor(_aligned(weights), [4096, 4096], [4096, 1], [64, 256]),
        TensorDescriptor(out, [4096, 4096], [4096, 1], [128, 256]),
        BLOCK_0=128,
        BLOCK_1=256,
        BLOCK_2=64,
        num_warps=8,
        num_stages=3,
    )
    return out
