import torch
import triton
import triton.language as tl


@triton.jit
def jagged_jagged_bmm_0_kernel(x, y, offsets, out, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr):
    # only written: out
    # packed.py:41: for i in hl.grid(items):
    pid = tl.program_id(0)
    n_blocks: tl.constexpr = 5
    n_block = pid % n_blocks
    i = pid // n_blocks
    m = tl.arange(0, BLOCK_1)
    n = n_block * BLOCK_2 + tl.arange(0, BLOCK_2)
    n_mask = n < 300
    # packed.py:42: begin, end = offsets[i], offsets[i + 1]
    begin = tl.load(offsets + i)
    end = tl.load(offsets + (i + 1))
    # packed.py:45: for k in hl.tile(begin, end):
    begin_2 = begin.to(tl.int32)
    end_2 = end.to(tl.int32)
    # packed.py:44: acc = hl.zeros([m, n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_1, BLOCK_2], tl.float32)
    # packed.py:45: for k in hl.tile(begin, end):
    if begin_2 < end_2:
        for k_begin in range(begin_2, end_2, BLOCK_3):
            k = k_begin + tl.arange(0, BLOCK_3)
            k_mask = k < end_2
            # packed.py:46: acc = torch.addmm(acc, x[k, m].transpose(0, 1), y[k, n])
            x_block = tl.load(x + (k[:, None] * 256 + m[None, :]), mask=k_mask[:, None], other=0.0)
            y_block = tl.load(y + (k[:, None] * 300 + n[None, :]), mask=k_mask[:, None] & n_mask[None, :], other=0.0)
            acc = tl.dot(tl.trans(x_block), y_block, acc)
    # packed.py:47: out[i, m, n] = acc.to(x.dtype)
    tl.store(out + i.to(tl.int64) * 76800 + (m[:, None] * 300 + n[None, :]), acc.to(tl.bfloat16), mask=n_mask[None, :])


def jagged_jagged_bmm(x, y, offsets):
    # packed.py:40: out = torch.empty([items, rows, columns], dtype=x.dtype)
    out = torch.empty((64, 256, 300), dtype=torch.bfloat16, device=x.device)
    # packed.py:41: for i in hl.grid(items):
    jagged_jagged_bmm_0_kernel[(320,)](
        x, y, offsets, out, BLOCK_1=256, BLOCK_2=64, BLOCK_3=32, num_warps=8, num_stages=4
    )
    return out
