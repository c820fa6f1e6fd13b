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
def _divide(a, b):
    # Triton's `/` of f32 is approximate on a GPU.
    if b.dtype == tl.float64:
        q = a / b
    else:
        q = tl.div_rn(a, b)
    return q


@triton.jit
def _negative(x):
    # The sign bit, also of zero.
    if x.dtype == tl.float64:
        bits = x.to(tl.int64, bitcast=True) < 0
    else:
        bits = x.to(tl.int32, bitcast=True) < 0
    return bits


@triton.jit
def _copysign(a, b):
    return tl.where(_negative(b), -tl.abs(a), tl.abs(a))


@triton.jit
def _expm1(x):
    if x.dtype == tl.float64:
        near = x * (1.0 + x * (0.5 + x * (0.16666666666666666 + x * (0.041666666666666664 + x * (0.008333333333333333 + x * (0.001388888888888889 + x * (0.0001984126984126984 + x * (2.48015873015873e-05 + x * (2.7557319223985893e-06 + x * (2.755731922398589e-07 + x * (2.505210838544172e-08 + x * (2.08767569878681e-09 + x * (1.6059043836821613e-10 + x * (1.1470745597729725e-11 + x * (7.647163731819816e-13)))))))))))))))
    else:
        near = x * (1.0 + x * (0.5 + x * (0.16666666666666666 + x * (0.041666666666666664 + x * (0.008333333333333333 + x * (0.001388888888888889 + x * (0.0001984126984126984 + x * (2.48015873015873e-05))))))))
    return tl.where(tl.abs(x) < 0.5, near, tl.exp(x) - 1.0)


@triton.jit
def _tanh(x):
    e = _expm1(-2.0 * tl.minimum(tl.abs(x), 25.0))
    return tl.where(x != x, x, _copysign(_divide(-e, 2.0 + e), x))


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def flex_attention_0_kernel(sums, q_desc, k_desc, v_desc, out_desc, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr):
    # only written: sums
    # flex_attention.py:20: for tile_b, tile_h, tile_m in hl.tile([batch, heads, m], block_size=[1, 1, None]):
    pid = tl.program_id(0)
    tile_m_blocks: tl.constexpr = 5
    tile_m_block = pid % tile_m_blocks
    rest = pid // tile_m_blocks
    tile_h_blocks: tl.constexpr = 4
    tile_h_block = rest % tile_h_blocks
    tile_b = rest // tile_h_blocks
    tile_m_begin = tile_m_block * BLOCK_2
    tile_m = tile_m_begin + tl.arange(0, BLOCK_2)
    tile_m_mask = tile_m < 150
    # flex_attention.py:22: queries = q[b, h, tile_m, :]
    queries = q_desc.load([tile_b, tile_h_block, tile_m_begin, 0]).reshape([BLOCK_2, 64])
    # flex_attention.py:25: acc = hl.zeros([tile_m, d], dtype=torch.float32)
    acc = tl.zeros([BLOCK_2, 64], tl.float32)
    # flex_attention.py:23: top = hl.full([tile_m], -1e30, dtype=torch.float32)  # finite: the first keys may all be unseen
    top = tl.full([BLOCK_2], -1.442695e+30, tl.float32)
    # flex_attention.py:24: total = hl.zeros([tile_m], dtype=torch.float32)
    total = tl.zeros([BLOCK_2], tl.float32)
    # flex_attention.py:26: for tile_n in hl.tile(n):
    for tile_n_begin in range(0, 150, BLOCK_3):
        tile_n = tile_n_begin + tl.arange(0, BLOCK_3)
        tile_n_mask = tile_n < 150
        # flex_attention.py:28: scores = hl.dot(queries, k[b, h // groups, tile_n, :].T, out_dtype=torch.float32) * scale
        v_2 = tile_h_block // 2
        k_block = k_desc.load([tile_b, tl.cast(v_2, tl.int32), tile_n_begin, 0]).reshape([BLOCK_3, 64])
        # flex_attention.py:48: return 2.0 * torch.tanh(score / 2.0)
        v_3 = tl.dot(queries, tl.trans(k_block), input_precision="ieee") * 0.0625
        # flex_attention.py:62: return lambda b, h, row, column: (row >= column) & (row - column < distance)
        v_4 = (tile_m[:, None] >= tile_n[None, :]) & (tile_m[:, None] - tile_n[None, :] < 17)
        # flex_attention.py:30: scores = torch.where(is_seen(b, h, rows, columns), scores, float("-inf"))
        scores = tl.where(v_4, 2.88539 * _tanh(v_3), float("-inf"))
        # flex_attention.py:31: higher = torch.maximum(top, scores.amax(-1))
        v_5 = tl.reduce(tl.where(tile_n_mask[None, :], scores, float("-inf")), 1, _nan_max)
        higher = tl.maximum(top, v_5, propagate_nan=tl.PropagateNan.ALL)
        # flex_attention.py:33: fade = torch.exp(top - higher)
        fade = tl.exp2(top - higher)
        # flex_attention.py:34: total = total * fade + weights.sum(-1)
        weights = tl.where(tile_n_mask[None, :], tl.exp2(scores - higher[:, None]), 0.0)
        # flex_attention.py:35: acc = hl.dot(weights.to(v.dtype), v[b, h // groups, tile_n, :], acc=acc * fade[:, None])
        v_block = v_desc.load([tile_b, tl.cast(v_2, tl.int32), tile_n_begin, 0]).reshape([BLOCK_3, 64])
        acc = tl.dot(weights, v_block, acc * fade[:, None], input_precision="ieee")
        # flex_attention.py:36: top = higher
        top = higher
        # flex_attention.py:34: total = total * fade + weights.sum(-1)
        total = total * fade + tl.sum(weights, axis=1)
    # flex_attention.py:37: out[b, h, tile_m, :] = (acc / total[:, None]).to(out.dtype)
    out_desc.store([tile_b, tile_h_block, tile_m_begin, 0], tl.div_rn(acc, total[:, None]).reshape([1, 1, BLOCK_2, 64]))
    # flex_attention.py:38: sums[b, h, tile_m] = top + torch.log(total)
    tl.store(
        sums + (tile_b * 600 + tile_h_block * 150) + tile_m,
        (top + tl.log(total) * 1.442695) * 0.6931472,
        mask=tile_m_mask,
    )


def flex_attention(q, k, v):
    # flex_attention.py:17: out = torch.empty_like(q)
    out = torch.empty((2, 4, 150, 64), dtype=torch.float32, device=q.device)
    # flex_attention.py:18: sums = torch.empty([batch, heads, m], dtype=torch.float32)
    sums = torch.empty((2, 4, 150), dtype=torch.float32, device=q.device)
    # flex_attention.py:20: for tile_b, tile_h, tile_m in hl.tile([batch, heads, m], block_size=[1, 1, None]):
    flex_attention_0_kernel[(40,)](
        sums,
        TensorDescriptor(_aligned(q), [2, 4, 150, 64], [38400, 9600, 64, 1], [1, 1, 32, 64]),
        TensorDescriptor(_aligned(k), [2, 2, 150, 64], [19200, 9600, 64, 1], [1, 1, 128, 64]),
        TensorDescriptor(_aligned(v), [2, 2, 150, 64], [19200, 9600, 64, 1], [1, 1, 128, 64]),
        TensorDescriptor(out, [2, 4, 150, 64], [38400, 9600, 64, 1], [1, 1, 32, 64]),
        BLOCK_2=32,
        BLOCK_3=128,
        num_warps=4,
        num_stages=4,
    )
    return out, sums
