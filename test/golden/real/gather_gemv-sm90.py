import torch
import triton
import triton.language as tl


@triton.jit
def gather_gemv_0_kernel(matrices, numbers, vector, out, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
    # only written: out
    # gather.py:25: for tile_i, tile_m in hl.tile([numbers.size(0), m]):
    pid = tl.program_id(0)
    tile_m_blocks: tl.constexpr = 512
    tile_m_block = pid % tile_m_blocks
    tile_i = pid // tile_m_blocks
    tile_m = tile_m_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    # gather.py:27: for tile_k in hl.tile(k):
    acc_lanes = tl.zeros([BLOCK_1, 1024], tl.float32)
    for tile_k_begin in range(0, 2048, BLOCK_2):
        tile_k = tile_k_begin + tl.arange(0, BLOCK_2)
        # gather.py:28: block = matrices[numbers[tile_i], tile_m, tile_k].to(torch.float32)
        numbers_block = tl.load(numbers + tile_i)
        matrices_block = tl.load(matrices + numbers_block * 4194304 + (tile_m[:, None] * 2048 + tile_k[None, :]))
        block = matrices_block.to(tl.float32)
        # gather.py:29: acc = acc + (block * vector[tile_k].to(torch.float32)).sum(-1)
        vector_block = tl.load(vector + tile_k)
        acc_lanes = acc_lanes + block * vector_block.to(tl.float32)[None, :]
    acc = tl.sum(acc_lanes, axis=1)
    # gather.py:30: out[tile_i, tile_m] = acc.to(out.dtype)
    tl.store(out + tile_i * 2048 + tile_m, acc.to(tl.bfloat16))


def gather_gemv(matrices, numbers, vector):
    # gather.py:24: out = torch.empty([numbers.size(0), m], dtype=vector.dtype)
    out = torch.empty((2, 2048), dtype=torch.bfloat16, device=matrices.device)
    # gather.py:25: for tile_i, tile_m in hl.tile([numbers.size(0), m]):
    gather_gemv_0_kernel[(1024,)](matrices, numbers, vector, out, BLOCK_1=4, BLOCK_2=1024, num_warps=4, num_stages=2)
    return out
