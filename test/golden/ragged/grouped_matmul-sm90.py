import torch
import triton
import triton.language as tl


@triton.jit
def grouped_matmul_0_kernel(
    x, weights, offsets, out, BLOCK_2: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_3: tl.constexpr
):
    # only written: out
    # packed.py:56: for g in hl.grid(groups):
    pid = tl.program_id(0)
    n_blocks: tl.constexpr = 3
    n_block = pid % n_blocks
    g = pid // n_blocks
    n = n_block * BLOCK_2 + tl.arange(0, BLOCK_2)
    n_mask = n < 333
    # packed.py:57: for m, n in hl.tile([offsets[g], 0], [offsets[g + 1], columns]):
    offsets_block = tl.load(offsets + g)
    offsets_block_2 = tl.load(offsets + (g + 1))
    v = offsets_block_2.to(tl.int32)
    for m_begin in range(offsets_block.to(tl.int32), v, BLOCK_1):
        m = m_begin + tl.arange(0, BLOCK_1)
        m_mask = m < v
        # packed.py:58: acc = hl.zeros([m, n], dtype=torch.float32)
        acc = tl.zeros([BLOCK_1, BLOCK_2], tl.float32)
        # packed.py:59: for k in hl.tile(inner):
        for k_begin in range(0, 200, BLOCK_3):
            k = k_begin + tl.arange(0, BLOCK_3)
            k_mask = k < 200
            # packed.py:60: acc = torch.addmm(acc, x[m, k], weights[g, k, n])
            x_block = tl.load(x + (m[:, None] * 200 + k[None, :]), mask=m_mask[:, None] & k_mask[None, :], other=0.0)
            weights_block = tl.load(
                weights + g.to(tl.int64) * 66600 + (k[:, None] * 333 + n[None, :]),
                mask=k_mask[:, None] & n_mask[None, :],
                other=0.0,
            )
            acc = tl.dot(x_block, weights_block, acc, input_precision="ieee")
        # packed.py:61: out[m, n] = acc.to(x.dtype)
        tl.store(out + (m[:, None] * 333 + n[None, :]), acc, mask=m_mask[:, None] & n_mask[None, :])


def grouped_matmul(x, weights, offsets):
    # packed.py:55: out = torch.empty([x.size(0), columns], dtype=x.dtype)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # packed.py:56: for g in hl.grid(groups):
    grouped_matmul_0_kernel[(15,)](
        x, weights, offsets, out, BLOCK_2=128, BLOCK_1=16, BLOCK_3=128, num_warps=4, num_stages=3
    )
    return out
