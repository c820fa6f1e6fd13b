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
def swiglu_matmul_0_kernel(
    x_desc, gate_desc, up_desc, out_desc, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr
):
    # gated.py:69: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    tile_n_blocks: tl.constexpr = 32
    group_cells = GROUP_M * tile_n_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    tile_m_block = first + inside % GROUP_M
    tile_n_block = inside // GROUP_M
    tile_m = tile_m_block * BLOCK_0
    tile_n = tile_n_block * BLOCK_1
    # gated.py:70: opened = hl.zeros([tile_m, tile_n], dtype=torch.float32)
    lifted = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    opened = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    # gated.py:72: for tile_k in hl.tile(k):
    for tile_k in range(0, 4096, BLOCK_2):
        # gated.py:73: rows = x[tile_m, tile_k]
        rows = x_desc.load([tile_m, tile_k])
        # gated.py:74: opened = torch.addmm(opened, rows, gate[tile_k, tile_n])
        gate_block = gate_desc.load([tile_k, tile_n])
        # gated.py:75: lifted = torch.addmm(lifted, rows, up[tile_k, tile_n])
        up_block = up_desc.load([tile_k, tile_n])
        lifted = tl.dot(rows, up_block, lifted)
        # gated.py:74: opened = torch.addmm(opened, rows, gate[tile_k, tile_n])
        opened = tl.dot(rows, gate_block, opened)
    # gated.py:76: out[tile_m, tile_n] = (opened * torch.sigmoid(opened) * lifted).to(x.dtype)
    out_desc.store([tile_m, tile_n], (opened * tl.sigmoid(opened) * lifted).to(tl.bfloat16))


def swiglu_matmul(x, gate, up):
    # gated.py:68: out = torch.empty([m, n], dtype=x.dtype)
    out = torch.empty((4096, 4096), dtype=torch.bfloat16, device=x.device)
    # gated.py:69: for tile_m, tile_n in hl.tile([m, n]):
    swiglu_matmul_0_kernel[(1024,)](
        TensorDescriptor(_aligned(x), [4096, 4096], [4096, 1], [128, 64]),
        TensorDescriptor(_aligned(gate), [4096, 4096], [4096, 1], [64, 128]),
        TensorDescriptor(_aligned(up), [4096, 4096], [4096, 1], [64, 128]),
        TensorDescriptor(out, [4096, 4096], [4096, 1], [128, 128]),
        BLOCK_0=128,
        BLOCK_1=128,
        BLOCK_2=64,
        num_warps=8,
        num_stages=3,
    )
    return out
