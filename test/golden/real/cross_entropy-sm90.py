import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def cross_entropy_0_kernel(logits, labels, losses, flat):
    # only written: losses
    # cross_entropy.py:14: for rows in hl.tile(n):
    pid = tl.program_id(0)
    lanes = tl.arange(0, 4096)
    lanes_mask = lanes < 2560
    # cross_entropy.py:15: at_label = hl.load(flat, [rows.index * classes + labels[rows]]).to(torch.float32)
    labels_block = tl.load(labels + pid)
    flat_block = tl.load(flat + (tl.cast(pid, tl.int32) * 2560 + labels_block))
    at_label = flat_block.to(tl.float32)
    # cross_entropy.py:16: values = logits[rows, :].to(torch.float32)
    logits_block = tl.load(logits + pid.to(tl.int64) * 2560 + lanes, mask=lanes_mask, other=float("-inf"))
    values = logits_block.to(tl.float32)
    # cross_entropy.py:17: largest = torch.amax(values, dim=-1)
    largest = tl.reduce(values, None, _nan_max)
    # cross_entropy.py:18: total = torch.exp(values - largest[:, None]).sum(-1)
    total = tl.sum(tl.exp(values - largest))
    # cross_entropy.py:19: losses[rows] = torch.log(total) + largest - at_label
    tl.store(losses + pid, tl.log(total) + largest - at_label)


def cross_entropy(logits, labels):
    # cross_entropy.py:12: losses = torch.empty([n], dtype=torch.float32, device=logits.device)
    losses = torch.empty((4096,), dtype=torch.float32, device=logits.device)
    # cross_entropy.py:14: for rows in hl.tile(n):
    cross_entropy_0_kernel[(4096,)](logits, labels, losses, logits, num_warps=4, num_stages=1)
    # cross_entropy.py:20: return losses.mean()
    array = torch.ops.aten.mean.default(losses)
    return array
