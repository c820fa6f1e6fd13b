import torch
import triton
import triton.language as tl


@triton.jit
def kl_divergence_0_kernel(predicted, target, losses, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: losses
    # divergence.py:13: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    # divergence.py:15: for cols in hl.tile(n):
    total_lanes = tl.zeros([BLOCK_0, 512], tl.float32)
    for cols_begin in range(0, 32000, BLOCK_1):
        cols = cols_begin + tl.arange(0, BLOCK_1)
        cols_mask = cols < 32000
        # divergence.py:16: wanted = target[rows, cols].to(torch.float32)
        target_block = tl.load(target + (rows[:, None] * 32000 + cols[None, :]), mask=cols_mask[None, :], other=0.0)
        wanted = target_block.to(tl.float32)
        # divergence.py:20: share, logarithm = wanted, torch.log(torch.clamp(wanted, min=smallest))
        logarithm = tl.log(tl.maximum(wanted, 1e-10, propagate_nan=tl.PropagateNan.ALL))
        # divergence.py:21: total += (share * (logarithm - predicted[rows, cols])).sum(1)
        predicted_block = tl.load(
            predicted + (rows[:, None] * 32000 + cols[None, :]), mask=cols_mask[None, :], other=0.0
        )
        total_lanes = total_lanes + wanted * (logarithm - predicted_block.to(tl.float32))
    total = tl.sum(total_lanes, axis=1)
    # divergence.py:22: losses[rows] = total
    tl.store(losses + rows, total)


def kl_divergence(predicted, target):
    # divergence.py:12: losses = torch.empty([m], dtype=torch.float32, device=predicted.device)
    losses = torch.empty((2048,), dtype=torch.float32, device=predicted.device)
    # divergence.py:13: for rows in hl.tile(m):
    kl_divergence_0_kernel[(1024,)](predicted, target, losses, BLOCK_0=2, BLOCK_1=512, num_warps=4, num_stages=2)
    # divergence.py:23: return losses.sum() / m
    array = torch.ops.aten.sum.default(losses)
    array_2 = torch.ops.aten.div.Tensor(array, 2048)
    return array_2
