"""Cross entropy of each row in one pass over its logits; the label's logit is loaded by itself."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits, labels, losses, classes: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = pid.to(tl.int64) * classes
    at_label = tl.load(logits + row + tl.load(labels + pid)).to(tl.float32)
    largest = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, classes, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(logits + row + at, mask=at < classes, other=-float("inf")).to(tl.float32)
        grown = tl.maximum(largest, values)
        known = tl.where(grown == -float("inf"), 0.0, grown)
        total = total * tl.exp(largest - known) + tl.exp(values - known)
        largest = grown
    top = tl.max(largest, 0)
    powers = tl.sum(total * tl.exp(largest - top), 0)
    tl.store(losses + pid, tl.log(powers) + top - at_label)


def cross_entropy(logits, labels):
    rows, classes = logits.shape
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    block = min(triton.next_power_of_2(classes), 4096)
    cross_entropy_kernel[(rows,)](logits, labels, losses, classes, BLOCK=block, num_warps=8)
    return losses
