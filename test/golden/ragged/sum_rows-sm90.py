import torch
import triton
import triton.language as tl


@triton.jit
def sum_rows_0_kernel(x, out, BLOCK_0: tl.constexpr):
    # only written: out
    # sums.py:13: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    lanes = tl.arange(0, 512)
    lanes_mask = lanes < 333
    # sums.py:14: out[rows] = x[rows, :].sum(1)
    x_block = tl.load(
        x + (rows[:, None] * 333 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :], other=0.0
    )
    tl.store(out + rows, tl.sum(x_block, axis=1), mask=rows_mask)


def sum_rows(x):
    # sums.py:12: out = torch.empty([m], dtype=x.dtype, device=x.device)
    out = torch.empty((75,), dtype=torch.float32, device=x.device)
    # sums.py:13: for rows in hl.tile(m):
    sum_rows_0_kernel[(3,)](x, out, BLOCK_0=32, num_warps=16, num_stages=1)
    return out
