import torch
import triton
import triton.language as tl


@triton.jit
def welford_0_kernel(x, weight, bias, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # only written: out
    # welford.py:15: for rows in hl.tile(m, block_size=block_m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    # welford.py:16: count = hl.zeros([rows], dtype=torch.float32)
    count = tl.zeros([BLOCK_0], tl.float32)
    mean = tl.zeros([BLOCK_0], tl.float32)
    squares = tl.zeros([BLOCK_0], tl.float32)
    # welford.py:19: for cols in hl.tile(n, block_size=block_n):
    for cols_begin in range(0, 333, BLOCK_1):
        cols = cols_begin + tl.arange(0, BLOCK_1)
        cols_mask = cols < 333
        # welford.py:20: chunk = x[rows, cols].to(torch.float32)
        chunk = tl.load(
            x + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :], other=0.0
        )
        # welford.py:21: size = cols.end - cols.begin
        size = min(cols_begin + BLOCK_1, 333) - cols_begin
        # welford.py:22: chunk_mean = chunk.sum(1) / size
        v = tl.cast(size, tl.int32).to(tl.float32)
        chunk_mean = tl.div_rn(tl.sum(chunk, axis=1), v)
        # welford.py:23: centred = chunk - chunk_mean[:, None]
        centred = chunk - chunk_mean[:, None]
        # welford.py:24: delta = chunk_mean - mean
        delta = chunk_mean - mean
        # welford.py:25: grown = count + size
        grown = count + v
        # welford.py:26: mean = mean + delta * (size / grown)
        v_2 = tl.div_rn(v, grown)
        # welford.py:27: squares = squares + (centred * centred).sum(1) + delta * delta * count * (size / grown)
        v_3 = tl.sum(tl.where(cols_mask[None, :], centred * centred, 0.0), axis=1)
        # welford.py:28: count = grown
        count, mean, squares = grown, mean + delta * v_2, squares + v_3 + delta * delta * count * v_2
    # welford.py:29: rstd = torch.rsqrt(squares / count + eps)
    rstd = tl.rsqrt(tl.div_rn(squares, count) + 1e-05)
    # welford.py:30: for cols in hl.tile(n, block_size=block_n):
    for cols_begin_2 in range(0, 333, BLOCK_2):
        cols_2 = cols_begin_2 + tl.arange(0, BLOCK_2)
        cols_2_mask = cols_2 < 333
        # welford.py:31: chunk = x[rows, cols].to(torch.float32)
        chunk_2 = tl.load(x + (rows[:, None] * 333 + cols_2[None, :]), mask=rows_mask[:, None] & cols_2_mask[None, :])
        # welford.py:32: scaled = (chunk - mean[:, None]) * rstd[:, None] * weight[cols].to(torch.float32)[None, :]
        weight_block = tl.load(weight + cols_2, mask=cols_2_mask)
        scaled = (chunk_2 - mean[:, None]) * rstd[:, None] * weight_block[None, :]
        # welford.py:33: out[rows, cols] = (scaled + bias[cols].to(torch.float32)[None, :]).to(x.dtype)
        bias_block = tl.load(bias + cols_2, mask=cols_2_mask)
        tl.store(
            out + (rows[:, None] * 333 + cols_2[None, :]),
            scaled + bias_block[None, :],
            mask=rows_mask[:, None] & cols_2_mask[None, :],
        )


def welford(x, weight, bias):
    # welford.py:12: out = torch.empty_like(x)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # welford.py:15: for rows in hl.tile(m, block_size=block_m):
    welford_0_kernel[(3,)](x, weight, bias, out, BLOCK_0=32, BLOCK_1=128, BLOCK_2=128, num_warps=8, num_stages=2)
    return out
