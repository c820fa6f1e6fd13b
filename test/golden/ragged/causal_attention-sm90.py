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
def causal_attention_0_kernel(v, q_desc, k_desc, out_desc, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # attention.py:43: for tile_b, tile_m in hl.tile([q.size(0), m], block_size=[1, None]):
    pid = tl.program_id(0)
    tile_m_blocks: tl.constexpr = 5
    tile_m_block = pid % tile_m_blocks
    tile_b = pid // tile_m_blocks
    tile_m_begin = tile_m_block * BLOCK_1
    tile_m = tile_m_begin + tl.arange(0, BLOCK_1)
    # attention.py:44: queries = q[tile_b, tile_m, :]
    queries = q_desc.load([tile_b, tile_m_begin, 0]).reshape([BLOCK_1, 64])
    # attention.py:48: for tile_n in hl.tile(0, tile_m.end):  # later keys are masked for every query of the tile
    v_2 = min(tile_m_begin + BLOCK_1, 150)
    # attention.py:47: acc = hl.zeros([tile_b, tile_m, d], dtype=torch.float32)
    acc = tl.zeros([BLOCK_1, 64], tl.float32)
    # attention.py:45: largest = hl.full([tile_b, tile_m], float("-inf"), dtype=torch.float32)
    largest = tl.full([BLOCK_1], float("-inf"), tl.float32)
    # attention.py:46: total = hl.zeros([tile_b, tile_m], dtype=torch.float32)
    total = tl.zeros([BLOCK_1], tl.float32)
    # attention.py:48: for tile_n in hl.tile(0, tile_m.end):  # later keys are masked for every query of the tile
    for tile_n_begin in range(0, v_2, BLOCK_2):
        tile_n = tile_n_begin + tl.arange(0, BLOCK_2)
        tile_n_mask = tile_n < v_2
        # attention.py:49: scores = hl.dot(queries, k[tile_b, tile_n, :].transpose(1, 2), out_dtype=torch.float32) * scale
        k_block = k_desc.load([tile_b, tile_n_begin, 0]).reshape([BLOCK_2, 64])
        scores = tl.dot(queries, tl.trans(k_block), input_precision="ieee") * 0.18033688
        # attention.py:50: seen = tile_m.index[:, None] >= tile_n.index[None, :]
        seen = tile_m[:, None] >= tile_n[None, :]
        # attention.py:51: scores = torch.where(seen[None, :, :], scores, float("-inf"))
        scores_2 = tl.where(seen, scores, float("-inf"))
        # attention.py:52: grown = torch.maximum(largest, torch.amax(scores, -1))
        v_3 = tl.reduce(tl.where(tile_n_mask[None, :], scores_2, float("-inf")), 1, _nan_max)
        grown = tl.maximum(largest, v_3, propagate_nan=tl.PropagateNan.ALL)
        # attention.py:53: shrink = torch.exp(largest - grown)
        shrink = tl.exp2(largest - grown)
        # attention.py:55: total = total * shrink + weights.sum(-1)
        weights = tl.where(tile_n_mask[None, :], tl.exp2(scores_2 - grown[:, None]), 0.0)
        # attention.py:56: acc = torch.baddbmm(acc * shrink[:, :, None], weights.to(v.dtype), v[tile_b, tile_n, :])
        v_block = tl.load(
            v + tile_b.to(tl.int64) * 9600 + (tile_n[:, None] * 64 + tl.arange(0, 64)[None, :]),
            mask=tile_n_mask[:, None],
            other=0.0,
        )
        acc = tl.dot(weights, v_block, acc * shrink[:, None], input_precision="ieee")
        # attention.py:57: largest = grown
        largest = grown
        # attention.py:55: total = total * shrink + weights.sum(-1)
        total = total * shrink + tl.sum(weights, axis=1)
    # attention.py:58: out[tile_b, tile_m, :] = (acc / total[:, :, None]).to(out.dtype)
    out_desc.store([tile_b, tile_m_begin, 0], tl.div_rn(acc, total[:, None]).reshape([1, BLOCK_1, 64]))


def causal_attention(q, k, v):
    # attention.py:41: out = torch.empty_like(q)
    out = torch.empty((6, 150, 64), dtype=torch.float32, device=q.device)
    # attention.py:43: for tile_b, tile_m in hl.tile([q.size(0), m], block_size=[1, None]):
    causal_attention_0_kernel[(30,)](
        v,
        TensorDescriptor(_aligned(q), [6, 150, 64], [9600, 64, 1], [1, 32, 64]),
        TensorDescriptor(_aligned(k), [6, 150, 64], [9600, 64, 1], [1, 128, 64]),
        TensorDescriptor(out, [6, 150, 64], [9600, 64, 1], [1, 32, 64]),
        BLOCK_1=32,
        BLOCK_2=128,
        num_warps=4,
        num_stages=4,
    )
    # attention.py:59: return out.view([*heads, m, d])
    array = out.view((2, 3, 150, 64))
    return array
