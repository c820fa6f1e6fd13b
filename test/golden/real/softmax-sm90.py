import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def softmax_0_kernel(x, out):
    # only written: out
    # softmax.py:13: for rows in hl.tile(m):
    pid = tl.program_id(0)
    lanes = tl.arange(0, 4096)
    lanes_mask = lanes < 2560
    # softmax.py:14: out[rows, :] = torch.softmax(x[rows, :], dim=1)
    x_block = tl.load(x + pid.to(tl.int64) * 2560 + lanes, mask=lanes_mask, other=float("-inf"))
    v = x_block.to(tl.float32)
    v_2 = tl.exp(v - tl.reduce(v, None, _nan_max))
    tl.store(out + pid.to(tl.int64) * 2560 + lanes, (v_2 / tl.sum(v_2)).to(tl.bfloat16), mask=lanes_mask)


def softmax(x):
    # softmax.py:12: out = torch.empty_like(x)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=x.device)
    # softmax.py:13: for rows in hl.tile(m):
    softmax_0_kernel[(4096,)](x, out, num_warps=4, num_stages=1)
    return out
