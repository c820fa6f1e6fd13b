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
def matmul_backward_0_kernel(
    grad_desc, y_desc, grad_x_desc, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr
):
    # matmul.py:31: for tile_m, tile_k in hl.tile([m, k]):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    tile_k_blocks: tl.constexpr = 16
    group_cells = GROUP_M * tile_k_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    tile_m_block = first + inside % GROUP_M
    tile_k_block = inside // GROUP_M
    tile_m = tile_m_block * BLOCK_0
    tile_k = tile_k_block * BLOCK_1
    # matmul.py:32: acc = hl.zeros([tile_m, tile_k], dtype=torch.float32)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    # matmul.py:33: for tile_n in hl.tile(n):
    for tile_n in range(0, 768, BLOCK_2):
        # matmul.py:34: acc = torch.addmm(acc, grad[tile_m, tile_n], y[tile_k, tile_n].T)
        grad_block = grad_desc.load([tile_m, tile_n])
        y_block = y_desc.load([tile_k, tile_n])
        acc = tl.dot(grad_block, tl.trans(y_block), acc)
    # matmul.py:35: grad_x[tile_m, tile_k] = acc.to(x.dtype)
    grad_x_desc.store([tile_m, tile_k], acc.to(tl.bfloat16))


@triton.jit
def matmul_backward_1_kernel(
    grad_desc, x_desc, grad_y_desc, BLOCK_3: tl.constexpr, BLOCK_4: tl.constexpr, BLOCK_5: tl.constexpr
):
    # matmul.py:36: for tile_k, tile_n in hl.tile([k, n]):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    tile_n_blocks: tl.constexpr = 12
    group_cells = GROUP_M * tile_n_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    tile_k_block = first + inside % GROUP_M
    tile_n_block = inside // GROUP_M
    tile_k = tile_k_block * BLOCK_3
    tile_n = tile_n_block * BLOCK_4
    # matmul.py:37: acc = hl.zeros([tile_k, tile_n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_3, BLOCK_4], tl.float32)
    # matmul.py:38: for tile_m in hl.tile(m):
    for tile_m in range(0, 1024, BLOCK_5):
        # matmul.py:39: acc = torch.addmm(acc, x[tile_m, tile_k].T, grad[tile_m, tile_n])
        x_block = x_desc.load([tile_m, tile_k])
        grad_block = grad_desc.load([tile_m, tile_n])
        acc = tl.dot(tl.trans(x_block), grad_block, acc)
    # matmul.py:40: grad_y[tile_k, tile_n] = acc.to(y.dtype)
    grad_y_desc.store([tile_k, tile_n], acc.to(tl.bfloat16))


def matmul_backward(grad, x, y):
    # matmul.py:30: grad_x, grad_y = torch.empty_like(x), torch.empty_like(y)
    grad_x = torch.empty((1024, 1000), dtype=torch.bfloat16, device=grad.device)
    grad_y = torch.empty((1000, 768), dtype=torch.bfloat16, device=grad.device)
    # matmul.py:31: for tile_m, tile_k in hl.tile([m, k]):
    matmul_backward_0_kernel[(256,)](
        TensorDescriptor(_aligned(grad), [1024, 768], [768, 1], [64, 128]),
        TensorDescriptor(_aligned(y), [1000, 768], [768, 1], [64, 128]),
        TensorDescriptor(grad_x, [1024, 1000], [1000, 1], [64, 64]),
        BLOCK_0=64,
        BLOCK_1=64,
        BLOCK_2=128,
        num_warps=4,
        num_stages=3,
    )
    # matmul.py:36: for tile_k, tile_n in hl.tile([k, n]):
    matmul_backward_1_kernel[(192,)](
        TensorDescriptor(_aligned(grad), [1024, 768], [768, 1], [64, 64]),
        TensorDescriptor(_aligned(x), [1024, 1000], [1000, 1], [64, 64]),
        TensorDescriptor(grad_y, [1000, 768], [768, 1], [64, 64]),
        BLOCK_3=64,
        BLOCK_4=64,
        BLOCK_5=64,
        num_warps=4,
        num_stages=4,
    )
    return grad_x, grad_y
