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
def paged_attention_0_kernel(lengths, table, out, keys_desc, values_desc, grouped_desc, BLOCK_2: tl.constexpr):
    # only written: out
    # paged.py:21: for tile_s, h in hl.tile([sequences, few], block_size=[1, None]):
    pid = tl.program_id(0)
    h_blocks: tl.constexpr = 8
    h_block = pid % h_blocks
    tile_s = pid // h_blocks
    # paged.py:23: length = lengths[s]
    length = tl.load(lengths + tile_s)
    # paged.py:24: queries = grouped[s, h, :, :]
    queries = grouped_desc.load([tile_s, h_block, 0, 0]).reshape([4, 128])
    # paged.py:27: acc = hl.zeros([h, group, d], dtype=torch.float32)
    acc = tl.zeros([4, 128], tl.float32)
    # paged.py:25: top = hl.full([h, group], float("-inf"), dtype=torch.float32)
    top = tl.full([4], float("-inf"), tl.float32)
    # paged.py:26: total = hl.zeros([h, group], dtype=torch.float32)
    total = tl.zeros([4], tl.float32)
    # paged.py:28: for tile in hl.tile(0, length, block_size=page):
    if 0 < length:
        for tile in range(0, length, BLOCK_2):
            # paged.py:29: number = table[s, tile.id]
            number = tl.load(table + (tile_s * 16 + tile // BLOCK_2))
            # paged.py:30: scores = hl.dot(queries, keys[h, number, :, :].transpose(1, 2), out_dtype=torch.float32) * scale
            keys_block = keys_desc.load([h_block, tl.cast(number, tl.int32), 0, 0]).reshape([128, 128])
            # paged.py:31: scores = torch.where(tile.begin + hl.arange(page)[None, None, :] < length, scores, float("-inf"))
            v = tl.cast(tile, tl.int32) + tl.arange(0, 128)[None, None, :] < length
            scores = tl.where(
                tl.reshape(v, [1, 128]), tl.dot(queries, tl.trans(keys_block)) * 0.12751743, float("-inf")
            )
            # paged.py:32: higher = torch.maximum(top, scores.amax(-1))
            higher = tl.maximum(top, tl.reduce(scores, 1, _nan_max), propagate_nan=tl.PropagateNan.ALL)
            # paged.py:33: weights = torch.exp(scores - higher[:, :, None])
            weights = tl.exp2(scores - higher[:, None])
            # paged.py:34: fade = torch.exp(top - higher)
            fade = tl.exp2(top - higher)
            # paged.py:36: acc = hl.dot(weights.to(values.dtype), values[h, number, :, :], acc=acc * fade[:, :, None])
            values_block = values_desc.load([h_block, tl.cast(number, tl.int32), 0, 0]).reshape([128, 128])
            acc = tl.dot(weights.to(tl.bfloat16), values_block, acc * fade[:, None])
            # paged.py:37: top = higher
            top = higher
            # paged.py:35: total = total * fade + weights.sum(-1)
            total = total * fade + tl.sum(weights, axis=1)
    # paged.py:38: out[s, h, :, :] = (acc / total[:, :, None]).to(out.dtype)
    tl.store(
        out + (tile_s * 4096 + h_block * 512) + (tl.arange(0, 4)[:, None] * 128 + tl.arange(0, 128)[None, :]),
        (acc / total[:, None]).to(tl.bfloat16),
    )


def paged_attention(q, keys, values, lengths, table):
    # paged.py:19: out = torch.empty_like(grouped)
    out = torch.empty((16, 8, 4, 128), dtype=torch.bfloat16, device=q.device)
    # paged.py:21: for tile_s, h in hl.tile([sequences, few], block_size=[1, None]):
    paged_attention_0_kernel[(128,)](
        lengths,
        table,
        out,
        TensorDescriptor(_aligned(keys), [8, 256, 128, 128], [4194304, 16384, 128, 1], [1, 1, 128, 128]),
        TensorDescriptor(_aligned(values), [8, 256, 128, 128], [4194304, 16384, 128, 1], [1, 1, 128, 128]),
        TensorDescriptor(_aligned(q), [16, 8, 4, 128], [4096, 512, 128, 1], [1, 1, 4, 128]),
        BLOCK_2=128,
        num_warps=4,
        num_stages=5,
    )
    # paged.py:39: return out.view(q.size())
    array = out.view((16, 32, 128))
    return array
