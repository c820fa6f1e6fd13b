import torch
import triton
import triton.language as tl


@triton.jit
def gather_gemv_0_kernel(matrices, numbers, vector, out, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # only written: out
    # gather.py:25: for tile_i, tile_m in hl.tile([numbers.size(0), m]):
    pid = tl.program_id(0)
    tile_m_blocks: tl.constexpr = 3
    tile_m_block = pid % tile_m_blocks
    tile_i = pid // tile_m_blocks
    tile_m = tile_m_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    tile_m_mask = tile_m < 75
    # gather.py:27: for tile_k in hl.tile(k):
    acc_lanes = tl.zeros([BLOCK_1, 128], tl.float32)
    for tile_k_begin in range(0, 200, BLOCK_2):
        tile_k = tile_k_begin + tl.arange(0, BLOCK_2)
        tile_k_mask = tile_k < 200
        # gather.py:28: block = matrices[numbers[tile_i], tile_m, tile_k].to(torch.float32)
        numbers_block = tl.load(numbers + tile_i)
        matrices_block = tl.load(
            matrices + numbers_block * 15000 + (tile_m[:, None] * 200 + tile_k[None, :]),
            mask=tile_m_mask[:, None] & tile_k_mask[None, :],
            other=0,
        )
        block = matrices_block.to(tl.float32)
        # gather.py:29: acc = acc + (block * vector[tile_k].to(torch.float32)).sum(-1)
        vector_block = tl.load(vector + tile_k, mask=tile_k_mask, other=0.0)
        acc_lanes = acc_lanes + block * vector_block[None, :]
    acc = tl.sum(acc_lanes, axis=1)
    # gather.py:30: out[tile_i, tile_m] = acc.to(out.dtype)
    tl.store(out + tile_i.to(tl.int64) * 75 + tile_m, acc, mask=tile_m_mask)


def gather_gemv(matrices, numbers, vector):
    # gather.py:24: out = torch.empty([numbers.size(0), m], dtype=vector.dtype)
    out = torch.empty((3, 75), dtype=torch.float32, device=matrices.device)
    # gather.py:25: for tile_i, tile_m in hl.tile([numbers.size(0), m]):
    gather_gemv_0_kernel[(9,)](matrices, numbers, vector, out, BLOCK_1=32, BLOCK_2=128, num_warps=8, num_stages=2)
    return out
