import torch
import triton
import triton.language as tl


@triton.jit
def rotary_0_kernel(q, k, cos, sin, q_out, k_out):
    # only written: q_out, k_out
    # rotary.py:31: for items, steps in hl.tile([batch, length]):
    pid = tl.program_id(0)
    steps_blocks: tl.constexpr = 2048
    steps_block = pid % steps_blocks
    items = pid // steps_blocks
    # rotary.py:32: angles = cos[items, steps, :], sin[items, steps, :]
    cos_block = tl.load(cos + (items * 262144 + steps_block * 128) + tl.arange(0, 64))
    cos_block_2 = tl.load(cos + (items * 262144 + steps_block * 128) + (64 + tl.arange(0, 64)))
    sin_block = tl.load(sin + (items * 262144 + steps_block * 128) + tl.arange(0, 64))
    sin_block_2 = tl.load(sin + (items * 262144 + steps_block * 128) + (64 + tl.arange(0, 64)))
    # rotary.py:33: q_out[items, :, steps, :] = turned(q[items, :, steps, :], *angles)
    q_block = tl.load(
        q + (items * 8388608 + steps_block * 128) + (tl.arange(0, 32)[:, None] * 262144 + tl.arange(0, 64)[None, :])
    )
    q_block_2 = tl.load(
        q + (items * 8388608 + steps_block * 128) + (
            tl.arange(0, 32)[:, None] * 262144 + (64 + tl.arange(0, 64))[None, :]
        ),
    )
    # rotary.py:11: first, second = x.to(torch.float32).chunk(2, dim=-1)
    first = q_block.to(tl.float32)
    second = q_block_2.to(tl.float32)
    # rotary.py:12: cos_first, cos_second = cos.to(torch.float32)[:, None].chunk(2, dim=-1)
    cos_first = cos_block.to(tl.float32)[None, :]
    cos_second = cos_block_2.to(tl.float32)[None, :]
    # rotary.py:13: sin_first, sin_second = sin.to(torch.float32)[:, None].chunk(2, dim=-1)
    sin_first = sin_block.to(tl.float32)[None, :]
    sin_second = sin_block_2.to(tl.float32)[None, :]
    # rotary.py:33: q_out[items, :, steps, :] = turned(q[items, :, steps, :], *angles)
    tl.store(
        q_out + (items * 8388608 + steps_block * 128) + (
            tl.arange(0, 32)[:, None] * 262144 + tl.arange(0, 64)[None, :]
        ),
        (first * cos_first - second * sin_first).to(tl.bfloat16),
    )
    tl.store(
        q_out + (items * 8388608 + steps_block * 128) + (
            tl.arange(0, 32)[:, None] * 262144 + (64 + tl.arange(0, 64))[None, :]
        ),
        (second * cos_second + first * sin_second).to(tl.bfloat16),
    )
    # rotary.py:34: k_out[items, :, steps, :] = turned(k[items, :, steps, :], *angles)
    k_block = tl.load(
        k + (items * 2097152 + steps_block * 128) + (tl.arange(0, 8)[:, None] * 262144 + tl.arange(0, 64)[None, :])
    )
    k_block_2 = tl.load(
        k + (items * 2097152 + steps_block * 128) + (
            tl.arange(0, 8)[:, None] * 262144 + (64 + tl.arange(0, 64))[None, :]
        ),
    )
    # rotary.py:11: first, second = x.to(torch.float32).chunk(2, dim=-1)
    first_2 = k_block.to(tl.float32)
    second_2 = k_block_2.to(tl.float32)
    # rotary.py:15: return torch.cat(both, dim=-1).to(x.dtype)
    v = (second_2 * cos_second + first_2 * sin_second).to(tl.bfloat16)
    # rotary.py:34: k_out[items, :, steps, :] = turned(k[items, :, steps, :], *angles)
    tl.store(
        k_out + (items * 2097152 + steps_block * 128) + (tl.arange(0, 8)[:, None] * 262144 + tl.arange(0, 64)[None, :]),
        (first_2 * cos_first - second_2 * sin_first).to(tl.bfloat16),
    )
    tl.store(
        k_out + (items * 2097152 + steps_block * 128) + (
            tl.arange(0, 8)[:, None] * 262144 + (64 + tl.arange(0, 64))[None, :]
        ),
        v,
    )


def rotary(q, k, cos, sin):
    # rotary.py:30: q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    q_out = torch.empty((2, 32, 2048, 128), dtype=torch.bfloat16, device=q.device)
    k_out = torch.empty((2, 8, 2048, 128), dtype=torch.bfloat16, device=q.device)
    # rotary.py:31: for items, steps in hl.tile([batch, length]):
    rotary_0_kernel[(4096,)](q, k, cos, sin, q_out, k_out, num_warps=4, num_stages=1)
    return q_out, k_out
