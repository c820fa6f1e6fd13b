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
def bmm_0_kernel(x_desc, y_desc, out_desc, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr):
    # bmm.py:14: for tile_b, tile_m, tile_n in hl.tile([batch, m, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 4
    tile_n_block = pid % tile_n_blocks
    rest = pid // tile_n_blocks
    tile_m_blocks: tl.constexpr = 4
    tile_m_block = rest % tile_m_blocks
    tile_b = rest // tile_m_blocks
    tile_m = tile_m_block * BLOCK_1
    tile_n = tile_n_block * BLOCK_2
    # bmm.py:15: acc = hl.zeros([tile_b, tile_m, tile_n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_1, BLOCK_2], tl.float32)
    # bmm.py:16: for tile_k in hl.tile(k):
    for tile_k in range(0, 768, BLOCK_3):
        # bmm.py:17: acc = torch.baddbmm(acc, x[tile_b, tile_m, tile_k], y[tile_b, tile_k, tile_n])
        x_block = x_desc.load([tile_b, tile_m, tile_k]).reshape([BLOCK_1, BLOCK_3])
        y_block = y_desc.load([tile_b, tile_k, tile_n]).reshape([BLOCK_3, BLOCK_2])
        acc = tl.dot(x_block, y_block, acc)
    # bmm.py:18: out[tile_b, tile_m, tile_n] = acc.to(out.dtype)
    out_desc.store([tile_b, tile_m, tile_n], acc.to(tl.bfloat16).reshape([1, BLOCK_1, BLOCK_2]))


def bmm(x, y):
    # bmm.py:13: out = torch.empty([batch, m, n], dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    out = torch.empty((16, 512, 1000), dtype=torch.bfloat16, device=x.device)
    # bmm.py:14: for tile_b, tile_m, tile_n in hl.tile([batch, m, n]):
    bmm_0_kernel[(256,)](
        TensorDescriptor(_aligned(x), [16, 512, 768], [393216, 768, 1], [1, 128, 64]),
        TensorDescriptor(_aligned(y), [16, 768, 1000], [768000, 1000, 1], [1, 64, 256]),
        TensorDescriptor(out, [16, 512, 1000], [512000, 1000, 1], [1, 128, 256]),
        BLOCK_1=128,
        BLOCK_2=256,
        BLOCK_3=64,
        num_warps=8,
        num_stages=3,
    )
    return out
