import torch
import triton
import triton.language as tl


@triton.jit
def standardize_0_kernel(x, value_parts, BLOCK_0: tl.constexpr, BLOCK_4: tl.constexpr, BLOCK_3: tl.constexpr):
    # only written: value_parts
    # standardize.py:15: for cols in hl.tile(n):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 8
    part_block = pid % part_blocks
    cols = pid // part_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    part = part_block * BLOCK_4
    # standardize.py:17: average = torch.mean(values, dim=0)
    v = tl.zeros([256, BLOCK_0], tl.float32)
    for k_begin in range(part, part + BLOCK_4, BLOCK_3):
        k = k_begin + tl.arange(0, BLOCK_3)
        # standardize.py:16: values = x[:, cols].to(torch.float32)
        x_block = tl.load(x + (k[:, None] * 2560 + cols[None, :]))
        values = x_block.to(tl.float32)
        # standardize.py:17: average = torch.mean(values, dim=0)
        v = v + values
    tl.store(value_parts + part_block.to(tl.int64) * 2560 + cols, tl.sum(v, axis=0))


@triton.jit
def standardize_1_kernel(
    x, value_parts, value_parts_2, BLOCK_5: tl.constexpr, BLOCK_8: tl.constexpr, BLOCK_7: tl.constexpr
):
    # only written: value_parts_2
    # standardize.py:15: for cols in hl.tile(n):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 8
    part_block = pid % part_blocks
    cols = pid // part_blocks * BLOCK_5 + tl.arange(0, BLOCK_5)
    part = part_block * BLOCK_8
    # standardize.py:17: average = torch.mean(values, dim=0)
    value_parts_block = tl.load(value_parts + (tl.arange(0, 8)[:, None] * 2560 + cols[None, :]))
    average = tl.sum(value_parts_block, axis=0) * 0.00024414062
    # standardize.py:20: rstd[cols] = torch.rsqrt(torch.mean(centred * centred, dim=0) + eps)
    v = tl.zeros([256, BLOCK_5], tl.float32)
    for k_begin in range(part, part + BLOCK_8, BLOCK_7):
        k = k_begin + tl.arange(0, BLOCK_7)
        # standardize.py:16: values = x[:, cols].to(torch.float32)
        x_block = tl.load(x + (k[:, None] * 2560 + cols[None, :]))
        values = x_block.to(tl.float32)
        # standardize.py:18: centred = values - average[None, :]
        centred = values - average[None, :]
        # standardize.py:20: rstd[cols] = torch.rsqrt(torch.mean(centred * centred, dim=0) + eps)
        v = v + centred * centred
    tl.store(value_parts_2 + part_block.to(tl.int64) * 2560 + cols, tl.sum(v, axis=0))


@triton.jit
def standardize_2_kernel(mean, rstd, value_parts, value_parts_2, BLOCK_6: tl.constexpr):
    # only written: mean, rstd
    # standardize.py:15: for cols in hl.tile(n):
    pid = tl.program_id(0)
    cols = pid * BLOCK_6 + tl.arange(0, BLOCK_6)
    # standardize.py:17: average = torch.mean(values, dim=0)
    value_parts_block = tl.load(value_parts + (tl.arange(0, 8)[:, None] * 2560 + cols[None, :]))
    average = tl.sum(value_parts_block, axis=0) * 0.00024414062
    # standardize.py:20: rstd[cols] = torch.rsqrt(torch.mean(centred * centred, dim=0) + eps)
    value_parts_2_block = tl.load(value_parts_2 + (tl.arange(0, 8)[:, None] * 2560 + cols[None, :]))
    # standardize.py:19: mean[cols] = average
    tl.store(mean + cols, average)
    # standardize.py:20: rstd[cols] = torch.rsqrt(torch.mean(centred * centred, dim=0) + eps)
    v = tl.rsqrt(tl.sum(value_parts_2_block, axis=0) * 0.00024414062 + 1e-05)
    tl.store(rstd + cols, v)


@triton.jit
def standardize_3_kernel(x, mean, rstd, out, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # only written: out
    # standardize.py:22: for rows, cols in hl.tile([m, n]):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 5
    cols_block = pid % cols_blocks
    rows = pid // cols_blocks * BLOCK_1 + tl.arange(0, BLOCK_1)
    cols = cols_block * BLOCK_2 + tl.arange(0, BLOCK_2)
    # standardize.py:23: values = x[rows, cols].to(torch.float32)
    x_block = tl.load(x + (rows[:, None] * 2560 + cols[None, :]))
    values = x_block.to(tl.float32)
    # standardize.py:24: out[rows, cols] = ((values - mean[cols][None, :]) * rstd[cols][None, :]).to(x.dtype)
    mean_block = tl.load(mean + cols)
    rstd_block = tl.load(rstd + cols)
    v = ((values - mean_block[None, :]) * rstd_block[None, :]).to(tl.bfloat16)
    tl.store(out + (rows[:, None] * 2560 + cols[None, :]), v)


def standardize(x):
    # standardize.py:12: mean = torch.empty([n], dtype=torch.float32, device=x.device)
    mean = torch.empty((2560,), dtype=torch.float32, device=x.device)
    # standardize.py:13: rstd = torch.empty([n], dtype=torch.float32, device=x.device)
    rstd = torch.empty((2560,), dtype=torch.float32, device=x.device)
    # standardize.py:14: out = torch.empty_like(x)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=x.device)
    # standardize.py:15: for cols in hl.tile(n):
    value_parts = torch.empty((8, 2560), dtype=torch.float32, device=x.device)
    standardize_0_kernel[(640,)](x, value_parts, BLOCK_0=32, BLOCK_4=512, BLOCK_3=256, num_warps=8, num_stages=2)
    value_parts_2 = torch.empty((8, 2560), dtype=torch.float32, device=x.device)
    standardize_1_kernel[(640,)](
        x, value_parts, value_parts_2, BLOCK_5=32, BLOCK_8=512, BLOCK_7=256, num_warps=8, num_stages=2
    )
    standardize_2_kernel[(80,)](mean, rstd, value_parts, value_parts_2, BLOCK_6=32, num_warps=2, num_stages=1)
    # standardize.py:22: for rows, cols in hl.tile([m, n]):
    standardize_3_kernel[(2560,)](x, mean, rstd, out, BLOCK_1=8, BLOCK_2=512, num_warps=4, num_stages=1)
    return out
