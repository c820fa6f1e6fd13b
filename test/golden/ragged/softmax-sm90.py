import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def softmax_0_kernel(x, out, BLOCK_0: tl.constexpr):
    # only written: out
    # softmax.py:13: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    lanes = tl.arange(0, 512)
    lanes_mask = lanes < 333
    # softmax.py:14: out[rows, :] = torch.softmax(x[rows, :], dim=1)
    x_block = tl.load(
        x + (rows[:, None] * 333 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :], other=float("-inf")
    )
    v = tl.exp(x_block - tl.reduce(x_block, 1, _nan_max)[:, None])
    tl.store(
        out + (rows[:, None] * 333 + lanes[None, :]),
        tl.div_rn(v, tl.sum(v, axis=1)[:, None]),
        mask=rows_mask[:, None] & lanes_mask[None, :],
    )


def softmax(x):
    # softmax.py:12: out = torch.empty_like(x)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # softmax.py:13: for rows in hl.tile(m):
    softmax_0_kernel[(3,)](x, out, BLOCK_0=32, num_warps=16, num_stages=1)
    return out
