import torch
import triton
import triton.language as tl


@triton.jit
def sum_columns_0_kernel(x, out, BLOCK_0: tl.constexpr):
    # only written: out
    # sums.py:22: for cols in hl.tile(n):
    pid = tl.program_id(0)
    cols = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    cols_mask = cols < 333
    lanes = tl.arange(0, 128)
    lanes_mask = lanes < 75
    # sums.py:23: out[cols] = x[:, cols].sum(0)
    x_block = tl.load(
        x + (lanes[:, None] * 333 + cols[None, :]), mask=lanes_mask[:, None] & cols_mask[None, :], other=0.0
    )
    tl.store(out + cols, tl.sum(x_block, axis=0), mask=cols_mask)


def sum_columns(x):
    # sums.py:21: out = torch.empty([n], dtype=x.dtype, device=x.device)
    out = torch.empty((333,), dtype=torch.float32, device=x.device)
    # sums.py:22: for cols in hl.tile(n):
    sum_columns_0_kernel[(3,)](x, out, BLOCK_0=128, num_warps=16, num_stages=1)
    return out
