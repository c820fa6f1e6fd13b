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
def chunk_states_0_kernel(
    b, x, steps, decay, out_desc, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_5: tl.constexpr
):
    # state_space.py:18: for tile_h, tile_w, tile_s, tile_n, tile_c in hl.tile(
    pid = tl.program_id(0)
    tile_c_blocks: tl.constexpr = 2
    tile_c_block = pid % tile_c_blocks
    tile_h = pid // tile_c_blocks
    tile_w = tl.arange(0, BLOCK_1)
    tile_s = tl.arange(0, BLOCK_2)
    # state_space.py:22: last = decay[n, h, c, chunk - 1].to(torch.float32)
    last = tl.load(decay + (tile_h * 192 + tile_c_block * 96 + 95))
    # state_space.py:23: acc = hl.zeros([tile_w, tile_s], dtype=torch.float32)
    acc = tl.zeros([BLOCK_1, BLOCK_2], tl.float32)
    # state_space.py:24: for tile_t in hl.tile(chunk, block_size=rows):
    for tile_t_begin in range(0, 96, BLOCK_5):
        tile_t = tile_t_begin + tl.arange(0, BLOCK_5)
        tile_t_mask = tile_t < 96
        # state_space.py:25: left = torch.exp(last - decay[n, h, c, tile_t].to(torch.float32)) * steps[n, h, c, tile_t]
        decay_block = tl.load(decay + (tile_h * 192 + tile_c_block * 96) + tile_t, mask=tile_t_mask)
        steps_block = tl.load(steps + (tile_h * 192 + tile_c_block * 96) + tile_t, mask=tile_t_mask)
        left = tl.exp(last - decay_block) * steps_block
        # state_space.py:26: inputs = (x[n, c * chunk + tile_t.index, h, tile_w].T * left[None, :]).to(x.dtype)
        x_block = tl.load(
            x + tile_h * 64 + ((tile_t + tile_c_block * 96)[:, None] * 256 + tile_w[None, :]), mask=tile_t_mask[:, None]
        )
        # state_space.py:27: acc = hl.dot(inputs, b[n, c * chunk + tile_t.index, h // per_group, tile_s], acc=acc)
        b_block = tl.load(
            b + tile_h // 2 * 32 + ((tile_t + tile_c_block * 96)[:, None] * 64 + tile_s[None, :]),
            mask=tile_t_mask[:, None],
            other=0.0,
        )
        inputs = tl.where(tile_t_mask[None, :], tl.trans(x_block) * left[None, :], 0.0)
        acc = tl.dot(inputs, b_block, acc, input_precision="ieee")
    # state_space.py:28: out[n, c, h, tile_w, tile_s] = acc.to(out.dtype)
    out_desc.store([0, tile_c_block, tile_h, 0, 0], acc.reshape([1, 1, 1, BLOCK_1, BLOCK_2]))


def chunk_states(b, x, steps, decay):
    # state_space.py:16: out = torch.empty([batch, chunks, heads, width, states], dtype=x.dtype)
    out = torch.empty((1, 2, 4, 64, 32), dtype=torch.float32, device=b.device)
    # state_space.py:18: for tile_h, tile_w, tile_s, tile_n, tile_c in hl.tile(
    chunk_states_0_kernel[(8,)](
        b,
        x,
        steps,
        decay,
        TensorDescriptor(out, [1, 2, 4, 64, 32], [16384, 8192, 2048, 32, 1], [1, 1, 1, 64, 32]),
        BLOCK_1=64,
        BLOCK_2=32,
        BLOCK_5=128,
        num_warps=4,
        num_stages=3,
    )
    return out
