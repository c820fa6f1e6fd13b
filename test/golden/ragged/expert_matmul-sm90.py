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
    weights, experts, out, x_desc, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr
):
    # only written: out
    # packed.py:71: for m, n in hl.tile([x.size(0), columns], block_size=[block, None]):
    pid = tl.program_id(0)
    n_blocks: tl.constexpr = 3
    n_block = pid % n_blocks
    v = pid // n_blocks
    m_begin = v * BLOCK_0
    m = m_begin + tl.arange(0, BLOCK_0)
    n = n_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    n_mask = n < 333
    # packed.py:72: expert = experts[m.id]
    expert = tl.load(experts + v)
    # packed.py:73: acc = hl.zeros([m, n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    # packed.py:74: for k in hl.tile(inner):
    for k_begin in range(0, 200, BLOCK_2):
        k = k_begin + tl.arange(0, BLOCK_2)
        k_mask = k < 200
        # packed.py:75: acc = torch.addmm(acc, x[m, k], weights[expert, k, n])
        x_block = x_desc.load([m_begin, k_begin])
        weights_block = tl.load(
            weights + expert * 66600 + (k[:, None] * 333 + n[None, :]),
            mask=k_mask[:, None] & n_mask[None, :],
            other=0.0,
        )
        acc = tl.dot(x_block, weights_block, acc, input_precision="ieee")
    # packed.py:76: out[m, n] = acc.to(x.dtype)
    tl.store(out + (m[:, None] * 333 + n[None, :]), acc, mask=n_mask[None, :])


def expert_matmul(x, weights, experts):
    # packed.py:70: out = torch.empty([x.size(0), columns], dtype=x.dtype)
    out = torch.empty((224, 333), dtype=torch.float32, device=x.device)
    # packed.py:71: for m, n in hl.tile([x.size(0), columns], block_size=[block, None]):
    expert_matmul_0_kernel[(21,)](
        weights,
        experts,
        out,
        TensorDescriptor(_aligned(x), [224, 200], [200, 1], [32, 128]),
        BLOCK_0=32,
        BLOCK_1=128,
        BLOCK_2=128,
        num_warps=4,
        num_stages=2,
    )
    return out
