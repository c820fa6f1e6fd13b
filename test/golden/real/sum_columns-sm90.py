import torch
import triton
import triton.language as tl


@triton.jit
def sum_columns_0_kernel(x, value_parts, BLOCK_0: tl.constexpr, BLOCK_3: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: value_parts
    # sums.py:22: for cols in hl.tile(n):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 8
    part_block = pid % part_blocks
    cols = pid // part_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    part = part_block * BLOCK_3
    # sums.py:23: out[cols] = x[:, cols].sum(0)
    v = tl.zeros([256, BLOCK_0], tl.float32)
    for k_begin in range(part, part + BLOCK_3, BLOCK_1):
        k = k_begin + tl.arange(0, BLOCK_1)
        x_block = tl.load(x + (k[:, None] * 2560 + cols[None, :]))
        v = v + x_block.to(tl.float32)
    tl.store(value_parts + part_block.to(tl.int64) * 2560 + cols, tl.sum(v, axis=0))


@triton.jit
def sum_columns_1_kernel(out, value_parts, BLOCK_2: tl.constexpr):
    # only written: out
    # sums.py:22: for cols in hl.tile(n):
    pid = tl.program_id(0)
    cols = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
    # sums.py:23: out[cols] = x[:, cols].sum(0)
    value_parts_block = tl.load(value_parts + (tl.arange(0, 8)[:, None] * 2560 + cols[None, :]))
    tl.store(out + cols, tl.sum(value_parts_block, axis=0).to(tl.bfloat16))


def sum_columns(x):
    # sums.py:21: out = torch.empty([n], dtype=x.dtype, device=x.device)
    out = torch.empty((2560,), dtype=torch.bfloat16, device=x.device)
    # sums.py:22: for cols in hl.tile(n):
    value_parts = torch.empty((8, 2560), dtype=torch.float32, device=x.device)
    sum_columns_0_kernel[(640,)](x, value_parts, BLOCK_0=32, BLOCK_3=512, BLOCK_1=256, num_warps=8, num_stages=2)
    sum_columns_1_kernel[(40,)](out, value_parts, BLOCK_2=64, num_warps=4, num_stages=1)
    return out
