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
def split_matmul_barrier_0_kernel(
    x_desc,
    y_desc,
    parts_desc,
    BLOCK_0: tl.constexpr,
    BLOCK_1: tl.constexpr,
    BLOCK_2: tl.constexpr,
    BLOCK_3: tl.constexpr,
):
    # split_k.py:30: for tile_m, tile_n, outer in hl.tile([m, n, k], block_size=[None, None, part]):
    pid = tl.program_id(0)
    outer_blocks: tl.constexpr = 4
    outer_block = pid % outer_blocks
    rest = pid // outer_blocks
    tile_n_blocks: tl.constexpr = 16
    tile_n_block = rest % tile_n_blocks
    tile_m = rest // tile_n_blocks * BLOCK_0
    tile_n = tile_n_block * BLOCK_1
    outer = outer_block * BLOCK_2
    # split_k.py:31: acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    # split_k.py:32: for tile_k in hl.tile(outer.begin, outer.end):
    for tile_k in range(outer, outer + BLOCK_2, BLOCK_3):
        # split_k.py:33: acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        x_block = x_desc.load([tile_m, tl.cast(tile_k, tl.int32)])
        y_block = y_desc.load([tl.cast(tile_k, tl.int32), tile_n])
        acc = tl.dot(x_block, y_block, acc)
    # split_k.py:34: parts[outer.id, tile_m, tile_n] = acc
    parts_desc.store([tl.cast(outer_block, tl.int32), tile_m, tile_n], acc.reshape([1, BLOCK_0, BLOCK_1]))


@triton.jit
def split_matmul_barrier_1_kernel(parts, out, BLOCK_5: tl.constexpr):
    # only written: out
    # split_k.py:37: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 2
    tile_n_block = pid % tile_n_blocks
    tile_m = pid // tile_n_blocks
    tile_n = tile_n_block * BLOCK_5 + tl.arange(0, BLOCK_5)
    # split_k.py:38: out[tile_m, tile_n] = parts[:, tile_m, tile_n].sum(0).to(x.dtype)
    parts_block = tl.load(parts + tile_m * 512 + (tl.arange(0, 4)[:, None] * 131072 + tile_n[None, :]))
    tl.store(out + tile_m * 512 + tile_n, tl.sum(parts_block, axis=0).to(tl.bfloat16))


def split_matmul_barrier(x, y):
    # split_k.py:28: parts = torch.zeros([splits, m, n], dtype=torch.float32, device=x.device)
    parts = torch.empty((4, 256, 512), dtype=torch.float32, device=x.device)
    # split_k.py:29: out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    out = torch.empty((256, 512), dtype=torch.bfloat16, device=x.device)
    # split_k.py:30: for tile_m, tile_n, outer in hl.tile([m, n, k], block_size=[None, None, part]):
    split_matmul_barrier_0_kernel[(256,)](
        TensorDescriptor(_aligned(x), [256, 8192], [8192, 1], [64, 128]),
        TensorDescriptor(_aligned(y), [8192, 512], [512, 1], [128, 32]),
        TensorDescriptor(parts, [4, 256, 512], [131072, 512, 1], [1, 64, 32]),
        BLOCK_0=64,
        BLOCK_1=32,
        BLOCK_2=2048,
        BLOCK_3=128,
        num_warps=4,
        num_stages=4,
    )
    # split_k.py:37: for tile_m, tile_n in hl.tile([m, n]):
    split_matmul_barrier_1_kernel[(512,)](parts, out, BLOCK_5=256, num_warps=4, num_stages=1)
    return out
