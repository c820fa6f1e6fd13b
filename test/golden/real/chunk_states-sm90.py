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
    tile_c_blocks: tl.constexpr = 8
    tile_c_block = pid % tile_c_blocks
    rest = pid // tile_c_blocks
    tile_n_blocks: tl.constexpr = 2
    tile_n_block = rest % tile_n_blocks
    tile_h = rest // tile_n_blocks
    tile_w = tl.arange(0, BLOCK_1)
    tile_s = tl.arange(0, BLOCK_2)
    # state_space.py:22: last = decay[n, h, c, chunk - 1].to(torch.float32)
    decay_block = tl.load(decay + (tile_n_block * 65536 + tile_h * 2048 + tile_c_block * 256 + 255))
    last = decay_block.to(tl.float32)
    # state_space.py:23: acc = hl.zeros([tile_w, tile_s], dtype=torch.float32)
    acc = tl.zeros([BLOCK_1, BLOCK_2], tl.float32)
    # state_space.py:24: for tile_t in hl.tile(chunk, block_size=rows):
    for tile_t_begin in range(0, 256, BLOCK_5):
        tile_t = tile_t_begin + tl.arange(0, BLOCK_5)
        # state_space.py:25: left = torch.exp(last - decay[n, h, c, tile_t].to(torch.float32)) * steps[n, h, c, tile_t]
        decay_block_2 = tl.load(decay + (tile_n_block * 65536 + tile_h * 2048 + tile_c_block * 256) + tile_t)
        steps_block = tl.load(steps + (tile_n_block * 65536 + tile_h * 2048 + tile_c_block * 256) + tile_t)
        left = tl.exp(last - decay_block_2.to(tl.float32)) * steps_block.to(tl.float32)
        # state_space.py:26: inputs = (x[n, c * chunk + tile_t.index, h, tile_w].T * left[None, :]).to(x.dtype)
        x_block = tl.load(
            x + (tile_n_block * 4194304 + tile_h * 64) + (
                (tile_t + tile_c_block * 256)[:, None] * 2048 + tile_w[None, :]
            ),
        )
        inputs = (tl.trans(x_block).to(tl.float32) * left[None, :]).to(tl.bfloat16)
        # state_space.py:27: acc = hl.dot(inputs, b[n, c * chunk + tile_t.index, h // per_group, tile_s], acc=acc)
        b_block = tl.load(
            b + (tile_n_block * 262144 + tile_h // 32 * 128) + (
                (tile_t + tile_c_block * 256)[:, None] * 128 + tile_s[None, :]
            ),
        )
        acc = tl.dot(inputs, b_block, acc)
    # state_space.py:28: out[n, c, h, tile_w, tile_s] = acc.to(out.dtype)
    out_desc.store([tile_n_block, tile_c_block, tile_h, 0, 0], acc.to(tl.bfloat16).reshape([1, 1, 1, BLOCK_1, BLOCK_2]))


def chunk_states(b, x, steps, decay):
    # state_space.py:16: out = torch.empty([batch, chunks, heads, width, states], dtype=x.dtype)
    out = torch.empty((2, 8, 32, 64, 128), dtype=torch.bfloat16, device=b.device)
    # state_space.py:18: for tile_h, tile_w, tile_s, tile_n, tile_c in hl.tile(
    chunk_states_0_kernel[(512,)](
        b,
        x,
        steps,
        decay,
        TensorDescriptor(out, [2, 8, 32, 64, 128], [2097152, 262144, 8192, 128, 1], [1, 1, 1, 64, 128]),
        BLOCK_1=64,
        BLOCK_2=128,
        BLOCK_5=64,
        num_warps=4,
        num_stages=3,
    )
    return out
