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
def paged_attention_0_kernel(
    lengths, table, out, keys_desc, values_desc, grouped_desc, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr
):
    # only written: out
    # paged.py:21: for tile_s, h in hl.tile([sequences, few], block_size=[1, None]):
    pid = tl.program_id(0)
    h_blocks: tl.constexpr = 2
    h_block = pid % h_blocks
    tile_s = pid // h_blocks
    h_begin = h_block * BLOCK_1
    h = h_begin + tl.arange(0, BLOCK_1)
    h_mask = h < 3
    lanes = tl.arange(0, 4)
    lanes_mask = lanes < 3
    # paged.py:23: length = lengths[s]
    length = tl.load(lengths + tile_s)
    # paged.py:24: queries = grouped[s, h, :, :]
    queries = grouped_desc.load([tile_s, h_begin, 0, 0]).reshape([BLOCK_1, 4, 64])
    # paged.py:27: acc = hl.zeros([h, group, d], dtype=torch.float32)
    acc = tl.zeros([BLOCK_1, 4, 64], tl.float32)
    # paged.py:25: top = hl.full([h, group], float("-inf"), dtype=torch.float32)
    top = tl.full([BLOCK_1, 4], float("-inf"), tl.float32)
    # paged.py:26: total = hl.zeros([h, group], dtype=torch.float32)
    total = tl.zeros([BLOCK_1, 4], tl.float32)
    # paged.py:28: for tile in hl.tile(0, length, block_size=page):
    if 0 < length:
        for tile in range(0, length, BLOCK_2):
            # paged.py:29: number = table[s, tile.id]
            number = tl.load(table + (tile_s * 4 + tile // BLOCK_2))
            # paged.py:30: scores = hl.dot(queries, keys[h, number, :, :].transpose(1, 2), out_dtype=torch.float32) * scale
            keys_block = keys_desc.load([h_begin, tl.cast(number, tl.int32), 0, 0]).reshape([BLOCK_1, 32, 64])
            v = tl.dot(queries, tl.permute(keys_block, [0, 2, 1]), input_precision="ieee")
            # paged.py:31: scores = torch.where(tile.begin + hl.arange(page)[None, None, :] < length, scores, float("-inf"))
            v_2 = tl.cast(tile, tl.int32) + tl.arange(0, 32)[None, None, :] < length
            scores = tl.where(v_2, v * 0.18033688, float("-inf"))
            # paged.py:32: higher = torch.maximum(top, scores.amax(-1))
            higher = tl.maximum(top, tl.reduce(scores, 2, _nan_max), propagate_nan=tl.PropagateNan.ALL)
            # paged.py:33: weights = torch.exp(scores - higher[:, :, None])
            weights = tl.exp2(scores - higher[:, :, None])
            # paged.py:34: fade = torch.exp(top - higher)
            fade = tl.exp2(top - higher)
            # paged.py:36: acc = hl.dot(weights.to(values.dtype), values[h, number, :, :], acc=acc * fade[:, :, None])
            values_block = values_desc.load([h_begin, tl.cast(number, tl.int32), 0, 0]).reshape([BLOCK_1, 32, 64])
            acc = tl.dot(weights, values_block, acc * fade[:, :, None], input_precision="ieee")
            # paged.py:37: top = higher
            top = higher
            # paged.py:35: total = total * fade + weights.sum(-1)
            total = total * fade + tl.sum(weights, axis=2)
    # paged.py:38: out[s, h, :, :] = (acc / total[:, :, None]).to(out.dtype)
    tl.store(
        out + tile_s.to(tl.int64) * 576 + (
            h[:, None, None] * 192 + lanes[None, :, None] * 64 + tl.arange(0, 64)[None, None, :]
        ),
        tl.div_rn(acc, total[:, :, None]),
        mask=h_mask[:, None, None] & lanes_mask[None, :, None],
    )


def paged_attention(q, keys, values, lengths, table):
    # paged.py:19: out = torch.empty_like(grouped)
    out = torch.empty((3, 3, 3, 64), dtype=torch.float32, device=q.device)
    # paged.py:21: for tile_s, h in hl.tile([sequences, few], block_size=[1, None]):
    paged_attention_0_kernel[(6,)](
        lengths,
        table,
        out,
        TensorDescriptor(_aligned(keys), [3, 12, 32, 64], [24576, 2048, 64, 1], [2, 1, 32, 64]),
        TensorDescriptor(_aligned(values), [3, 12, 32, 64], [24576, 2048, 64, 1], [2, 1, 32, 64]),
        TensorDescriptor(_aligned(q), [3, 3, 3, 64], [576, 192, 64, 1], [1, 2, 4, 64]),
        BLOCK_1=2,
        BLOCK_2=32,
        num_warps=4,
        num_stages=5,
    )
    # paged.py:39: return out.view(q.size())
    array = out.view((3, 9, 64))
    return array
