import torch
import triton
import triton.language as tl


@triton.jit
def sum_rows_0_kernel(x, out, BLOCK_0: tl.constexpr):
    # only written: out
    # sums.py:13: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    lanes = tl.arange(0, 4096)
    lanes_mask = lanes < 2560
    # sums.py:14: out[rows] = x[rows, :].sum(1)
    x_block = tl.load(x + (rows[:, None] * 2560 + lanes[None, :]), mask=lanes_mask[None, :], other=0.0)
    tl.store(out + rows, tl.sum(x_block.to(tl.float32), axis=1).to(tl.bfloat16))


def sum_rows(x):
    # sums.py:12: out = torch.empty([m], dtype=x.dtype, device=x.device)
    out = torch.empty((4096,), dtype=torch.bfloat16, device=x.device)
    # sums.py:13: for rows in hl.tile(m):
    sum_rows_0_kernel[(2048,)](x, out, BLOCK_0=2, num_warps=8, num_stages=1)
    return out
