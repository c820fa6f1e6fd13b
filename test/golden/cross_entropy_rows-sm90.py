import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def cross_entropy_rows_0_kernel(logits, labels, losses):
    # only written: losses
    # cross_entropy.py:27: for rows in hl.tile(n):
    pid = tl.program_id(0)
    w2560 = tl.arange(0, 4096)
    w2560_mask = w2560 < 2560
    # cross_entropy.py:28: values = logits[rows, :].to(torch.float32)
    logits_block = tl.load(logits + pid.to(tl.int64) * 2560 + w2560, mask=w2560_mask, other=float("-inf"))
    values = logits_block.to(tl.float32)
    # cross_entropy.py:29: at_label = torch.gather(values, 1, labels[rows][:, None]).squeeze(1)
    labels_block = tl.load(labels + pid)
    logits_block_2 = tl.load(logits + (tl.cast(pid, tl.int32) * 2560 + tl.maximum(tl.minimum(labels_block, 2559), 0)))
    at_label = logits_block_2.to(tl.float32)
    # cross_entropy.py:30: largest = torch.amax(values, dim=-1)
    largest = tl.reduce(values, None, _nan_max)
    # cross_entropy.py:31: total = torch.exp(values - largest[:, None]).sum(-1)
    total = tl.sum(tl.exp(values - largest))
    # cross_entropy.py:32: losses[rows] = torch.log(total) + largest - at_label
    tl.store(losses + pid, tl.log(total) + largest - at_label)


def cross_entropy_rows(logits, labels):
    # cross_entropy.py:26: losses = torch.empty([n], dtype=torch.float32, device=logits.device)
    losses = torch.empty((4096,), dtype=torch.float32, device=logits.device)
    # cross_entropy.py:27: for rows in hl.tile(n):
    cross_entropy_rows_0_kernel[(4096,)](logits, labels, losses, num_warps=4, num_stages=1)
    return losses
