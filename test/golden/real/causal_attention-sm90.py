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
def causal_attention_0_kernel(
    q_desc, k_desc, v_desc, out_desc, BLOCK_1: tl.constexpr, BLOCK_3: tl.constexpr, BLOCK_2: tl.constexpr
):
    # attention.py:43: for tile_b, tile_m in hl.tile([q.size(0), m], block_size=[1, None]):
    pid = tl.program_id(0)
    tile_m_blocks: tl.constexpr = 8
    tile_m_block = pid % tile_m_blocks
    tile_b = pid // tile_m_blocks
    tile_m = tile_m_block * BLOCK_1
    # attention.py:44: queries = q[tile_b, tile_m, :]
    queries = q_desc.load([tile_b, tile_m, 0]).reshape([BLOCK_1, 128])
    # attention.py:47: acc = hl.zeros([tile_b, tile_m, d], dtype=torch.float32)
    acc = tl.zeros([BLOCK_1, 128], tl.float32)
    # attention.py:45: largest = hl.full([tile_b, tile_m], float("-inf"), dtype=torch.float32)
    largest = tl.full([BLOCK_1], float("-inf"), tl.float32)
    # attention.py:46: total = hl.zeros([tile_b, tile_m], dtype=torch.float32)
    total = tl.zeros([BLOCK_1], tl.float32)
    # attention.py:48: for tile_n in hl.tile(0, tile_m.end):  # later keys are masked for every query of the tile
    if 0 < tile_m:
        for tile_n in range(0, tile_m, BLOCK_3):
            # attention.py:49: scores = hl.dot(queries, k[tile_b, tile_n, :].transpose(1, 2), out_dtype=torch.float32) * scale
            k_block = k_desc.load([tile_b, tile_n, 0]).reshape([BLOCK_3, 128])
            scores = tl.dot(queries, tl.trans(k_block)) * 0.12751743
            # attention.py:52: grown = torch.maximum(largest, torch.amax(scores, -1))
            grown = tl.maximum(largest, tl.reduce(scores, 1, _nan_max), propagate_nan=tl.PropagateNan.ALL)
            # attention.py:53: shrink = torch.exp(largest - grown)
            shrink = tl.exp2(largest - grown)
            # attention.py:54: weights = torch.exp(scores - grown[:, :, None])
            weights = tl.exp2(scores - grown[:, None])
            # attention.py:56: acc = torch.baddbmm(acc * shrink[:, :, None], weights.to(v.dtype), v[tile_b, tile_n, :])
            v_block = v_desc.load([tile_b, tile_n, 0]).reshape([BLOCK_3, 128])
            acc = tl.dot(weights.to(tl.bfloat16), v_block, acc * shrink[:, None])
            # attention.py:57: largest = grown
            largest = grown
            # attention.py:55: total = total * shrink + weights.sum(-1)
            total = total * shrink + tl.sum(weights, axis=1)
    # attention.py:48: for tile_n in hl.tile(0, tile_m.end):  # later keys are masked for every query of the tile
    acc_2 = acc
    largest_2 = largest
    total_2 = total
    for tile_n_2 in range(tile_m, tile_m + 128, BLOCK_2):
        # attention.py:49: scores = hl.dot(queries, k[tile_b, tile_n, :].transpose(1, 2), out_dtype=torch.float32) * scale
        k_block_2 = k_desc.load([tile_b, tl.cast(tile_n_2, tl.int32), 0]).reshape([BLOCK_2, 128])
        # attention.py:50: seen = tile_m.index[:, None] >= tile_n.index[None, :]
        seen = tl.arange(0, 128)[:, None] >= tl.arange(0, 128)[None, :]
        # attention.py:51: scores = torch.where(seen[None, :, :], scores, float("-inf"))
        scores_2 = tl.where(seen, tl.dot(queries, tl.trans(k_block_2)) * 0.12751743, float("-inf"))
        # attention.py:52: grown = torch.maximum(largest, torch.amax(scores, -1))
        grown_2 = tl.maximum(largest_2, tl.reduce(scores_2, 1, _nan_max), propagate_nan=tl.PropagateNan.ALL)
        # attention.py:53: shrink = torch.exp(largest - grown)
        shrink_2 = tl.exp2(largest_2 - grown_2)
        # attention.py:54: weights = torch.exp(scores - grown[:, :, None])
        weights_2 = tl.exp2(scores_2 - grown_2[:, None])
        # attention.py:56: acc = torch.baddbmm(acc * shrink[:, :, None], weights.to(v.dtype), v[tile_b, tile_n, :])
        v_block_2 = v_desc.load([tile_b, tl.cast(tile_n_2, tl.int32), 0]).reshape([BLOCK_2, 128])
        acc_2 = tl.dot(weights_2.to(tl.bfloat16), v_block_2, acc_2 * shrink_2[:, None])
        # attention.py:57: largest = grown
        largest_2 = grown_2
        # attention.py:55: total = total * shrink + weights.sum(-1)
        total_2 = total_2 * shrink_2 + tl.sum(weights_2, axis=1)
    # attention.py:58: out[tile_b, tile_m, :] = (acc / total[:, :, None]).to(out.dtype)
    out_desc.store([tile_b, tile_m, 0], (acc_2 / total_2[:, None]).to(tl.bfloat16).reshape([1, BLOCK_1, 128]))


def causal_attention(q, k, v):
    # attention.py:41: out = torch.empty_like(q)
    out = torch.empty((64, 1024, 128), dtype=torch.bfloat16, device=q.device)
    # attention.py:43: for tile_b, tile_m in hl.tile([q.size(0), m], block_size=[1, None]):
    causal_attention_0_kernel[(512,)](
        TensorDescriptor(_aligned(q), [64, 1024, 128], [131072, 128, 1], [1, 128, 128]),
        TensorDescriptor(_aligned(k), [64, 1024, 128], [131072, 128, 1], [1, 128, 128]),
        TensorDescriptor(_aligned(v), [64, 1024, 128], [131072, 128, 1], [1, 128, 128]),
        TensorDescriptor(out, [64, 1024, 128], [131072, 128, 1], [1, 128, 128]),
        BLOCK_1=128,
        BLOCK_3=128,
        BLOCK_2=128,
        num_warps=8,
        num_stages=3,
    )
    # attention.py:59: return out.view([*heads, m, d])
    array = out.view((4, 16, 1024, 128))
    return array
