import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def cross_entropy_rows_backward_0_kernel(grad, logits, labels, out, BLOCK_0: tl.constexpr):
    # only written: out
    # cross_entropy.py:41: for rows in hl.tile(n):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    lanes = tl.arange(0, 512)
    lanes_mask = lanes < 333
    # cross_entropy.py:42: values = logits[rows, :].to(torch.float32)
    values = tl.load(
        logits + (rows[:, None] * 333 + lanes[None, :]),
        mask=rows_mask[:, None] & lanes_mask[None, :],
        other=float("-inf"),
    )
    # cross_entropy.py:43: shares = torch.softmax(values, dim=-1)
    v = tl.exp(values - tl.reduce(values, 1, _nan_max)[:, None])
    shares = tl.div_rn(v, tl.sum(v, axis=1)[:, None])
    # cross_entropy.py:44: hit = hl.arange(classes)[None, :] == labels[rows][:, None]
    labels_block = tl.load(labels + rows, mask=rows_mask, other=0)
    hit = tl.arange(0, 512)[None, :] == labels_block[:, None]
    # cross_entropy.py:45: out[rows, :] = (grad[rows][:, None] * (shares - hit.to(torch.float32))).to(logits.dtype)
    grad_block = tl.load(grad + rows, mask=rows_mask)
    tl.store(
        out + (rows[:, None] * 333 + lanes[None, :]),
        grad_block[:, None] * (shares - hit.to(tl.float32)),
        mask=rows_mask[:, None] & lanes_mask[None, :],
    )


def cross_entropy_rows_backward(grad, logits, labels):
    # cross_entropy.py:40: out = torch.empty_like(logits)
    out = torch.empty((75, 333), dtype=torch.float32, device=grad.device)
    # cross_entropy.py:41: for rows in hl.tile(n):
    cross_entropy_rows_backward_0_kernel[(3,)](grad, logits, labels, out, BLOCK_0=32, num_warps=16, num_stages=1)
    return out
