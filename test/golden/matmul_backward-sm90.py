import torch
import triton
import triton.language as tl


@triton.jit
def matmul_backward_0_kernel(grad, y, grad_x):
    # only written: grad_x
    BLOCK_0: tl.constexpr = 64
    BLOCK_1: tl.constexpr = 64
    BLOCK_2: tl.constexpr = 64
    # matmul.py:31: for tile_m, tile_k in hl.tile([m, k]):
    pid = tl.program_id(0)
    first = pid // 128 * 8
    group = min(16 - first, 8)
    inside = pid % 128
    tile_m_block = first + inside % group
    tile_k_block = inside // group
    tile_m = tile_m_block * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_k = tile_k_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    tile_k_mask = tile_k < 1000
    # matmul.py:33: for tile_n in hl.tile(n):
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    for tile_n_begin in range(0, 768, BLOCK_2):
        tile_n = tile_n_begin + tl.arange(0, BLOCK_2)
        # matmul.py:34: acc = torch.addmm(acc, grad[tile_m, tile_n], y[tile_k, tile_n].T)
        grad_block = tl.load(grad + (tile_m[:, None] * 768 + tile_n[None, :]))
        y_block = tl.load(y + (tile_k[:, None] * 768 + tile_n[None, :]), mask=tile_k_mask[:, None])
        acc = tl.dot(grad_block, tl.trans(y_block), acc)
    # matmul.py:35: grad_x[tile_m, tile_k] = acc.to(x.dtype)
    tl.store(grad_x + (tile_m[:, None] * 1000 + tile_k[None, :]), acc.to(tl.bfloat16), mask=tile_k_mask[None, :])


@triton.jit
def matmul_backward_1_kernel(grad, x, grad_y):
    # only written: grad_y
    BLOCK_3: tl.constexpr = 64
    BLOCK_4: tl.constexpr = 64
    BLOCK_5: tl.constexpr = 32
    # matmul.py:36: for tile_k, tile_n in hl.tile([k, n]):
    pid = tl.program_id(0)
    first = pid // 96 * 8
    group = min(16 - first, 8)
    inside = pid % 96
    tile_k_block = first + inside % group
    tile_n_block = inside // group
    tile_k = tile_k_block * BLOCK_3 + tl.arange(0, BLOCK_3)
    tile_k_mask = tile_k < 1000
    tile_n = tile_n_block * BLOCK_4 + tl.arange(0, BLOCK_4)
    # matmul.py:38: for tile_m in hl.tile(m):
    acc = tl.zeros([BLOCK_3, BLOCK_4], tl.float32)
    for tile_m_begin in range(0, 1024, BLOCK_5):
        tile_m = tile_m_begin + tl.arange(0, BLOCK_5)
        # matmul.py:39: acc = torch.addmm(acc, x[tile_m, tile_k].T, grad[tile_m, tile_n])
        x_block = tl.load(x + (tile_m[:, None] * 1000 + tile_k[None, :]), mask=tile_k_mask[None, :])
        grad_block = tl.load(grad + (tile_m[:, None] * 768 + tile_n[None, :]))
        acc = tl.dot(tl.trans(x_block), grad_block, acc)
    # matmul.py:40: grad_y[tile_k, tile_n] = acc.to(y.dtype)
    tl.store(grad_y + (tile_k[:, None] * 768 + tile_n[None, :]), acc.to(tl.bfloat16), mask=tile_k_mask[:, None])


def matmul_backward(grad, x, y):
    # matmul.py:30: grad_x, grad_y = torch.empty_like(x), torch.empty_like(y)
    grad_x = torch.empty((1024, 1000), dtype=torch.bfloat16, device=grad.device)
    grad_y = torch.empty((1000, 768), dtype=torch.bfloat16, device=grad.device)
    # matmul.py:31: for tile_m, tile_k in hl.tile([m, k]):
    matmul_backward_0_kernel[(256,)](grad, y, grad_x, num_warps=4, num_stages=4)
    # matmul.py:36: for tile_k, tile_n in hl.tile([k, n]):
    matmul_backward_1_kernel[(192,)](grad, x, grad_y, num_warps=4, num_stages=4)
    return grad_x, grad_y
