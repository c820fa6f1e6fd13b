import torch
import triton
import triton.language as tl


@triton.jit
def rotary_backward_0_kernel(grad_q, grad_k, cos, sin, q_out, k_out):
    # only written: q_out, k_out
    # rotary.py:42: for items, steps in hl.tile([batch, length]):
    pid = tl.program_id(0)
    steps_blocks: tl.constexpr = 2048
    steps_block = pid % steps_blocks
    items = pid // steps_blocks
    # rotary.py:43: angles = cos[items, steps, :], sin[items, steps, :]
    cos_block = tl.load(cos + (items * 262144 + steps_block * 128) + tl.arange(0, 64))
    cos_block_2 = tl.load(cos + (items * 262144 + steps_block * 128) + (64 + tl.arange(0, 64)))
    sin_block = tl.load(sin + (items * 262144 + steps_block * 128) + tl.arange(0, 64))
    sin_block_2 = tl.load(sin + (items * 262144 + steps_block * 128) + (64 + tl.arange(0, 64)))
    # rotary.py:44: q_out[items, :, steps, :] = turned_back(grad_q[items, :, steps, :], *angles)
    grad_q_block = tl.load(
        grad_q + (items * 8388608 + steps_block * 128) + (
            tl.arange(0, 32)[:, None] * 262144 + tl.arange(0, 64)[None, :]
        ),
    )
    grad_q_block_2 = tl.load(
        grad_q + (items * 8388608 + steps_block * 128) + (
            tl.arange(0, 32)[:, None] * 262144 + (64 + tl.arange(0, 64))[None, :]
        ),
    )
    # rotary.py:20: first, second = grad.to(torch.float32).chunk(2, dim=-1)
    first = grad_q_block.to(tl.float32)
    second = grad_q_block_2.to(tl.float32)
    # rotary.py:21: cos_first, cos_second = cos.to(torch.float32)[:, None].chunk(2, dim=-1)
    cos_first = cos_block.to(tl.float32)[None, :]
    cos_second = cos_block_2.to(tl.float32)[None, :]
    # rotary.py:22: sin_first, sin_second = sin.to(torch.float32)[:, None].chunk(2, dim=-1)
    sin_first = sin_block.to(tl.float32)[None, :]
    sin_second = sin_block_2.to(tl.float32)[None, :]
    # rotary.py:44: q_out[items, :, steps, :] = turned_back(grad_q[items, :, steps, :], *angles)
    tl.store(
        q_out + (items * 8388608 + steps_block * 128) + (
            tl.arange(0, 32)[:, None] * 262144 + tl.arange(0, 64)[None, :]
        ),
        (first * cos_first + second * sin_second).to(tl.bfloat16),
    )
    tl.store(
        q_out + (items * 8388608 + steps_block * 128) + (
            tl.arange(0, 32)[:, None] * 262144 + (64 + tl.arange(0, 64))[None, :]
        ),
        (second * cos_second - first * sin_first).to(tl.bfloat16),
    )
    # rotary.py:45: k_out[items, :, steps, :] = turned_back(grad_k[items, :, steps, :], *angles)
    grad_k_block = tl.load(
        grad_k + (items * 2097152 + steps_block * 128) + (tl.arange(0, 8)[:, None] * 262144 + tl.arange(0, 64)[None, :])
    )
    grad_k_block_2 = tl.load(
        grad_k + (items * 2097152 + steps_block * 128) + (
            tl.arange(0, 8)[:, None] * 262144 + (64 + tl.arange(0, 64))[None, :]
        ),
    )
    # rotary.py:20: first, second = grad.to(torch.float32).chunk(2, dim=-1)
    first_2 = grad_k_block.to(tl.float32)
    second_2 = grad_k_block_2.to(tl.float32)
    # rotary.py:24: return torch.cat(both, dim=-1).to(grad.dtype)
    v = (first_2 * cos_first + second_2 * sin_second).to(tl.bfloat16)
    v_2 = (second_2 * cos_second - first_2 * sin_first).to(tl.bfloat16)
    # rotary.py:45: k_out[items, :, steps, :] = turned_back(grad_k[items, :, steps, :], *angles)
    tl.store(
        k_out + (items * 2097152 + steps_block * 128) + (tl.arange(0, 8)[:, None] * 262144 + tl.arange(0, 64)[None, :]),
        v,
    )
    tl.store(
        k_out + (items * 2097152 + steps_block * 128) + (
            tl.arange(0, 8)[:, None] * 262144 + (64 + tl.arange(0, 64))[None, :]
        ),
        v_2,
    )


def rotary_backward(grad_q, grad_k, cos, sin):
    # rotary.py:41: q_out, k_out = torch.empty_like(grad_q), torch.empty_like(grad_k)
    q_out = torch.empty((2, 32, 2048, 128), dtype=torch.bfloat16, device=grad_q.device)
    k_out = torch.empty((2, 8, 2048, 128), dtype=torch.bfloat16, device=grad_q.device)
    # rotary.py:42: for items, steps in hl.tile([batch, length]):
    rotary_backward_0_kernel[(4096,)](grad_q, grad_k, cos, sin, q_out, k_out, num_warps=4, num_stages=1)
    return q_out, k_out
