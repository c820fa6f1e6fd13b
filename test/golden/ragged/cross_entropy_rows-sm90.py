import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def cross_entropy_rows_0_kernel(logits, labels, losses, BLOCK_0: tl.constexpr):
    # only written: losses
    # cross_entropy.py:27: for rows in hl.tile(n):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    lanes = tl.arange(0, 512)
    lanes_mask = lanes < 333
    # cross_entropy.py:28: values = logits[rows, :].to(torch.float32)
    values = tl.load(
        logits + (rows[:, None] * 333 + lanes[None, :]),
        mask=rows_mask[:, None] & lanes_mask[None, :],
        other=float("-inf"),
    )
    # cross_entropy.py:29: at_label = torch.gather(values, 1, labels[rows][:, None]).squeeze(1)
    labels_block = tl.load(labels + rows, mask=rows_mask, other=0)
    logits_block = tl.load(
        logits + (rows[:, None] * 333 + tl.maximum(tl.minimum(labels_block[:, None], 332), 0)), mask=rows_mask[:, None]
    )
    at_label = tl.reshape(logits_block, [BLOCK_0])
    # cross_entropy.py:30: largest = torch.amax(values, dim=-1)
    largest = tl.reduce(values, 1, _nan_max)
    # cross_entropy.py:31: total = torch.exp(values - largest[:, None]).sum(-1)
    total = tl.sum(tl.exp(values - largest[:, None]), axis=1)
    # cross_entropy.py:32: losses[rows] = torch.log(total) + largest - at_label
    tl.store(losses + rows, tl.log(total) + largest - at_label, mask=rows_mask)


def cross_entropy_rows(logits, labels):
    # cross_entropy.py:26: losses = torch.empty([n], dtype=torch.float32, device=logits.device)
    losses = torch.empty((75,), dtype=torch.float32, device=logits.device)
    # cross_entropy.py:27: for rows in hl.tile(n):
    cross_entropy_rows_0_kernel[(3,)](logits, labels, losses, BLOCK_0=32, num_warps=16, num_stages=1)
    return losses
