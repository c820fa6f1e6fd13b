import torch
import triton
import triton.language as tl


@triton.jit
def rotary_0_kernel(q, k, cos, sin, q_out, k_out, BLOCK_1: tl.constexpr):
    # only written: q_out, k_out
    # rotary.py:31: for items, steps in hl.tile([batch, length]):
    pid = tl.program_id(0)
    steps_blocks: tl.constexpr = 3
    steps_block = pid % steps_blocks
    items = pid // steps_blocks
    steps = steps_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    steps_mask = steps < 37
    # rotary.py:32: angles = cos[items, steps, :], sin[items, steps, :]
    cos_block = tl.load(
        cos + items.to(tl.int64) * 2368 + (steps[:, None] * 64 + tl.arange(0, 32)[None, :]), mask=steps_mask[:, None]
    )
    cos_block_2 = tl.load(
        cos + items.to(tl.int64) * 2368 + (steps[:, None] * 64 + (32 + tl.arange(0, 32))[None, :]),
        mask=steps_mask[:, None],
    )
    sin_block = tl.load(
        sin + items.to(tl.int64) * 2368 + (steps[:, None] * 64 + tl.arange(0, 32)[None, :]), mask=steps_mask[:, None]
    )
    sin_block_2 = tl.load(
        sin + items.to(tl.int64) * 2368 + (steps[:, None] * 64 + (32 + tl.arange(0, 32))[None, :]),
        mask=steps_mask[:, None],
    )
    # rotary.py:33: q_out[items, :, steps, :] = turned(q[items, :, steps, :], *angles)
    first = tl.load(
        q + items.to(tl.int64) * 9472 + (
            tl.arange(0, 4)[:, None, None] * 2368 + steps[None, :, None] * 64 + tl.arange(0, 32)[None, None, :]
        ),
        mask=steps_mask[None, :, None],
    )
    second = tl.load(
        q + items.to(tl.int64) * 9472 + (
            tl.arange(0, 4)[:, None, None] * 2368 + steps[None, :, None] * 64 + (32 + tl.arange(0, 32))[None, None, :]
        ),
        mask=steps_mask[None, :, None],
    )
    # rotary.py:14: both = [first * cos_first - second * sin_first, second * cos_second + first * sin_second]
    v = first * cos_block[None, :, :] - second * sin_block[None, :, :]
    v_2 = second * cos_block_2[None, :, :] + first * sin_block_2[None, :, :]
    # rotary.py:33: q_out[items, :, steps, :] = turned(q[items, :, steps, :], *angles)
    tl.store(
        q_out + items.to(tl.int64) * 9472 + (
            tl.arange(0, 4)[:, None, None] * 2368 + steps[None, :, None] * 64 + tl.arange(0, 32)[None, None, :]
        ),
        v,
        mask=steps_mask[None, :, None],
    )
    tl.store(
        q_out + items.to(tl.int64) * 9472 + (
            tl.arange(0, 4)[:, None, None] * 2368 + steps[None, :, None] * 64 + (32 + tl.arange(0, 32))[None, None, :]
        ),
        v_2,
        mask=steps_mask[None, :, None],
    )
    # rotary.py:34: k_out[items, :, steps, :] = turned(k[items, :, steps, :], *angles)
    first_2 = tl.load(
        k + items.to(tl.int64) * 4736 + (
            tl.arange(0, 2)[:, None, None] * 2368 + steps[None, :, None] * 64 + tl.arange(0, 32)[None, None, :]
        ),
        mask=steps_mask[None, :, None],
    )
    second_2 = tl.load(
        k + items.to(tl.int64) * 4736 + (
            tl.arange(0, 2)[:, None, None] * 2368 + steps[None, :, None] * 64 + (32 + tl.arange(0, 32))[None, None, :]
        ),
        mask=steps_mask[None, :, None],
    )
    # rotary.py:14: both = [first * cos_first - second * sin_first, second * cos_second + first * sin_second]
    v_3 = first_2 * cos_block[None, :, :] - second_2 * sin_block[None, :, :]
    v_4 = second_2 * cos_block_2[None, :, :] + first_2 * sin_block_2[None, :, :]
    # rotary.py:34: k_out[items, :, steps, :] = turned(k[items, :, steps, :], *angles)
    tl.store(
        k_out + items.to(tl.int64) * 4736 + (
            tl.arange(0, 2)[:, None, None] * 2368 + steps[None, :, None] * 64 + tl.arange(0, 32)[None, None, :]
        ),
        v_3,
        mask=steps_mask[None, :, None],
    )
    tl.store(
        k_out + items.to(tl.int64) * 4736 + (
            tl.arange(0, 2)[:, None, None] * 2368 + steps[None, :, None] * 64 + (32 + tl.arange(0, 32))[None, None, :]
        ),
        v_4,
        mask=steps_mask[None, :, None],
    )


def rotary(q, k, cos, sin):
    # rotary.py:30: q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    q_out = torch.empty((2, 4, 37, 64), dtype=torch.float32, device=q.device)
    k_out = torch.empty((2, 2, 37, 64), dtype=torch.float32, device=q.device)
    # rotary.py:31: for items, steps in hl.tile([batch, length]):
    rotary_0_kernel[(6,)](q, k, cos, sin, q_out, k_out, BLOCK_1=16, num_warps=8, num_stages=1)
    return q_out, k_out
