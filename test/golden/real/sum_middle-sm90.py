import torch
import triton
import triton.language as tl


@triton.jit
def sum_middle_0_kernel(x, out, BLOCK_1: tl.constexpr):
    # only written: out
    # sums.py:31: for rows, cols in hl.tile([m, n]):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 40
    cols_block = pid % cols_blocks
    rows = pid // cols_blocks
    cols = cols_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    lanes = tl.arange(0, 128)
    lanes_mask = lanes < 100
    # sums.py:32: out[rows, cols] = x[rows, :, cols].sum(1)
    x_block = tl.load(
        x + rows.to(tl.int64) * 256000 + (lanes[:, None] * 2560 + cols[None, :]), mask=lanes_mask[:, None], other=0.0
    )
    tl.store(out + rows.to(tl.int64) * 2560 + cols, tl.sum(x_block.to(tl.float32), axis=0).to(tl.bfloat16))


def sum_middle(x):
    # sums.py:30: out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    out = torch.empty((128, 2560), dtype=torch.bfloat16, device=x.device)
    # sums.py:31: for rows, cols in hl.tile([m, n]):
    sum_middle_0_kernel[(5120,)](x, out, BLOCK_1=64, num_warps=8, num_stages=1)
    return out
