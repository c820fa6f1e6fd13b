import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def cross_entropy_0_kernel(logits, labels, losses, flat, BLOCK_0: tl.constexpr):
    # only written: losses
    # cross_entropy.py:14: for rows in hl.tile(n):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    lanes = tl.arange(0, 512)
    lanes_mask = lanes < 333
    # cross_entropy.py:15: at_label = hl.load(flat, [rows.index * classes + labels[rows]]).to(torch.float32)
    labels_block = tl.load(labels + rows, mask=rows_mask, other=0)
    at_label = tl.load(flat + (rows * 333 + labels_block), mask=rows_mask)
    # cross_entropy.py:16: values = logits[rows, :].to(torch.float32)
    values = tl.load(
        logits + (rows[:, None] * 333 + lanes[None, :]),
        mask=rows_mask[:, None] & lanes_mask[None, :],
        other=float("-inf"),
    )
    # cross_entropy.py:17: largest = torch.amax(values, dim=-1)
    largest = tl.reduce(values, 1, _nan_max)
    # cross_entropy.py:18: total = torch.exp(values - largest[:, None]).sum(-1)
    total = tl.sum(tl.exp(values - largest[:, None]), axis=1)
    # cross_entropy.py:19: losses[rows] = torch.log(total) + largest - at_label
    tl.store(losses + rows, tl.log(total) + largest - at_label, mask=rows_mask)


def cross_entropy(logits, labels):
    # cross_entropy.py:12: losses = torch.empty([n], dtype=torch.float32, device=logits.device)
    losses = torch.empty((75,), dtype=torch.float32, device=logits.device)
    # cross_entropy.py:14: for rows in hl.tile(n):
    cross_entropy_0_kernel[(3,)](logits, labels, losses, logits, BLOCK_0=32, num_warps=16, num_stages=1)
    # cross_entropy.py:20: return losses.mean()
    array = torch.ops.aten.mean.default(losses)
    return array
