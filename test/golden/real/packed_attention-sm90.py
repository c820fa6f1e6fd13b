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
def packed_attention_0_kernel(v, offsets, out, q_desc, k_desc, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr):
    # only written: out
    # packed.py:16: for i, h in hl.grid([offsets.size(0) - 1, heads]):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 2
    part_block = pid % part_blocks
    rest = pid // part_blocks
    h_blocks: tl.constexpr = 8
    h_block = rest % h_blocks
    i = rest // h_blocks
    # packed.py:17: begin, end = offsets[i], offsets[i + 1]
    begin = tl.load(offsets + i)
    end = tl.load(offsets + (i + 1))
    # packed.py:18: for mine in hl.tile(begin, end):
    begin_2 = begin.to(tl.int32)
    end_2 = end.to(tl.int32)
    visits = tl.cdiv(tl.cdiv(max(end_2 - begin_2, 0), 64), 2)
    part_begin = begin_2 + part_block * visits * 64
    part_end = min(end_2, part_begin + visits * 64)
    for mine_begin in range(part_begin, part_end, BLOCK_2):
        mine = mine_begin + tl.arange(0, BLOCK_2)
        mine_mask = mine < part_end
        # packed.py:23: scores = torch.matmul(q[mine, h, :], k[others, h, :].transpose(0, 1)).to(torch.float32) * scale
        q_block = q_desc.load([tl.cast(mine_begin, tl.int32), h_block, 0]).reshape([BLOCK_2, 128])
        # packed.py:21: acc = hl.zeros([mine, depth], dtype=torch.float32)
        acc = tl.zeros([BLOCK_2, 128], tl.float32)
        # packed.py:19: top = hl.full([mine], float("-inf"), dtype=torch.float32)
        top = tl.full([BLOCK_2], float("-inf"), tl.float32)
        # packed.py:20: total = hl.zeros([mine], dtype=torch.float32)
        total = tl.zeros([BLOCK_2], tl.float32)
        # packed.py:22: for others in hl.tile(begin, end):
        if begin_2 < end_2:
            for others_begin in range(begin_2, end_2, BLOCK_3):
                others = others_begin + tl.arange(0, BLOCK_3)
                others_mask = others < end_2
                # packed.py:23: scores = torch.matmul(q[mine, h, :], k[others, h, :].transpose(0, 1)).to(torch.float32) * scale
                k_block = k_desc.load([tl.cast(others_begin, tl.int32), h_block, 0]).reshape([BLOCK_3, 128])
                v_2 = tl.dot(q_block, tl.trans(k_block)).to(tl.bfloat16).to(tl.float32)
                # packed.py:25: scores = torch.where(mine.index[:, None] >= others.index[None, :], scores, float("-inf"))
                scores = tl.where(mine[:, None] >= others[None, :], v_2 * 0.12751743, float("-inf"))
                # packed.py:26: higher = torch.maximum(top, scores.amax(1))
                v_3 = tl.reduce(tl.where(others_mask[None, :], scores, float("-inf")), 1, _nan_max)
                higher = tl.maximum(top, v_3, propagate_nan=tl.PropagateNan.ALL)
                # packed.py:27: weights = torch.exp(scores - higher[:, None])
                weights = tl.exp2(scores - higher[:, None])
                # packed.py:28: decay = torch.exp(top - higher)
                decay = tl.exp2(top - higher)
                # packed.py:30: acc = torch.addmm(acc * decay[:, None], weights.to(v.dtype), v[others, h, :])
                v_block = tl.load(
                    v + h_block * 128 + (others[:, None] * 1024 + tl.arange(0, 128)[None, :]),
                    mask=others_mask[:, None],
                    other=0.0,
                )
                acc = tl.dot(
                    tl.where(others_mask[None, :], weights.to(tl.bfloat16), 0.0), v_block, acc * decay[:, None]
                )
                # packed.py:31: top = higher
                top = higher
                # packed.py:29: total = total * decay + weights.sum(1)
                total = total * decay + tl.sum(tl.where(others_mask[None, :], weights, 0.0), axis=1)
        # packed.py:32: out[mine, h, :] = (acc / total[:, None]).to(q.dtype)
        tl.store(
            out + h_block * 128 + (mine[:, None] * 1024 + tl.arange(0, 128)[None, :]),
            (acc / total[:, None]).to(tl.bfloat16),
            mask=mine_mask[:, None],
        )


def packed_attention(q, k, v, offsets):
    # packed.py:14: out = torch.zeros_like(q)
    out = torch.zeros((2048, 8, 128), dtype=torch.bfloat16, device=q.device)
    # packed.py:16: for i, h in hl.grid([offsets.size(0) - 1, heads]):
    packed_attention_0_kernel[(256,)](
        v,
        offsets,
        out,
        TensorDescriptor(_aligned(q), [2048, 8, 128], [1024, 128, 1], [64, 1, 128]),
        TensorDescriptor(_aligned(k), [2048, 8, 128], [1024, 128, 1], [32, 1, 128]),
        BLOCK_2=64,
        BLOCK_3=32,
        num_warps=4,
        num_stages=4,
    )
    return out
