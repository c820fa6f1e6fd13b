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
def expert_matmul_0_kernel(
    experts, x_desc, weights_desc, out_desc, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr
):
    # packed.py:71: for m, n in hl.tile([x.size(0), columns], block_size=[block, None]):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    n_blocks: tl.constexpr = 6
    group_cells = GROUP_M * n_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    m_block = first + inside % GROUP_M
    n_block = inside // GROUP_M
    m = m_block * BLOCK_0
    n = n_block * BLOCK_1
    # packed.py:72: expert = experts[m.id]
    expert = tl.load(experts + m_block)
    # packed.py:73: acc = hl.zeros([m, n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    # packed.py:74: for k in hl.tile(inner):
    for k in range(0, 1000, BLOCK_2):
        # packed.py:75: acc = torch.addmm(acc, x[m, k], weights[expert, k, n])
        x_block = x_desc.load([m, k])
        weights_block = weights_desc.load([tl.cast(expert, tl.int32), k, n]).reshape([BLOCK_2, BLOCK_1])
        acc = tl.dot(x_block, weights_block, acc)
    # packed.py:76: out[m, n] = acc.to(x.dtype)
    out_desc.store([m, n], acc.to(tl.bfloat16))


def expert_matmul(x, weights, experts):
    # packed.py:70: out = torch.empty([x.size(0), columns], dtype=x.dtype)
    out = torch.empty((4096, 768), dtype=torch.bfloat16, device=x.device)
    # packed.py:71: for m, n in hl.tile([x.size(0), columns], block_size=[block, None]):
    expert_matmul_0_kernel[(192,)](
        experts,
        TensorDescriptor(_aligned(x), [4096, 1000], [1000, 1], [128, 128]),
        TensorDescriptor(_aligned(weights), [16, 1000, 768], [768000, 768, 1], [1, 128, 128]),
        TensorDescriptor(out, [4096, 768], [768, 1], [128, 128]),
        BLOCK_0=128,
        BLOCK_1=128,
        BLOCK_2=128,
        num_warps=8,
        num_stages=3,
    )
    return out
