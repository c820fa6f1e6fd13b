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
def squeeze_excite_backward_0_kernel(gate, grad, x, to_gate, BLOCK_14: tl.constexpr):
    # only written: to_gate
    # squeeze_excite.py:34: for rows, cols in hl.tile([m, n]):
    pid = tl.program_id(0)
    rows = pid * BLOCK_14 + tl.arange(0, BLOCK_14)
    # squeeze_excite.py:35: opened, arriving = gate[rows, cols].to(torch.float32), grad[rows, cols].to(torch.float32)
    gate_block = tl.load(gate + rows)
    opened = gate_block.to(tl.float32)
    grad_block = tl.load(grad + rows)
    arriving = grad_block.to(tl.float32)
    # squeeze_excite.py:36: to_gate[rows, cols] = (arriving * x[rows, cols] * opened * (1 - opened)).to(x.dtype)
    x_block = tl.load(x + rows)
    v = (arriving * x_block.to(tl.float32) * opened * (1.0 - opened)).to(tl.bfloat16)
    tl.store(to_gate + rows, v)


@triton.jit
def squeeze_excite_backward_1_kernel(
    hidden, excite_desc, to_gate_desc, arg_desc, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr, BLOCK_4: tl.constexpr
):
    # squeeze_excite.py:38: for rows, inner in hl.tile([m, k]):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    inner_blocks: tl.constexpr = 8
    group_cells = GROUP_M * inner_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    rows_block = first + inside % GROUP_M
    inner_block = inside // GROUP_M
    rows_begin = rows_block * BLOCK_2
    rows = rows_begin + tl.arange(0, BLOCK_2)
    inner_begin = inner_block * BLOCK_3
    inner = inner_begin + tl.arange(0, BLOCK_3)
    # squeeze_excite.py:39: acc = hl.zeros([rows, inner], dtype=torch.float32)
    acc = tl.zeros([BLOCK_2, BLOCK_3], tl.float32)
    # squeeze_excite.py:40: for cols in hl.tile(n):
    for cols in range(0, 1024, BLOCK_4):
        # squeeze_excite.py:41: acc = torch.addmm(acc, to_gate[rows, cols], excite[inner, cols].T)
        to_gate_block = to_gate_desc.load([rows_begin, cols])
        excite_block = excite_desc.load([inner_begin, cols])
        acc = tl.dot(to_gate_block, tl.trans(excite_block), acc)
    # squeeze_excite.py:42: to_hidden[rows, inner] = torch.where(hidden[rows, inner] > 0, acc, 0.0).to(x.dtype)
    hidden_block = tl.load(hidden + (rows[:, None] * 256 + inner[None, :]))
    v = tl.where(hidden_block.to(tl.float32) > 0.0, acc, 0.0).to(tl.bfloat16)
    arg_desc.store([rows_begin, inner_begin], v)


@triton.jit
def squeeze_excite_backward_2_kernel(
    hidden_desc, to_gate_desc, arg_desc, BLOCK_5: tl.constexpr, BLOCK_6: tl.constexpr, BLOCK_7: tl.constexpr
):
    # squeeze_excite.py:43: for inner, cols in hl.tile([k, n]):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 32
    cols_block = pid % cols_blocks
    inner = pid // cols_blocks * BLOCK_5
    cols = cols_block * BLOCK_6
    # squeeze_excite.py:44: acc = hl.zeros([inner, cols], dtype=torch.float32)
    acc = tl.zeros([BLOCK_5, BLOCK_6], tl.float32)
    # squeeze_excite.py:45: for rows in hl.tile(m):
    for rows in range(0, 1024, BLOCK_7):
        # squeeze_excite.py:46: acc = torch.addmm(acc, hidden[rows, inner].T, to_gate[rows, cols])
        hidden_block = hidden_desc.load([rows, inner])
        to_gate_block = to_gate_desc.load([rows, cols])
        acc = tl.dot(tl.trans(hidden_block), to_gate_block, acc)
    # squeeze_excite.py:47: grad_excite[inner, cols] = acc.to(x.dtype)
    arg_desc.store([inner, cols], acc.to(tl.bfloat16))


@triton.jit
def squeeze_excite_backward_3_kernel(
    grad,
    gate,
    squeeze_desc,
    grad_x_desc,
    arg_desc,
    BLOCK_8: tl.constexpr,
    BLOCK_9: tl.constexpr,
    BLOCK_10: tl.constexpr,
):
    # squeeze_excite.py:49: for rows, cols in hl.tile([m, n]):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    cols_blocks: tl.constexpr = 16
    group_cells = GROUP_M * cols_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    rows_block = first + inside % GROUP_M
    cols_block = inside // GROUP_M
    rows_begin = rows_block * BLOCK_8
    rows = rows_begin + tl.arange(0, BLOCK_8)
    cols_begin = cols_block * BLOCK_9
    cols = cols_begin + tl.arange(0, BLOCK_9)
    # squeeze_excite.py:50: acc = grad[rows, cols].to(torch.float32) * gate[rows, cols]
    grad_block = tl.load(grad + (rows[:, None] * 1024 + cols[None, :]))
    gate_block = tl.load(gate + (rows[:, None] * 1024 + cols[None, :]))
    acc = grad_block.to(tl.float32) * gate_block.to(tl.float32)
    # squeeze_excite.py:51: for inner in hl.tile(k):
    for inner in range(0, 256, BLOCK_10):
        # squeeze_excite.py:52: acc = torch.addmm(acc, to_hidden[rows, inner], squeeze[cols, inner].T)
        arg_block = arg_desc.load([rows_begin, inner])
        squeeze_block = squeeze_desc.load([cols_begin, inner])
        acc = tl.dot(arg_block, tl.trans(squeeze_block), acc)
    # squeeze_excite.py:53: grad_x[rows, cols] = acc.to(x.dtype)
    grad_x_desc.store([rows_begin, cols_begin], acc.to(tl.bfloat16))


