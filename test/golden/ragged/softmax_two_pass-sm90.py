import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def softmax_two_pass_0_kernel(
    x, largest_parts, total_parts, BLOCK_0: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_1: tl.constexpr
):
    # only written: largest_parts, total_parts
    # softmax.py:36: for rows in hl.tile(m, block_size=block_m):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 3
    part_block = pid % part_blocks
    rows = pid // part_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    part = part_block * BLOCK_2
    # softmax.py:39: for cols in hl.tile(n, block_size=block_n):
    v = min(part + BLOCK_2, 333)
    largest = tl.full([BLOCK_0], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_0], tl.float32)
    for cols_begin in range(part, v, BLOCK_1):
        cols = cols_begin + tl.arange(0, BLOCK_1)
        cols_mask = cols < v
        # softmax.py:40: values = x[rows, cols].to(torch.float32)
        values = tl.load(
            x + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :], other=float("-inf")
        )
        # softmax.py:41: grown = torch.maximum(largest, torch.amax(values, dim=1))
        grown = tl.maximum(largest, tl.reduce(values, 1, _nan_max), propagate_nan=tl.PropagateNan.ALL)
        # softmax.py:42: total = total * torch.exp(largest - grown) + torch.exp(values - grown[:, None]).sum(dim=1)
        v_2 = tl.where(cols_mask[None, :], tl.exp(values - grown[:, None]), 0.0)
        # softmax.py:43: largest = grown
        largest, total = grown, total * tl.exp(largest - grown) + tl.sum(v_2, axis=1)
    # softmax.py:39: for cols in hl.tile(n, block_size=block_n):
    tl.store(largest_parts + part_block.to(tl.int64) * 75 + rows, largest, mask=rows_mask)
    tl.store(total_parts + part_block.to(tl.int64) * 75 + rows, total, mask=rows_mask)


@triton.jit
def softmax_two_pass_1_kernel(x, out, largest_parts, total_parts, BLOCK_3: tl.constexpr, BLOCK_5: tl.constexpr):
    # only written: out
    # softmax.py:36: for rows in hl.tile(m, block_size=block_m):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 3
    cols_block = pid % cols_blocks
    rows = pid // cols_blocks * BLOCK_3 + tl.arange(0, BLOCK_3)
    rows_mask = rows < 75
    cols = cols_block * BLOCK_5 + tl.arange(0, BLOCK_5)
    cols_mask = cols < 333
    lanes = tl.arange(0, 4)
    lanes_mask = lanes < 3
    # softmax.py:39: for cols in hl.tile(n, block_size=block_n):
    largest_parts_block = tl.load(
        largest_parts + (lanes[:, None] * 75 + rows[None, :]),
        mask=lanes_mask[:, None] & rows_mask[None, :],
        other=float("-inf"),
    )
    total_parts_block = tl.load(
        total_parts + (lanes[:, None] * 75 + rows[None, :]), mask=lanes_mask[:, None] & rows_mask[None, :]
    )
    largest = tl.reduce(largest_parts_block, 0, _nan_max)
    v = largest_parts_block == largest[None, :]
    v_2 = tl.where(v, 1.0, tl.exp(largest_parts_block - largest[None, :]))
    v_3 = tl.where((largest_parts_block == float("-inf")) & ~v, 0.0, total_parts_block * v_2)
    total = tl.sum(tl.where(lanes_mask[:, None], v_3, 0.0), axis=0)
    # softmax.py:45: values = x[rows, cols].to(torch.float32)
    values = tl.load(x + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :])
    # softmax.py:46: out[rows, cols] = (torch.exp(values - largest[:, None]) / total[:, None]).to(x.dtype)
    tl.store(
        out + (rows[:, None] * 333 + cols[None, :]),
        tl.div_rn(tl.exp(values - largest[:, None]), total[:, None]),
        mask=rows_mask[:, None] & cols_mask[None, :],
    )


def softmax_two_pass(x):
    # softmax.py:33: out = torch.empty_like(x)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # softmax.py:36: for rows in hl.tile(m, block_size=block_m):
    largest_parts = torch.empty((3, 75), dtype=torch.float32, device=x.device)
    total_parts = torch.empty((3, 75), dtype=torch.float32, device=x.device)
    softmax_two_pass_0_kernel[(9,)](
        x, largest_parts, total_parts, BLOCK_0=32, BLOCK_2=128, BLOCK_1=128, num_warps=8, num_stages=2
    )
    softmax_two_pass_1_kernel[(9,)](
        x, out, largest_parts, total_parts, BLOCK_3=32, BLOCK_5=128, num_warps=8, num_stages=1
    )
    return out
