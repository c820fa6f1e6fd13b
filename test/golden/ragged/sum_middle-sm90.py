import torch
import triton
import triton.language as tl


@triton.jit
def sum_middle_0_kernel(x, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # sums.py:31: for rows, cols in hl.tile([m, n]):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 3
    cols_block = pid % cols_blocks
    rows = pid // cols_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 19
    cols = cols_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    cols_mask = cols < 333
    lanes = tl.arange(0, 32)
    lanes_mask = lanes < 21
    # sums.py:32: out[rows, cols] = x[rows, :, cols].sum(1)
    x_block = tl.load(
        x + (rows[:, None, None] * 6993 + lanes[None, :, None] * 333 + cols[None, None, :]),
        mask=rows_mask[:, None, None] & lanes_mask[None, :, None] & cols_mask[None, None, :],
        other=0.0,
    )
    tl.store(
        out + (rows[:, None] * 333 + cols[None, :]),
        tl.sum(x_block, axis=1),
        mask=rows_mask[:, None] & cols_mask[None, :],
    )


def sum_middle(x):
    # sums.py:30: out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    out = torch.empty((19, 333), dtype=torch.float32, device=x.device)
    # sums.py:31: for rows, cols in hl.tile([m, n]):
    sum_middle_0_kernel[(9,)](x, out, BLOCK_0=8, BLOCK_1=128, num_warps=16, num_stages=1)
    return out
