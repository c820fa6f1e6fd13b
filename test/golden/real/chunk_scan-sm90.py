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
    cb,
    x,
    steps,
    decay,
    c,
    skip,
    out,
    states_desc,
    BLOCK_1: tl.constexpr,
    BLOCK_2: tl.constexpr,
    BLOCK_6: tl.constexpr,
    BLOCK_5: tl.constexpr,
):
    # only written: out
    # state_space.py:40: for tile_h, tile_m, tile_w, tile_n, tile_c in hl.tile(
    pid = tl.program_id(0)
    tile_c_blocks: tl.constexpr = 16
    tile_c_block = pid % tile_c_blocks
    rest = pid // tile_c_blocks
    tile_n_blocks: tl.constexpr = 8
    tile_n_block = rest % tile_n_blocks
    rest_2 = rest // tile_n_blocks
    tile_m_blocks: tl.constexpr = 4
    tile_m_block = rest_2 % tile_m_blocks
    tile_h = rest_2 // tile_m_blocks
    tile_m_begin = tile_m_block * BLOCK_1
    tile_m = tile_m_begin + tl.arange(0, BLOCK_1)
    tile_w = tl.arange(0, BLOCK_2)
    # state_space.py:43: n, h, begin = tile_n.begin, tile_h.begin, tile_c.begin * chunk
    begin = tile_c_block * 256
    # state_space.py:44: mine = decay[n, h, tile_c.begin, tile_m].to(torch.float32)
    decay_block = tl.load(decay + (tile_n_block * 327680 + tile_h * 4096 + tile_c_block * 256) + tile_m)
    mine = decay_block.to(tl.float32)
    # state_space.py:45: before = hl.dot(c[n, begin + tile_m.index, h // per_group, :], states[n, tile_c.begin, h, tile_w, :].T)
    v = tile_h // 80
    c_block = tl.load(
        c + (tile_n_block * 524288 + v * 128) + ((tile_m + begin)[:, None] * 128 + tl.arange(0, 128)[None, :])
    )
    states_block = states_desc.load([tile_n_block, tile_c_block, tile_h, 0, 0]).reshape([BLOCK_2, 128])
    before = tl.dot(c_block, tl.trans(states_block))
    # state_space.py:46: acc = before * torch.exp(mine)[:, None]
    acc = before * tl.exp(mine)[:, None]
    # state_space.py:47: for tile_k in hl.tile((tile_m.id + 1) * rows):  # later rows are masked for every row of the tile
    if 0 < tile_m_begin:
        for tile_k_begin in range(0, tile_m_begin, BLOCK_6):
            tile_k = tile_k_begin + tl.arange(0, BLOCK_6)
            # state_space.py:48: theirs = decay[n, h, tile_c.begin, tile_k].to(torch.float32)
            decay_block_2 = tl.load(decay + (tile_n_block * 327680 + tile_h * 4096 + tile_c_block * 256) + tile_k)
            theirs = decay_block_2.to(tl.float32)
            # state_space.py:49: weights = cb[n, tile_c.begin, h // per_group, tile_m, tile_k] * torch.exp(mine[:, None] - theirs[None, :])
            cb_block = tl.load(
                cb + (
                    tile_n_block * 1048576 + tile_c_block * 65536 + v * 65536
                ) + (tile_m[:, None] * 256 + tile_k[None, :]),
            )
            weights = cb_block.to(tl.float32) * tl.exp(mine[:, None] - theirs[None, :])
            # state_space.py:50: weights = weights * steps[n, h, tile_c.begin, tile_k].to(torch.float32)[None, :]
            steps_block = tl.load(steps + (tile_n_block * 327680 + tile_h * 4096 + tile_c_block * 256) + tile_k)
            weights_2 = weights * steps_block.to(tl.float32)[None, :]
            # state_space.py:52: acc = hl.dot(weights.to(x.dtype), x[n, begin + tile_k.index, h, tile_w], acc=acc)
            x_block = tl.load(
                x + (tile_n_block * 20971520 + tile_h * 64) + ((tile_k + begin)[:, None] * 5120 + tile_w[None, :])
            )
            acc = tl.dot(weights_2.to(tl.bfloat16), x_block, acc)
    # state_space.py:47: for tile_k in hl.tile((tile_m.id + 1) * rows):  # later rows are masked for every row of the tile
    acc_2 = acc
    for tile_k_begin_2 in range(tile_m_begin, tile_m_begin + 64, BLOCK_5):
        tile_k_2 = tile_k_begin_2 + tl.arange(0, BLOCK_5)
        # state_space.py:48: theirs = decay[n, h, tile_c.begin, tile_k].to(torch.float32)
        decay_block_3 = tl.load(decay + (tile_n_block * 327680 + tile_h * 4096 + tile_c_block * 256) + tile_k_2)
        theirs_2 = decay_block_3.to(tl.float32)
        # state_space.py:49: weights = cb[n, tile_c.begin, h // per_group, tile_m, tile_k] * torch.exp(mine[:, None] - theirs[None, :])
        cb_block_2 = tl.load(
            cb + (
                tile_n_block * 1048576 + tile_c_block * 65536 + v * 65536
            ) + (tile_m[:, None] * 256 + tile_k_2[None, :]),
        )
        weights_3 = cb_block_2.to(tl.float32) * tl.exp(mine[:, None] - theirs_2[None, :])
        # state_space.py:50: weights = weights * steps[n, h, tile_c.begin, tile_k].to(torch.float32)[None, :]
        steps_block_2 = tl.load(steps + (tile_n_block * 327680 + tile_h * 4096 + tile_c_block * 256) + tile_k_2)
        # state_space.py:51: weights = torch.where(tile_m.index[:, None] >= tile_k.index[None, :], weights, 0.0)
        weights_4 = tl.where(
            tl.arange(0, 64)[:, None] >= tl.arange(0, 64)[None, :],
            weights_3 * steps_block_2.to(tl.float32)[None, :],
            0.0,
        )
        # state_space.py:52: acc = hl.dot(weights.to(x.dtype), x[n, begin + tile_k.index, h, tile_w], acc=acc)
        x_block_2 = tl.load(
            x + (tile_n_block * 20971520 + tile_h * 64) + ((tile_k_2 + begin)[:, None] * 5120 + tile_w[None, :])
        )
        acc_2 = tl.dot(weights_4.to(tl.bfloat16), x_block_2, acc_2)
    # state_space.py:53: inputs = x[n, begin + tile_m.index, h, tile_w].to(torch.float32)
    x_block_3 = tl.load(
        x + (tile_n_block * 20971520 + tile_h * 64) + ((tile_m + begin)[:, None] * 5120 + tile_w[None, :])
    )
    inputs = x_block_3.to(tl.float32)
    # state_space.py:54: out[n, begin + tile_m.index, h, tile_w] = (acc + inputs * skip[h].to(torch.float32)).to(out.dtype)
    skip_block = tl.load(skip + tile_h)
    tl.store(
        out + (tile_n_block * 20971520 + tile_h * 64) + ((tile_m + begin)[:, None] * 5120 + tile_w[None, :]),
        (acc_2 + inputs * skip_block.to(tl.float32)).to(tl.bfloat16),
    )


def chunk_scan(cb, x, steps, decay, c, states, skip):
    # state_space.py:38: out = torch.empty_like(x)
    out = torch.empty((8, 4096, 80, 64), dtype=torch.bfloat16, device=cb.device)
    # state_space.py:40: for tile_h, tile_m, tile_w, tile_n, tile_c in hl.tile(
    chunk_scan_0_kernel[(40960,)](
        cb,
        x,
        steps,
        decay,
        c,
        skip,
        out,
        TensorDescriptor(_aligned(states), [8, 16, 80, 64, 128], [10485760, 655360, 8192, 128, 1], [1, 1, 1, 64, 128]),
        BLOCK_1=64,
        BLOCK_2=64,
        BLOCK_6=64,
        BLOCK_5=64,
        num_warps=4,
        num_stages=3,
    )
    return out
