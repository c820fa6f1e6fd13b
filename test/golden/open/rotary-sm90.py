import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["q_size_0"])
def rotary_0_kernel(q, k, cos, sin, q_out, k_out, q_size_0):
    # only written: q_out, k_out
    # rotary.py:31: for items, steps in hl.tile([batch, length]):
    pid = tl.program_id(0)
    steps_blocks: tl.constexpr = 2048
    steps_block = pid % steps_blocks
    items = pid // steps_blocks
    # rotary.py:32: angles = cos[items, steps, :], sin[items, steps, :]
    cos_block = tl.load(
        cos + tl.cast(items, tl.int64) * 262144 + tl.cast(steps_block, tl.int64) * 128 + tl.arange(0, 64)
    )
    cos_block_2 = tl.load(
        cos + tl.cast(items, tl.int64) * 262144 + tl.cast(steps_block, tl.int64) * 128 + (64 + tl.arange(0, 64))
    )
    sin_block = tl.load(
        sin + tl.cast(items, tl.int64) * 262144 + tl.cast(steps_block, tl.int64) * 128 + tl.arange(0, 64)
    )
    sin_block_2 = tl.load(
        sin + tl.cast(items, tl.int64) * 262144 + tl.cast(steps_block, tl.int64) * 128 + (64 + tl.arange(0, 64))
    )
    # rotary.py:33: q_out[items, :, steps, :] = turned(q[items, :, steps, :], *angles)
    q_block = tl.load(
        q
        + tl.cast(items, tl.int64) * 8388608
        + tl.cast(steps_block, tl.int64) * 128
        + tl.arange(0, 32)[:, None].to(tl.int64) * 262144
        + tl.arange(0, 64)[None, :],
    )
    q_block_2 = tl.load(
        q
        + tl.cast(items, tl.int64) * 8388608
        + tl.cast(steps_block, tl.int64) * 128
        + tl.arange(0, 32)[:, None].to(tl.int64) * 262144
        + (64 + tl.arange(0, 64))[None, :],
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
        q_out
        + tl.cast(items, tl.int64) * 8388608
        + tl.cast(steps_block, tl.int64) * 128
        + tl.arange(0, 32)[:, None].to(tl.int64) * 262144
        + tl.arange(0, 64)[None, :],
        (first * cos_first - second * sin_first).to(tl.bfloat16),
    )
    tl.store(
        q_out
        + tl.cast(items, tl.int64) * 8388608
        + tl.cast(steps_block, tl.int64) * 128
        + tl.arange(0, 32)[:, None].to(tl.int64) * 262144
        + (64 + tl.arange(0, 64))[None, :],
        (second * cos_second + first * sin_second).to(tl.bfloat16),
    )
    # rotary.py:34: k_out[items, :, steps, :] = turned(k[items, :, steps, :], *angles)
    k_block = tl.load(
        k
        + tl.cast(items, tl.int64) * 2097152
        + tl.cast(steps_block, tl.int64) * 128
        + tl.arange(0, 8)[:, None].to(tl.int64) * 262144
        + tl.arange(0, 64)[None, :],
    )
    k_block_2 = tl.load(
        k
        + tl.cast(items, tl.int64) * 2097152
        + tl.cast(steps_block, tl.int64) * 128
        + tl.arange(0, 8)[:, None].to(tl.int64) * 262144
        + (64 + tl.arange(0, 64))[None, :],
    )
    # rotary.py:11: first, second = x.to(torch.float32).chunk(2, dim=-1)
    first_2 = k_block.to(tl.float32)
    second_2 = k_block_2.to(tl.float32)
    # rotary.py:15: return torch.cat(both, dim=-1).to(x.dtype)
    v = (second_2 * cos_second + first_2 * sin_second).to(tl.bfloat16)
    # rotary.py:34: k_out[items, :, steps, :] = turned(k[items, :, steps, :], *angles)
    tl.store(
        k_out
        + tl.cast(items, tl.int64) * 2097152
        + tl.cast(steps_block, tl.int64) * 128
        + tl.arange(0, 8)[:, None].to(tl.int64) * 262144
        + tl.arange(0, 64)[None, :],
        (first_2 * cos_first - second_2 * sin_first).to(tl.bfloat16),
    )
    tl.store(
        k_out
        + tl.cast(items, tl.int64) * 2097152
        + tl.cast(steps_block, tl.int64) * 128
        + tl.arange(0, 8)[:, None].to(tl.int64) * 262144
        + (64 + tl.arange(0, 64))[None, :],
        v,
    )


def rotary(q, k, cos, sin):
    q_size_0 = q.shape[0]
    # rotary.py:30: q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    q_out = torch.empty((q_size_0, 32, 2048, 128), dtype=torch.bfloat16, device=q.device)
    k_out = torch.empty((q_size_0, 8, 2048, 128), dtype=torch.bfloat16, device=q.device)
    # rotary.py:31: for items, steps in hl.tile([batch, length]):
    rotary_0_kernel[(2048 * triton.cdiv(q_size_0, 1),)](
        q, k, cos, sin, q_out, k_out, q_size_0, num_warps=4, num_stages=1
    )
    return q_out, k_out
