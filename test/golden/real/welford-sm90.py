import torch
import triton
import triton.language as tl


@triton.jit
def welford_0_kernel(x, weight, bias, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # only written: out
    # welford.py:15: for rows in hl.tile(m, block_size=block_m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    # welford.py:16: count = hl.zeros([rows], dtype=torch.float32)
    count = tl.zeros([BLOCK_0], tl.float32)
    mean = tl.zeros([BLOCK_0], tl.float32)
    squares = tl.zeros([BLOCK_0], tl.float32)
    # welford.py:19: for cols in hl.tile(n, block_size=block_n):
    for cols_begin in range(0, 2560, BLOCK_1):
        cols = cols_begin + tl.arange(0, BLOCK_1)
        # welford.py:20: chunk = x[rows, cols].to(torch.float32)
        x_block = tl.load(x + (rows[:, None] * 2560 + cols[None, :]))
        chunk = x_block.to(tl.float32)
        # welford.py:22: chunk_mean = chunk.sum(1) / size
        chunk_mean = tl.sum(chunk, axis=1) * 0.001953125
        # welford.py:23: centred = chunk - chunk_mean[:, None]
        centred = chunk - chunk_mean[:, None]
        # welford.py:24: delta = chunk_mean - mean
        delta = chunk_mean - mean
        # welford.py:25: grown = count + size
        grown = count + 512.0
        # welford.py:26: mean = mean + delta * (size / grown)
        v = 512.0 / grown
        # welford.py:28: count = grown
        count, mean, squares = (
            grown, mean + delta * v, squares + tl.sum(centred * centred, axis=1) + delta * delta * count * v
        )
    # welford.py:29: rstd = torch.rsqrt(squares / count + eps)
    rstd = tl.rsqrt(squares / count + 1e-05)
    # welford.py:30: for cols in hl.tile(n, block_size=block_n):
    for cols_begin_2 in range(0, 2560, BLOCK_2):
        cols_2 = cols_begin_2 + tl.arange(0, BLOCK_2)
        # welford.py:31: chunk = x[rows, cols].to(torch.float32)
        x_block_2 = tl.load(x + (rows[:, None] * 2560 + cols_2[None, :]))
        chunk_2 = x_block_2.to(tl.float32)
        # welford.py:32: scaled = (chunk - mean[:, None]) * rstd[:, None] * weight[cols].to(torch.float32)[None, :]
        weight_block = tl.load(weight + cols_2)
        scaled = (chunk_2 - mean[:, None]) * rstd[:, None] * weight_block.to(tl.float32)[None, :]
        # welford.py:33: out[rows, cols] = (scaled + bias[cols].to(torch.float32)[None, :]).to(x.dtype)
        bias_block = tl.load(bias + cols_2)
        v_2 = (scaled + bias_block.to(tl.float32)[None, :]).to(tl.bfloat16)
        tl.store(out + (rows[:, None] * 2560 + cols_2[None, :]), v_2)


def welford(x, weight, bias):
    # welford.py:12: out = torch.empty_like(x)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=x.device)
    # welford.py:15: for rows in hl.tile(m, block_size=block_m):
    welford_0_kernel[(2048,)](x, weight, bias, out, BLOCK_0=2, BLOCK_1=512, BLOCK_2=512, num_warps=4, num_stages=2)
    return out
