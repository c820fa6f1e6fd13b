import torch
import triton
import triton.language as tl


@triton.jit
def js_divergence_0_kernel(predicted, target, losses, grad, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: losses, grad
    # divergence.py:32: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 35
    # divergence.py:34: for cols in hl.tile(n):
    total_lanes = tl.zeros([BLOCK_0, 128], tl.float32)
    for cols_begin in range(0, 333, BLOCK_1):
        cols = cols_begin + tl.arange(0, BLOCK_1)
        cols_mask = cols < 333
        # divergence.py:35: log_q, log_p = predicted[rows, cols].to(torch.float32), target[rows, cols].to(torch.float32)
        log_q = tl.load(predicted + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :])
        log_p = tl.load(target + (rows[:, None] * 333 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :])
        # divergence.py:36: q, p = torch.exp(log_q), torch.exp(log_p)
        q = tl.exp(log_q)
        p = tl.exp(log_p)
        # divergence.py:42: mean = beta * p + (1 - beta) * q
        v = 0.1 * p
        v_2 = 0.9 * q
        mean = v + v_2
        # divergence.py:43: log_mean = torch.log(mean)
        log_mean = tl.log(mean)
        # divergence.py:45: slope = (1 - beta) * q * (log_q - log_mean)
        slope = v_2 * (log_q - log_mean)
        # divergence.py:46: total += loss.sum(1)
        loss = tl.where(cols_mask[None, :], v * log_p + v_2 * log_q - mean * log_mean, 0.0)
        # divergence.py:47: grad[rows, cols] = (slope / m).to(grad.dtype)
        tl.store(
            grad + (rows[:, None] * 333 + cols[None, :]),
            tl.div_rn(slope, 35.0),
            mask=rows_mask[:, None] & cols_mask[None, :],
        )
        # divergence.py:46: total += loss.sum(1)
        total_lanes = total_lanes + loss
    total = tl.sum(total_lanes, axis=1)
    # divergence.py:48: losses[rows] = total
    tl.store(losses + rows, total, mask=rows_mask)


def js_divergence(predicted, target):
    # divergence.py:30: losses = torch.empty([m], dtype=torch.float32, device=predicted.device)
    losses = torch.empty((35,), dtype=torch.float32, device=predicted.device)
    # divergence.py:31: grad = torch.empty_like(predicted)
    grad = torch.empty((35, 333), dtype=torch.float32, device=predicted.device)
    # divergence.py:32: for rows in hl.tile(m):
    js_divergence_0_kernel[(3,)](predicted, target, losses, grad, BLOCK_0=16, BLOCK_1=128, num_warps=16, num_stages=2)
    # divergence.py:49: return losses.sum() / m, grad
    array = torch.ops.aten.sum.default(losses)
    array_2 = torch.ops.aten.div.Tensor(array, 35)
    return array_2, grad
