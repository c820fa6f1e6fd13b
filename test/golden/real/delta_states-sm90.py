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
def delta_states_0_kernel(
    values, decay, keys_desc, weights_desc, states_desc, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr
):
    # linear_attention.py:62: for tile_b, tile_h, tile_w in hl.tile([batch, heads, width], block_size=[1, 1, None]):
    pid = tl.program_id(0)
    tile_w_blocks: tl.constexpr = 8
    tile_w_block = pid % tile_w_blocks
    rest = pid // tile_w_blocks
    tile_h_blocks: tl.constexpr = 16
    tile_h_block = rest % tile_h_blocks
    tile_b = rest // tile_h_blocks
    tile_w_begin = tile_w_block * BLOCK_2
    tile_w = tile_w_begin + tl.arange(0, BLOCK_2)
    # linear_attention.py:64: state = hl.zeros([d, tile_w], dtype=torch.float32)
    state = tl.zeros([128, BLOCK_2], tl.float32)
    # linear_attention.py:65: for tile_t in hl.tile(length, block_size=chunk):
    for tile_t_begin in range(0, 2048, BLOCK_3):
        tile_t = tile_t_begin + tl.arange(0, BLOCK_3)
        # linear_attention.py:66: states[b, tile_t.id, h, :, tile_w] = state.to(dtype)
        v = state.to(tl.bfloat16)
        states_desc.store(
            [tile_b, tl.cast(tile_t_begin // BLOCK_3, tl.int32), tile_h_block, 0, tile_w_begin],
            v.reshape([1, 1, 1, 128, BLOCK_2]),
        )
        # linear_attention.py:67: said = hl.dot(weights[b, tile_t, h, :], state.to(dtype), out_dtype=torch.float32)
        weights_block = weights_desc.load([tile_b, tile_t_begin, tile_h_block, 0]).reshape([BLOCK_3, 128])
        said = tl.dot(weights_block, v)
        # linear_attention.py:68: last = decay[b, min(tile_t.begin + chunk, length) - 1, h]
        last = tl.load(decay + (tile_b * 32768 + (tile_t_begin + 128 - 1) * 16 + tile_h_block))
        # linear_attention.py:69: new = (values[b, tile_t, h, tile_w] - said) * torch.exp(last - decay[b, tile_t, h])[:, None]
        values_block = tl.load(
            values + (tile_b * 4194304 + tile_h_block * 128) + (tile_t[:, None] * 2048 + tile_w[None, :])
        )
        decay_block = tl.load(decay + (tile_b * 32768 + tile_h_block) + tile_t * 16)
        v_2 = last.to(tl.float32)
        v_3 = (v_2 - decay_block.to(tl.float32)).to(tl.bfloat16).to(tl.float32)
        new = (values_block.to(tl.float32) - said) * tl.exp(v_3).to(tl.bfloat16)[:, None].to(tl.float32)
        # linear_attention.py:70: state = hl.dot(keys[b, tile_t, h, :].T, new.to(dtype), acc=state * torch.exp(last))
        keys_block = keys_desc.load([tile_b, tile_t_begin, tile_h_block, 0]).reshape([BLOCK_3, 128])
        state = tl.dot(tl.trans(keys_block), new.to(tl.bfloat16), state * tl.exp(v_2).to(tl.bfloat16).to(tl.float32))


def delta_states(keys, weights, values, decay):
    # linear_attention.py:61: states = torch.empty([batch, -(-length // chunk), heads, d, width], dtype=dtype)
    states = torch.empty((2, 16, 16, 128, 128), dtype=torch.bfloat16, device=keys.device)
    # linear_attention.py:62: for tile_b, tile_h, tile_w in hl.tile([batch, heads, width], block_size=[1, 1, None]):
    delta_states_0_kernel[(256,)](
        values,
        decay,
        TensorDescriptor(_aligned(keys), [2, 2048, 16, 128], [4194304, 2048, 128, 1], [1, 128, 1, 128]),
        TensorDescriptor(_aligned(weights), [2, 2048, 16, 128], [4194304, 2048, 128, 1], [1, 128, 1, 128]),
        TensorDescriptor(states, [2, 16, 16, 128, 128], [4194304, 262144, 16384, 128, 1], [1, 1, 1, 128, 16]),
        BLOCK_2=16,
        BLOCK_3=128,
        num_warps=4,
        num_stages=2,
    )
    return states
