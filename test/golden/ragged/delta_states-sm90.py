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
    tile_h_blocks: tl.constexpr = 3
    tile_h_block = pid % tile_h_blocks
    tile_b = pid // tile_h_blocks
    tile_w = tl.arange(0, BLOCK_2)
    tile_w_mask = tile_w < 100
    # linear_attention.py:64: state = hl.zeros([d, tile_w], dtype=torch.float32)
    state = tl.zeros([64, BLOCK_2], tl.float32)
    # linear_attention.py:65: for tile_t in hl.tile(length, block_size=chunk):
    for tile_t_begin in range(0, 100, BLOCK_3):
        tile_t = tile_t_begin + tl.arange(0, BLOCK_3)
        tile_t_mask = tile_t < 100
        # linear_attention.py:66: states[b, tile_t.id, h, :, tile_w] = state.to(dtype)
        states_desc.store(
            [tile_b, tl.cast(tile_t_begin // BLOCK_3, tl.int32), tile_h_block, 0, 0],
            state.reshape([1, 1, 1, 64, BLOCK_2]),
        )
        # linear_attention.py:67: said = hl.dot(weights[b, tile_t, h, :], state.to(dtype), out_dtype=torch.float32)
        weights_block = weights_desc.load([tile_b, tile_t_begin, tile_h_block, 0]).reshape([BLOCK_3, 64])
        said = tl.dot(weights_block, state, input_precision="ieee")
        # linear_attention.py:68: last = decay[b, min(tile_t.begin + chunk, length) - 1, h]
        last = tl.load(decay + (tile_b * 300 + (min(tile_t_begin + 32, 100) - 1) * 3 + tile_h_block))
        # linear_attention.py:69: new = (values[b, tile_t, h, tile_w] - said) * torch.exp(last - decay[b, tile_t, h])[:, None]
        values_block = tl.load(
            values + (tile_b * 30000 + tile_h_block * 100) + (tile_t[:, None] * 300 + tile_w[None, :]),
            mask=tile_t_mask[:, None] & tile_w_mask[None, :],
        )
        decay_block = tl.load(decay + (tile_b * 300 + tile_h_block) + tile_t * 3, mask=tile_t_mask)
        # linear_attention.py:70: state = hl.dot(keys[b, tile_t, h, :].T, new.to(dtype), acc=state * torch.exp(last))
        keys_block = keys_desc.load([tile_b, tile_t_begin, tile_h_block, 0]).reshape([BLOCK_3, 64])
        new = tl.where(tile_t_mask[:, None], (values_block - said) * tl.exp(last - decay_block)[:, None], 0.0)
        state = tl.dot(tl.trans(keys_block), new, state * tl.exp(last), input_precision="ieee")


def delta_states(keys, weights, values, decay):
    # linear_attention.py:61: states = torch.empty([batch, -(-length // chunk), heads, d, width], dtype=dtype)
    states = torch.empty((2, 4, 3, 64, 100), dtype=torch.float32, device=keys.device)
    # linear_attention.py:62: for tile_b, tile_h, tile_w in hl.tile([batch, heads, width], block_size=[1, 1, None]):
    delta_states_0_kernel[(6,)](
        values,
        decay,
        TensorDescriptor(_aligned(keys), [2, 100, 3, 64], [19200, 192, 64, 1], [1, 32, 1, 64]),
        TensorDescriptor(_aligned(weights), [2, 100, 3, 64], [19200, 192, 64, 1], [1, 32, 1, 64]),
        TensorDescriptor(states, [2, 4, 3, 64, 100], [76800, 19200, 6400, 100, 1], [1, 1, 1, 64, 128]),
        BLOCK_2=128,
        BLOCK_3=32,
        num_warps=4,
        num_stages=4,
    )
    return states
