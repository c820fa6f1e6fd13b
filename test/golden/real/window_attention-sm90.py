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
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def window_attention_0_kernel(v, q_desc, k_desc, out_desc, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # attention.py:70: for tile_b, tile_m in hl.tile([q.size(0), m], block_size=[1, None]):
    pid = tl.program_id(0)
    tile_m_blocks: tl.constexpr = 32
    tile_m_block = pid % tile_m_blocks
    tile_b = pid // tile_m_blocks
    tile_m_begin = tile_m_block * BLOCK_1
    tile_m = tile_m_begin + tl.arange(0, BLOCK_1)
    # attention.py:71: queries = q[tile_b, tile_m, :]
    queries = q_desc.load([tile_b, tile_m_begin, 0]).reshape([BLOCK_1, 128])
    # attention.py:75: for tile_n in hl.tile(max(0, tile_m.begin - window + 1), tile_m.end):
    v_2 = tile_m_begin + BLOCK_1
    # attention.py:74: acc = hl.zeros([tile_b, tile_m, d], dtype=torch.float32)
    acc = tl.zeros([BLOCK_1, 128], tl.float32)
    # attention.py:72: largest = hl.full([tile_b, tile_m], -1e30, dtype=torch.float32)  # finite: the first keys may all be unseen
    largest = tl.full([BLOCK_1], -1.442695e+30, tl.float32)
    # attention.py:73: total = hl.zeros([tile_b, tile_m], dtype=torch.float32)
    total = tl.zeros([BLOCK_1], tl.float32)
    # attention.py:75: for tile_n in hl.tile(max(0, tile_m.begin - window + 1), tile_m.end):
    for tile_n_begin in range(max(0, tile_m_begin - 1024 + 1), v_2, BLOCK_2):
        tile_n = tile_n_begin + tl.arange(0, BLOCK_2)
        tile_n_mask = tile_n < v_2
        # attention.py:76: scores = hl.dot(queries, k[tile_b, tile_n, :].transpose(1, 2), out_dtype=torch.float32) * scale
        k_block = k_desc.load([tile_b, tl.cast(tile_n_begin, tl.int32), 0]).reshape([BLOCK_2, 128])
        # attention.py:77: ago = tile_m.index[:, None] - tile_n.index[None, :]
        ago = tile_m[:, None] - tile_n[None, :]
        # attention.py:78: scores = torch.where(((ago >= 0) & (ago < window))[None, :, :], scores, float("-inf"))
        scores = tl.where(
            (tile_m[:, None] >= tile_n[None, :]) & (ago < 1024),
            tl.dot(queries, tl.trans(k_block)) * 0.12751743,
            float("-inf"),
        )
        # attention.py:79: grown = torch.maximum(largest, torch.amax(scores, -1))
        v_3 = tl.reduce(tl.where(tile_n_mask[None, :], scores, float("-inf")), 1, _nan_max)
        grown = tl.maximum(largest, v_3, propagate_nan=tl.PropagateNan.ALL)
        # attention.py:80: shrink = torch.exp(largest - grown)
        shrink = tl.exp2(largest - grown)
        # attention.py:81: weights = torch.exp(scores - grown[:, :, None])
        weights = tl.exp2(scores - grown[:, None])
        # attention.py:83: acc = torch.baddbmm(acc * shrink[:, :, None], weights.to(v.dtype), v[tile_b, tile_n, :])
        v_block = tl.load(
            v + tile_b * 524288 + (tile_n[:, None] * 128 + tl.arange(0, 128)[None, :]),
            mask=tile_n_mask[:, None],
            other=0.0,
        )
        acc = tl.dot(tl.where(tile_n_mask[None, :], weights.to(tl.bfloat16), 0.0), v_block, acc * shrink[:, None])
        # attention.py:84: largest = grown
        largest = grown
        # attention.py:82: total = total * shrink + weights.sum(-1)
        total = total * shrink + tl.sum(tl.where(tile_n_mask[None, :], weights, 0.0), axis=1)
    # attention.py:85: out[tile_b, tile_m, :] = (acc / total[:, :, None]).to(out.dtype)
    out_desc.store([tile_b, tile_m_begin, 0], (acc / total[:, None]).to(tl.bfloat16).reshape([1, BLOCK_1, 128]))


def window_attention(q, k, v):
    # attention.py:68: out = torch.empty_like(q)
    out = torch.empty((8, 4096, 128), dtype=torch.bfloat16, device=q.device)
    # attention.py:70: for tile_b, tile_m in hl.tile([q.size(0), m], block_size=[1, None]):
    window_attention_0_kernel[(256,)](
        v,
        TensorDescriptor(_aligned(q), [8, 4096, 128], [524288, 128, 1], [1, 128, 128]),
        TensorDescriptor(_aligned(k), [8, 4096, 128], [524288, 128, 1], [1, 64, 128]),
        TensorDescriptor(out, [8, 4096, 128], [524288, 128, 1], [1, 128, 128]),
        BLOCK_1=128,
        BLOCK_2=64,
        num_warps=8,
        num_stages=4,
    )
    # attention.py:86: return out.view([*heads, m, d])
    array = out.view((1, 8, 4096, 128))
    return array
