import torch
import triton
import triton.language as tl


@triton.jit
def standardize_0_kernel(x, mean, rstd, BLOCK_0: tl.constexpr):
    # only written: mean, rstd
    # standardize.py:15: for cols in hl.tile(n):
    pid = tl.program_id(0)
    cols = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    cols_mask = cols < 333
    lanes = tl.arange(0, 128)
    lanes_mask = lanes < 75
    # standardize.py:16: values = x[:, cols].to(torch.float32)
    values = tl.load(
        x + (lanes[:, None] * 333 + cols[None, :]), mask=lanes_mask[:, None] & cols_mask[None, :], other=0.0
    )
    # standardize.py:17: average = torch.mean(values, dim=0)
    average = tl.div_rn(tl.sum(values, axis=0), 75.0)
    # standardize.py:18: centred = values - average[None, :]
    centred = values - average[None, :]
    # standardize.py:19: mean[cols] = average
    tl.store(mean + cols, average, mask=cols_mask)
    # standardize.py:20: rstd[cols] = torch.rsqrt(torch.mean(centred * centred, dim=0) + eps)
    v = tl.sum(tl.where(lanes_mask[:, None], centred * centred, 0.0), axis=0)
    tl.store(rstd + cols, tl.rsqrt(v * 0.013333334 + 1e-05), mask=cols_mask)


@triton.jit
def standardize_1_kernel(x, mean, rstd, out, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # only written: out
    # standardize.py:22: for rows, cols in hl.tile([m, n]):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 3
    cols_block = pid % cols_blocks
    rows = pid // cols_blocks * BLOCK_1 + tl.arange(0, BLOCK_1)
    rows_mask = rows < 75
    cols = cols_block * BLOCK_2 + tl.arange(0, BLOCK_2)
    cols_mask = cols < 333
    # standardize.py:23: values = x[rows, cols].to(torch.float32)
    values = tl.load(x + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :])
    # standardize.py:24: out[rows, cols] = ((values - mean[cols][None, :]) * rstd[cols][None, :]).to(x.dtype)
    mean_block = tl.load(mean + cols, mask=cols_mask)
    rstd_block = tl.load(rstd + cols, mask=cols_mask)
    tl.store(
        out + (rows[:, None] * 333 + cols[None, :]),
        (values - mean_block[None, :]) * rstd_block[None, :],
        mask=rows_mask[:, None] & cols_mask[None, :],
    )


def standardize(x):
    # standardize.py:12: mean = torch.empty([n], dtype=torch.float32, device=x.device)
    mean = torch.empty((333,), dtype=torch.float32, device=x.device)
    # standardize.py:13: rstd = torch.empty([n], dtype=torch.float32, device=x.device)
    rstd = torch.empty((333,), dtype=torch.float32, device=x.device)
    # standardize.py:14: out = torch.empty_like(x)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # standardize.py:15: for cols in hl.tile(n):
    standardize_0_kernel[(3,)](x, mean, rstd, BLOCK_0=128, num_warps=16, num_stages=1)
    # standardize.py:22: for rows, cols in hl.tile([m, n]):
    standardize_1_kernel[(9,)](x, mean, rstd, out, BLOCK_1=32, BLOCK_2=128, num_warps=8, num_stages=1)
    return out
