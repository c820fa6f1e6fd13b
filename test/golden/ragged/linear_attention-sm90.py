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
def linear_attention_0_kernel(decay, q_desc, k_desc, v_desc, out_desc, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr):
    # linear_attention.py:18: for tile_b, tile_h, tile_w in hl.tile([batch, heads, width], block_size=[1, 1, None]):
    pid = tl.program_id(0)
    tile_h_blocks: tl.constexpr = 3
    tile_h_block = pid % tile_h_blocks
    tile_b = pid // tile_h_blocks
    # linear_attention.py:20: rate = decay[h]
    rate = tl.load(decay + tile_h_block)
    # linear_attention.py:21: state = hl.zeros([d, tile_w], dtype=torch.float32)
    state = tl.zeros([64, BLOCK_2], tl.float32)
    # linear_attention.py:22: for tile_t in hl.tile(length, block_size=chunk):
    for tile_t_begin in range(0, 100, BLOCK_3):
        tile_t = tile_t_begin + tl.arange(0, BLOCK_3)
        tile_t_mask = tile_t < 100
        # linear_attention.py:23: queries, keys, values = q[b, h, tile_t, :], k[b, h, tile_t, :], v[b, h, tile_t, tile_w]
        queries = q_desc.load([tile_b, tile_h_block, tile_t_begin, 0]).reshape([BLOCK_3, 64])
        keys = k_desc.load([tile_b, tile_h_block, tile_t_begin, 0]).reshape([BLOCK_3, 64])
        values = v_desc.load([tile_b, tile_h_block, tile_t_begin, 0]).reshape([BLOCK_3, BLOCK_2])
        # linear_attention.py:24: age = tile_t.index - tile_t.begin
        age = tile_t - tl.cast(tile_t_begin, tl.int32)
        # linear_attention.py:25: apart = age[:, None] - age[None, :]
        apart = age[:, None] - age[None, :]
        # linear_attention.py:26: scores = hl.dot(queries, keys.T, out_dtype=torch.float32)
        v_2 = tl.trans(keys)
        scores = tl.dot(queries, v_2, input_precision="ieee")
        # linear_attention.py:27: scores = torch.where(apart >= 0, scores * torch.exp(rate * apart), 0.0)
        scores_2 = tl.where(age[:, None] >= age[None, :], scores * tl.exp(rate * apart.to(tl.float32)), 0.0)
        # linear_attention.py:28: recent = hl.dot(scores.to(v.dtype), values, out_dtype=torch.float32)
        recent = tl.dot(tl.where(tile_t_mask[None, :], scores_2, 0.0), values, input_precision="ieee")
        # linear_attention.py:29: before = hl.dot(queries, state.to(q.dtype), out_dtype=torch.float32)
        before = tl.dot(queries, state, input_precision="ieee")
        # linear_attention.py:30: out[b, h, tile_t, tile_w] = (recent + before * torch.exp(rate * (age + 1))[:, None]).to(out.dtype)
        v_3 = recent + before * tl.exp(rate * (age + 1).to(tl.float32))[:, None]
        out_desc.store([tile_b, tile_h_block, tile_t_begin, 0], v_3.reshape([1, 1, BLOCK_3, BLOCK_2]))
        # linear_attention.py:32: state = hl.dot(keys.T, late, acc=state * torch.exp(rate * chunk))
        late = tl.where(tile_t_mask[:, None], values * tl.exp(rate * (31 - age).to(tl.float32))[:, None], 0.0)
        state = tl.dot(v_2, late, state * tl.exp2(rate * 46.16624), input_precision="ieee")


def linear_attention(q, k, v, decay):
    # linear_attention.py:17: out = torch.empty_like(v)
    out = torch.empty((2, 3, 100, 100), dtype=torch.float32, device=q.device)
    # linear_attention.py:18: for tile_b, tile_h, tile_w in hl.tile([batch, heads, width], block_size=[1, 1, None]):
    linear_attention_0_kernel[(6,)](
        decay,
        TensorDescriptor(_aligned(q), [2, 3, 100, 64], [19200, 6400, 64, 1], [1, 1, 32, 64]),
        TensorDescriptor(_aligned(k), [2, 3, 100, 64], [19200, 6400, 64, 1], [1, 1, 32, 64]),
        TensorDescriptor(_aligned(v), [2, 3, 100, 100], [30000, 10000, 100, 1], [1, 1, 32, 128]),
        TensorDescriptor(out, [2, 3, 100, 100], [30000, 10000, 100, 1], [1, 1, 32, 128]),
        BLOCK_2=128,
        BLOCK_3=32,
        num_warps=4,
        num_stages=4,
    )
    return out
