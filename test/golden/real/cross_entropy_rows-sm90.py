import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def cross_entropy_rows_0_kernel(logits, labels, losses, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: losses
    # cross_entropy.py:27: for rows in hl.tile(n):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    # cross_entropy.py:29: at_label = torch.gather(values, 1, labels[rows][:, None]).squeeze(1)
    labels_block = tl.load(labels + rows)
    logits_block = tl.load(logits + (rows[:, None] * 2560 + tl.maximum(tl.minimum(labels_block[:, None], 2559), 0)))
    at_label = tl.reshape(logits_block.to(tl.float32), [BLOCK_0])
    # cross_entropy.py:30: largest = torch.amax(values, dim=-1)
    largest = tl.full([BLOCK_0], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_0], tl.float32)
    for k_begin in range(0, 2560, BLOCK_1):
        k = k_begin + tl.arange(0, BLOCK_1)
        # cross_entropy.py:28: values = logits[rows, :].to(torch.float32)
        logits_block_2 = tl.load(logits + (rows[:, None] * 2560 + k[None, :]))
        values = logits_block_2.to(tl.float32)
        # cross_entropy.py:30: largest = torch.amax(values, dim=-1)
        v = tl.maximum(largest, tl.reduce(values, 1, _nan_max), propagate_nan=tl.PropagateNan.ALL)
        # cross_entropy.py:31: total = torch.exp(values - largest[:, None]).sum(-1)
        v_2 = largest == v
        v_3 = tl.where((largest == float("-inf")) & ~v_2, 0.0, total * tl.where(v_2, 1.0, tl.exp(largest - v)))
        # cross_entropy.py:30: largest = torch.amax(values, dim=-1)
        largest = v
        # cross_entropy.py:31: total = torch.exp(values - largest[:, None]).sum(-1)
        total = v_3 + tl.sum(tl.exp(values - v[:, None]), axis=1)
    # cross_entropy.py:32: losses[rows] = torch.log(total) + largest - at_label
    tl.store(losses + rows, tl.log(total) + largest - at_label)


def cross_entropy_rows(logits, labels):
    # cross_entropy.py:26: losses = torch.empty([n], dtype=torch.float32, device=logits.device)
    losses = torch.empty((4096,), dtype=torch.float32, device=logits.device)
    # cross_entropy.py:27: for rows in hl.tile(n):
    cross_entropy_rows_0_kernel[(256,)](logits, labels, losses, BLOCK_0=16, BLOCK_1=512, num_warps=8, num_stages=2)
    return losses
