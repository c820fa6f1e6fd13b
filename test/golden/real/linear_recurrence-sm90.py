import torch
import triton
import triton.language as tl


@triton.jit
def _combine(first_left, first_added, left, added):
    # scans.py:32: left, added = hl.associative_scan(both, steps, dim=0)
    return first_left * left, first_added * left + added


@triton.jit
def linear_recurrence_0_kernel(decay, x, out, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # only written: out
    # scans.py:27: for tile_b, tile_w in hl.tile([batch, width], block_size=[1, None]):
    pid = tl.program_id(0)
    tile_w_blocks: tl.constexpr = 80
    tile_w_block = pid % tile_w_blocks
    tile_b = pid // tile_w_blocks
    tile_w = tile_w_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    # scans.py:29: state = hl.zeros([tile_w], dtype=torch.float32)
    state = tl.zeros([BLOCK_1], tl.float32)
    # scans.py:30: for tile_t in hl.tile(length):
    for tile_t_begin in range(0, 2048, BLOCK_2):
        tile_t = tile_t_begin + tl.arange(0, BLOCK_2)
        # scans.py:31: steps = decay[b, tile_t, tile_w].to(torch.float32), x[b, tile_t, tile_w].to(torch.float32)
        decay_block = tl.load(decay + tile_b.to(tl.int64) * 5242880 + (tile_t[:, None] * 2560 + tile_w[None, :]))
        x_block = tl.load(x + tile_b.to(tl.int64) * 5242880 + (tile_t[:, None] * 2560 + tile_w[None, :]))
        # scans.py:32: left, added = hl.associative_scan(both, steps, dim=0)
        left, added = tl.associative_scan((decay_block.to(tl.float32), x_block.to(tl.float32)), 0, _combine)
        # scans.py:33: rows = left * state[None, :] + added
        rows = left * state[None, :] + added
        # scans.py:34: out[b, tile_t, tile_w] = rows.to(x.dtype)
        tl.store(out + tile_b.to(tl.int64) * 5242880 + (tile_t[:, None] * 2560 + tile_w[None, :]), rows.to(tl.bfloat16))
        # scans.py:35: last = tile_t.index == tile_t.end - 1
        last = tile_t == tl.cast(tile_t_begin + BLOCK_2 - 1, tl.int32)
        # scans.py:36: state = torch.where(last[:, None], rows, 0.0).sum(0)
        state = tl.sum(tl.where(last[:, None], rows, 0.0), axis=0)


def linear_recurrence(decay, x):
    # scans.py:26: out = torch.empty_like(x)
    out = torch.empty((4, 2048, 2560), dtype=torch.bfloat16, device=decay.device)
    # scans.py:27: for tile_b, tile_w in hl.tile([batch, width], block_size=[1, None]):
    linear_recurrence_0_kernel[(320,)](decay, x, out, BLOCK_1=32, BLOCK_2=128, num_warps=8, num_stages=2)
    return out
