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
    grad, y, acc_parts_desc, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_8: tl.constexpr, BLOCK_2: tl.constexpr
):
    # matmul.py:31: for tile_m, tile_k in hl.tile([m, k]):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 3
    part_block = pid % part_blocks
    rest = pid // part_blocks
    tile_k_blocks: tl.constexpr = 3
    tile_k_block = rest % tile_k_blocks
    tile_m_begin = rest // tile_k_blocks * BLOCK_0
    tile_m = tile_m_begin + tl.arange(0, BLOCK_0)
    tile_m_mask = tile_m < 75
    tile_k_begin = tile_k_block * BLOCK_1
    tile_k = tile_k_begin + tl.arange(0, BLOCK_1)
    tile_k_mask = tile_k < 300
    part = part_block * BLOCK_8
    # matmul.py:33: for tile_n in hl.tile(n):
    v = min(part + BLOCK_8, 333)
    acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    for tile_n_begin in range(part, v, BLOCK_2):
        tile_n = tile_n_begin + tl.arange(0, BLOCK_2)
        tile_n_mask = tile_n < v
        # matmul.py:34: acc = torch.addmm(acc, grad[tile_m, tile_n], y[tile_k, tile_n].T)
        grad_block = tl.load(
            grad + (tile_m[:, None] * 333 + tile_n[None, :]),
            mask=tile_m_mask[:, None] & tile_n_mask[None, :],
            other=0.0,
        )
        y_block = tl.load(
            y + (tile_k[:, None] * 333 + tile_n[None, :]), mask=tile_k_mask[:, None] & tile_n_mask[None, :], other=0.0
        )
        acc = tl.dot(grad_block, tl.trans(y_block), acc, input_precision="ieee")
    # matmul.py:33: for tile_n in hl.tile(n):
    acc_parts_desc.store(
        [tl.cast(part_block, tl.int32), tile_m_begin, tile_k_begin], acc.reshape([1, BLOCK_0, BLOCK_1])
    )


@triton.jit
def matmul_backward_1_kernel(grad_x, acc_parts, BLOCK_6: tl.constexpr, BLOCK_7: tl.constexpr):
    # only written: grad_x
    # matmul.py:31: for tile_m, tile_k in hl.tile([m, k]):
    pid = tl.program_id(0)
    tile_k_blocks: tl.constexpr = 2
    tile_k_block = pid % tile_k_blocks
    tile_m = pid // tile_k_blocks * BLOCK_6 + tl.arange(0, BLOCK_6)
    tile_m_mask = tile_m < 75
    tile_k = tile_k_block * BLOCK_7 + tl.arange(0, BLOCK_7)
    tile_k_mask = tile_k < 300
    lanes = tl.arange(0, 4)
    lanes_mask = lanes < 3
    # matmul.py:33: for tile_n in hl.tile(n):
    acc_parts_block = tl.load(
        acc_parts + (lanes[:, None, None] * 22500 + tile_m[None, :, None] * 300 + tile_k[None, None, :]),
        mask=lanes_mask[:, None, None] & tile_m_mask[None, :, None] & tile_k_mask[None, None, :],
        other=0.0,
    )
    acc = tl.sum(acc_parts_block, axis=0)
    # matmul.py:35: grad_x[tile_m, tile_k] = acc.to(x.dtype)
    tl.store(grad_x + (tile_m[:, None] * 300 + tile_k[None, :]), acc, mask=tile_m_mask[:, None] & tile_k_mask[None, :])


@triton.jit
def matmul_backward_2_kernel(grad, grad_y, x_desc, BLOCK_3: tl.constexpr, BLOCK_4: tl.constexpr, BLOCK_5: tl.constexpr):
    # only written: grad_y
    # matmul.py:36: for tile_k, tile_n in hl.tile([k, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 3
    tile_n_block = pid % tile_n_blocks
    tile_k_begin = pid // tile_n_blocks * BLOCK_3
    tile_k = tile_k_begin + tl.arange(0, BLOCK_3)
    tile_k_mask = tile_k < 300
    tile_n = tile_n_block * BLOCK_4 + tl.arange(0, BLOCK_4)
    tile_n_mask = tile_n < 333
    # matmul.py:37: acc = hl.zeros([tile_k, tile_n], dtype=torch.float32)
    acc = tl.zeros([BLOCK_3, BLOCK_4], tl.float32)
    # matmul.py:38: for tile_m in hl.tile(m):
    for tile_m_begin in range(0, 75, BLOCK_5):
        tile_m = tile_m_begin + tl.arange(0, BLOCK_5)
        tile_m_mask = tile_m < 75
        # matmul.py:39: acc = torch.addmm(acc, x[tile_m, tile_k].T, grad[tile_m, tile_n])
        x_block = x_desc.load([tile_m_begin, tile_k_begin])
        grad_block = tl.load(
            grad + (tile_m[:, None] * 333 + tile_n[None, :]),
            mask=tile_m_mask[:, None] & tile_n_mask[None, :],
            other=0.0,
        )
        acc = tl.dot(tl.trans(x_block), grad_block, acc, input_precision="ieee")
    # matmul.py:40: grad_y[tile_k, tile_n] = acc.to(y.dtype)
    tl.store(grad_y + (tile_k[:, None] * 333 + tile_n[None, :]), acc, mask=tile_k_mask[:, None] & tile_n_mask[None, :])


def matmul_backward(grad, x, y):
    # matmul.py:30: grad_x, grad_y = torch.empty_like(x), torch.empty_like(y)
    grad_x = torch.empty((75, 300), dtype=torch.float32, device=grad.device)
    grad_y = torch.empty((300, 333), dtype=torch.float32, device=grad.device)
    # matmul.py:31: for tile_m, tile_k in hl.tile([m, k]):
    acc_parts = torch.empty((3, 75, 300), dtype=torch.float32, device=grad.device)
    matmul_backward_0_kernel[(27,)](
        grad,
        y,
        TensorDescriptor(acc_parts, [3, 75, 300], [22500, 300, 1], [1, 32, 128]),
        BLOCK_0=32,
        BLOCK_1=128,
        BLOCK_8=128,
        BLOCK_2=128,
        num_warps=4,
        num_stages=2,
    )
    matmul_backward_1_kernel[(76,)](grad_x, acc_parts, BLOCK_6=2, BLOCK_7=256, num_warps=4, num_stages=1)
    # matmul.py:36: for tile_k, tile_n in hl.tile([k, n]):
    matmul_backward_2_kernel[(9,)](
        grad,
        grad_y,
        TensorDescriptor(_aligned(x), [75, 300], [300, 1], [32, 128]),
        BLOCK_3=128,
        BLOCK_4=128,
        BLOCK_5=32,
        num_warps=8,
        num_stages=4,
    )
    return grad_x, grad_y