@triton.jit
def squeeze_excite_backward_4_kernel(
    x_desc, arg_desc, arg_2_desc, BLOCK_11: tl.constexpr, BLOCK_12: tl.constexpr, BLOCK_13: tl.constexpr
):
    # squeeze_excite.py:54: for cols, inner in hl.tile([n, k]):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    inner_blocks: tl.constexpr = 8
    group_cells = GROUP_M * inner_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    cols_block = first + inside % GROUP_M
    inner_block = inside // GROUP_M
    cols = cols_block * BLOCK_11
    inner = inner_block * BLOCK_12
    # squeeze_excite.py:55: acc = hl.zeros([cols, inner], dtype=torch.float32)
    acc = tl.zeros([BLOCK_11, BLOCK_12], tl.float32)
    # squeeze_excite.py:56: for rows in hl.tile(m):
    for rows in range(0, 1024, BLOCK_13):
        # squeeze_excite.py:57: acc = torch.addmm(acc, x[rows, cols].T, to_hidden[rows, inner])
        x_block = x_desc.load([rows, cols])
        arg_2_block = arg_2_desc.load([rows, inner])
        acc = tl.dot(tl.trans(x_block), arg_2_block, acc)
    # squeeze_excite.py:58: grad_squeeze[cols, inner] = acc.to(x.dtype)
    arg_desc.store([cols, inner], acc.to(tl.bfloat16))


def squeeze_excite_backward(grad, x, squeeze, excite, hidden, gate):
    # squeeze_excite.py:32: grad_x, to_gate = torch.empty_like(x), torch.empty_like(x)
    grad_x = torch.empty((1024, 1024), dtype=torch.bfloat16, device=grad.device)
    to_gate = torch.empty((1024, 1024), dtype=torch.bfloat16, device=grad.device)
    # squeeze_excite.py:33: grad_squeeze, grad_excite, to_hidden = (torch.empty_like(t) for t in (squeeze, excite, hidden))
    array = torch.empty((1024, 256), dtype=torch.bfloat16, device=grad.device)
    array_2 = torch.empty((256, 1024), dtype=torch.bfloat16, device=grad.device)
    array_3 = torch.empty((1024, 256), dtype=torch.bfloat16, device=grad.device)
    # squeeze_excite.py:34: for rows, cols in hl.tile([m, n]):
    squeeze_excite_backward_0_kernel[(1024,)](gate, grad, x, to_gate, BLOCK_14=1024, num_warps=4, num_stages=1)
    # squeeze_excite.py:38: for rows, inner in hl.tile([m, k]):
    squeeze_excite_backward_1_kernel[(256,)](
        hidden,
        TensorDescriptor(_aligned(excite), [256, 1024], [1024, 1], [32, 128]),
        TensorDescriptor(_aligned(to_gate), [1024, 1024], [1024, 1], [32, 128]),
        TensorDescriptor(array_3, [1024, 256], [256, 1], [32, 32]),
        BLOCK_2=32,
        BLOCK_3=32,
        BLOCK_4=128,
        num_warps=4,
        num_stages=4,
    )
    # squeeze_excite.py:43: for inner, cols in hl.tile([k, n]):
    squeeze_excite_backward_2_kernel[(256,)](
        TensorDescriptor(_aligned(hidden), [1024, 256], [256, 1], [64, 32]),
        TensorDescriptor(_aligned(to_gate), [1024, 1024], [1024, 1], [64, 32]),
        TensorDescriptor(array_2, [256, 1024], [1024, 1], [32, 32]),
        BLOCK_5=32,
        BLOCK_6=32,
        BLOCK_7=64,
        num_warps=4,
        num_stages=4,
    )
    # squeeze_excite.py:49: for rows, cols in hl.tile([m, n]):
    squeeze_excite_backward_3_kernel[(256,)](
        grad,
        gate,
        TensorDescriptor(_aligned(squeeze), [1024, 256], [256, 1], [64, 128]),
        TensorDescriptor(grad_x, [1024, 1024], [1024, 1], [64, 64]),
        TensorDescriptor(_aligned(array_3), [1024, 256], [256, 1], [64, 128]),
        BLOCK_8=64,
        BLOCK_9=64,
        BLOCK_10=128,
        num_warps=4,
        num_stages=3,
    )
    # squeeze_excite.py:54: for cols, inner in hl.tile([n, k]):
    squeeze_excite_backward_4_kernel[(256,)](
        TensorDescriptor(_aligned(x), [1024, 1024], [1024, 1], [64, 32]),
        TensorDescriptor(array, [1024, 256], [256, 1], [32, 32]),
        TensorDescriptor(_aligned(array_3), [1024, 256], [256, 1], [64, 32]),
        BLOCK_11=32,
        BLOCK_12=32,
        BLOCK_13=64,
        num_warps=4,
        num_stages=4,
    )
    return grad_x, array, array_2
