import torch
import triton
import triton.language as tl


@triton.jit
def long_sum_0_kernel(x, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # sums.py:40: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    # sums.py:42: for cols in hl.tile(n):
    total_lanes = tl.zeros([BLOCK_0, 512], tl.float32)
    for cols_begin in range(0, 2560, BLOCK_1):
        cols = cols_begin + tl.arange(0, BLOCK_1)
        # sums.py:43: total += x[rows, cols].to(torch.float32).sum(1)
        x_block = tl.load(x + (rows[:, None] * 2560 + cols[None, :]))
        total_lanes = total_lanes + x_block.to(tl.float32)
    total = tl.sum(total_lanes, axis=1)
    # sums.py:44: out[rows] = total.to(x.dtype)
    tl.store(out + rows, total.to(tl.bfloat16))


def long_sum(x):
    # sums.py:39: out = torch.empty([m], dtype=x.dtype, device=x.device)
    out = torch.empty((4096,), dtype=torch.bfloat16, device=x.device)
    # sums.py:40: for rows in hl.tile(m):
    long_sum_0_kernel[(1024,)](x, out, BLOCK_0=4, BLOCK_1=512, num_warps=4, num_stages=2)
    return out
