import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def jagged_softmax_0_kernel(
    x, offsets, out, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr, BLOCK_4: tl.constexpr
):
    # only written: out
    # jagged_kernels.py:98: for b in hl.tile(items):
    pid = tl.program_id(0)
    # jagged_kernels.py:99: starts = offsets[b]
    starts = tl.load(offsets + pid)
    # jagged_kernels.py:100: lengths = offsets[b.index + 1] - starts
    offsets_block = tl.load(offsets + (pid + 1))
    # jagged_kernels.py:112: for k in hl.jagged_tile(lengths):
    lengths = offsets_block - starts
    # jagged_kernels.py:101: for m in hl.tile(columns):
    for m_begin in range(0, 256, BLOCK_1):
        m = m_begin + tl.arange(0, BLOCK_1)
        # jagged_kernels.py:104: for k in hl.jagged_tile(lengths):
        top_lanes = tl.full([8, BLOCK_1], float("-inf"), tl.float32)
        for k_begin in range(0, lengths, BLOCK_2):
            k = k_begin + tl.arange(0, BLOCK_2)
            k_mask = k < lengths
            # jagged_kernels.py:106: block = flat[rows[:, :, None] + m.index[None, None, :]].to(torch.float32)
            block = tl.load(x + ((k + starts)[:, None] * 256 + m[None, :]), mask=k_mask[:, None], other=float("-inf"))
            # jagged_kernels.py:107: top = torch.maximum(top, block.amax(1))
            top_lanes = tl.maximum(top_lanes, block, propagate_nan=tl.PropagateNan.ALL)
        top = tl.reduce(top_lanes, 0, _nan_max)
        # jagged_kernels.py:108: for k in hl.jagged_tile(lengths):
        total_lanes = tl.zeros([4, BLOCK_1], tl.float32)
        for k_begin_2 in range(0, lengths, BLOCK_3):
            k_2 = k_begin_2 + tl.arange(0, BLOCK_3)
            k_2_mask = k_2 < lengths
            # jagged_kernels.py:110: block = flat[rows[:, :, None] + m.index[None, None, :]].to(torch.float32)
            block_2 = tl.load(x + ((k_2 + starts)[:, None] * 256 + m[None, :]), mask=k_2_mask[:, None])
            # jagged_kernels.py:111: total = total + torch.exp(block - top[:, None, :]).sum(1)
            v = tl.where(k_2_mask[:, None], tl.exp(block_2 - top[None, :]), 0.0)
            total_lanes = total_lanes + v
        total = tl.sum(total_lanes, axis=0)
        # jagged_kernels.py:112: for k in hl.jagged_tile(lengths):
        for k_begin_3 in range(0, lengths, BLOCK_4):
            k_3 = k_begin_3 + tl.arange(0, BLOCK_4)
            k_3_mask = k_3 < lengths
            # jagged_kernels.py:115: block = flat[place].to(torch.float32)
            block_3 = tl.load(x + ((k_3 + starts)[:, None] * 256 + m[None, :]), mask=k_3_mask[:, None])
            tl.store(
                out + ((k_3 + starts)[:, None] * 256 + m[None, :]),
                tl.div_rn(tl.exp(block_3 - top[None, :]), total[None, :]),
                mask=k_3_mask[:, None],
            )


def jagged_softmax(x, offsets):
    # jagged_kernels.py:96: out = torch.zeros_like(x)
    out = torch.zeros((10240, 256), dtype=torch.float32, device=x.device)
    # jagged_kernels.py:98: for b in hl.tile(items):
    jagged_softmax_0_kernel[(512,)](
        x, offsets, out, BLOCK_1=256, BLOCK_2=8, BLOCK_3=4, BLOCK_4=2, num_warps=4, num_stages=2
    )
    return out
