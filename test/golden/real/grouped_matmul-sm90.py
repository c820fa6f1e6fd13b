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
def grouped_matmul_0_kernel(
    x, offsets, out, weights_desc, BLOCK_2: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_3: tl.constexpr
):
    # only written: out
    # packed.py:56: for g in hl.grid(groups):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 2
    part_block = pid % part_blocks
    rest = pid // part_blocks
    n_blocks: tl.constexpr = 6
    n_block = rest % n_blocks
    g = rest // n_blocks
    n_begin = n_block * BLOCK_2
    n = n_begin + tl.arange(0, BLOCK_2)
    # packed.py:57: for m, n in hl.tile([offsets[g], 0], [offsets[g + 1], columns]):
    offsets_block = tl.load(offsets + g)
    offsets_block_2 = tl.load(offsets + (g + 1))
    v = offsets_block.to(tl.int32)
    v_2 = offsets_block_2.to(tl.int32)
    visits = tl.cdiv(tl.cdiv(max(v_2 - v, 0), 128), 2)
    part_begin = v + part_block * visits * 128
    part_end = min(v_2, part_begin + visits * 128)
    for m_begin in range(part_begin, part_end, BLOCK_1):
        m = m_begin + tl.arange(0, BLOCK_1)
        m_mask = m < part_end
        # packed.py:58: acc = hl.zeros([m, n], dtype=torch.float32)
        acc = tl.zeros([BLOCK_1, BLOCK_2], tl.float32)
        # packed.py:59: for k in hl.tile(inner):
        for k_begin in range(0, 1000, BLOCK_3):
            k = k_begin + tl.arange(0, BLOCK_3)
            k_mask = k < 1000
            # packed.py:60: acc = torch.addmm(acc, x[m, k], weights[g, k, n])
            x_block = tl.load(x + (m[:, None] * 1000 + k[None, :]), mask=m_mask[:, None] & k_mask[None, :], other=0.0)
            weights_block = weights_desc.load([g, k_begin, n_begin]).reshape([BLOCK_3, BLOCK_2])
            acc = tl.dot(x_block, weights_block, acc)
        # packed.py:61: out[m, n] = acc.to(x.dtype)
        tl.store(out + (m[:, None] * 768 + n[None, :]), acc.to(tl.bfloat16), mask=m_mask[:, None])


def grouped_matmul(x, weights, offsets):
    # packed.py:55: out = torch.empty([x.size(0), columns], dtype=x.dtype)
    out = torch.empty((4096, 768), dtype=torch.bfloat16, device=x.device)
    # packed.py:56: for g in hl.grid(groups):
    grouped_matmul_0_kernel[(192,)](
        x,
        offsets,
        out,
        TensorDescriptor(_aligned(weights), [16, 1000, 768], [768000, 768, 1], [1, 128, 128]),
        BLOCK_2=128,
        BLOCK_1=128,
        BLOCK_3=128,
        num_warps=8,
        num_stages=3,
    )
    return out
