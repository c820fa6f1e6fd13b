import torch
import triton
import triton.language as tl


@triton.jit
def gather_rows_0_kernel(x, scales, numbers, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # gather.py:15: for tile_i, tile_n in hl.tile([numbers.size(0), n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 8
    tile_n_block = pid % tile_n_blocks
    tile_i = pid // tile_n_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_n = tile_n_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    # gather.py:16: out[tile_i, tile_n] = x[numbers[tile_i], tile_n] * scales[tile_i][:, None]
    numbers_block = tl.load(numbers + tile_i)
    x_block = tl.load(x + (numbers_block[:, None] * 512 + tile_n[None, :]))
    scales_block = tl.load(scales + tile_i)
    v = x_block.to(tl.float32) * scales_block[:, None].to(tl.float32)
    tl.store(out + (tile_i[:, None] * 512 + tile_n[None, :]), v.to(tl.bfloat16))


def gather_rows(x, numbers, scales):
    # gather.py:13: numbers = torch.where(numbers < 0, numbers + rows, numbers)
    array = torch.ops.aten.lt.Scalar(numbers, 0)
    array_2 = torch.ops.aten.add.Tensor(numbers, 8000)
    numbers_2 = torch.ops.aten.where.self(array, array_2, numbers)
    # gather.py:14: out = torch.empty([numbers.size(0), n], dtype=x.dtype)
    out = torch.empty((64, 512), dtype=torch.bfloat16, device=x.device)
    # gather.py:15: for tile_i, tile_n in hl.tile([numbers.size(0), n]):
    gather_rows_0_kernel[(256,)](x, scales, numbers_2, out, BLOCK_0=2, BLOCK_1=64, num_warps=1, num_stages=1)
    return out
