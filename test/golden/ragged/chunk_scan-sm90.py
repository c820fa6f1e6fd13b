import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def _aligned(x):
    # The array of a descriptor begins at a multiple of 16 bytes.
    if x.data_ptr() % 16 == 0:
        return x
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)


@triton.jit
def chunk_scan_0_kernel(
    cb, x, steps, decay, c, skip, out, states_desc, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_5: tl.constexpr
):
    # only written: out
    # state_space.py:40: for tile_h, tile_m, tile_w, tile_n, tile_c in hl.tile(
    pid = tl.program_id(0)
    tile_c_blocks: tl.constexpr = 2
    tile_c_block = pid % tile_c_blocks
    rest = pid // tile_c_blocks
    tile_m_blocks: tl.constexpr = 2
    tile_m_block = rest % tile_m_blocks
    tile_h = rest // tile_m_blocks
    tile_m = tile_m_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    tile_w = tl.arange(0, BLOCK_2)
    # state_space.py:43: n, h, begin = tile_n.begin, tile_h.begin, tile_c.begin * chunk
    begin = tile_c_block * 128
    # state_space.py:44: mine = decay[n, h, tile_c.begin, tile_m].to(torch.float32)
    mine = tl.load(decay + (tile_h * 256 + tile_c_block * 128) + tile_m)
    # state_space.py:45: before = hl.dot(c[n, begin + tile_m.index, h // per_group, :], states[n, tile_c.begin, h, tile_w, :].T)
    v = tile_h // 2
    c_block = tl.load(c + v * 32 + ((tile_m + begin)[:, None] * 64 + tl.arange(0, 32)[None, :]))
    states_block = states_desc.load([0, tile_c_block, tile_h, 0, 0]).reshape([BLOCK_2, 32])
    before = tl.dot(c_block, tl.trans(states_block), input_precision="ieee")
    # state_space.py:47: for tile_k in hl.tile((tile_m.id + 1) * rows):  # later rows are masked for every row of the tile
    v_2 = (tile_m_block + 1) * 64
    # state_space.py:46: acc = before * torch.exp(mine)[:, None]
    acc = before * tl.exp(mine)[:, None]
    # state_space.py:47: for tile_k in hl.tile((tile_m.id + 1) * rows):  # later rows are masked for every row of the tile
    for tile_k_begin in range(0, v_2, BLOCK_5):
        tile_k = tile_k_begin + tl.arange(0, BLOCK_5)
        tile_k_mask = tile_k < v_2
        # state_space.py:48: theirs = decay[n, h, tile_c.begin, tile_k].to(torch.float32)
        theirs = tl.load(decay + (tile_h * 256 + tile_c_block * 128) + tile_k, mask=tile_k_mask)
        # state_space.py:49: weights = cb[n, tile_c.begin, h // per_group, tile_m, tile_k] * torch.exp(mine[:, None] - theirs[None, :])
        cb_block = tl.load(
            cb + (tile_c_block * 32768 + v * 16384) + (tile_m[:, None] * 128 + tile_k[None, :]),
            mask=tile_k_mask[None, :],
        )
        # state_space.py:50: weights = weights * steps[n, h, tile_c.begin, tile_k].to(torch.float32)[None, :]
        steps_block = tl.load(steps + (tile_h * 256 + tile_c_block * 128) + tile_k, mask=tile_k_mask)
        weights = cb_block * tl.exp(mine[:, None] - theirs[None, :]) * steps_block[None, :]
        # state_space.py:52: acc = hl.dot(weights.to(x.dtype), x[n, begin + tile_k.index, h, tile_w], acc=acc)
        x_block = tl.load(
            x + tile_h * 64 + ((tile_k + begin)[:, None] * 256 + tile_w[None, :]), mask=tile_k_mask[:, None], other=0.0
        )
        weights_2 = tl.where(tile_k_mask[None, :], tl.where(tile_m[:, None] >= tile_k[None, :], weights, 0.0), 0.0)
        acc = tl.dot(weights_2, x_block, acc, input_precision="ieee")
    # state_space.py:53: inputs = x[n, begin + tile_m.index, h, tile_w].to(torch.float32)
    inputs = tl.load(x + tile_h * 64 + ((tile_m + begin)[:, None] * 256 + tile_w[None, :]))
    # state_space.py:54: out[n, begin + tile_m.index, h, tile_w] = (acc + inputs * skip[h].to(torch.float32)).to(out.dtype)
    skip_block = tl.load(skip + tile_h)
    tl.store(out + tile_h * 64 + ((tile_m + begin)[:, None] * 256 + tile_w[None, :]), acc + inputs * skip_block)


def chunk_scan(cb, x, steps, decay, c, states, skip):
    # state_space.py:38: out = torch.empty_like(x)
    out = torch.empty((1, 256, 4, 64), dtype=torch.float32, device=cb.device)
    # state_space.py:40: for tile_h, tile_m, tile_w, tile_n, tile_c in hl.tile(
    chunk_scan_0_kernel[(16,)](
        cb,
        x,
        steps,
        decay,
        c,
        skip,
        out,
        TensorDescriptor(_aligned(states), [1, 2, 4, 64, 32], [16384, 8192, 2048, 32, 1], [1, 1, 1, 64, 32]),
        BLOCK_1=64,
        BLOCK_2=64,
        BLOCK_5=128,
        num_warps=4,
        num_stages=3,
    )
    return out
