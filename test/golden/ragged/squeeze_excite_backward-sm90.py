import torch
import triton
import triton.language as tl


@triton.jit
def squeeze_excite_backward_0_kernel(gate, grad, x, to_gate, BLOCK_14: tl.constexpr):
    # only written: to_gate
    # squeeze_excite.py:34: for rows, cols in hl.tile([m, n]):
    pid = tl.program_id(0)
    rows = pid * BLOCK_14 + tl.arange(0, BLOCK_14)
    rows_mask = rows < 11250
    # squeeze_excite.py:35: opened, arriving = gate[rows, cols].to(torch.float32), grad[rows, cols].to(torch.float32)
    opened = tl.load(gate + rows, mask=rows_mask)
    arriving = tl.load(grad + rows, mask=rows_mask)
    # squeeze_excite.py:36: to_gate[rows, cols] = (arriving * x[rows, cols] * opened * (1 - opened)).to(x.dtype)
    x_block = tl.load(x + rows, mask=rows_mask)
    tl.store(to_gate + rows, arriving * x_block * opened * (1.0 - opened), mask=rows_mask)


@triton.jit
def squeeze_excite_backward_1_kernel(
    excite, hidden, to_gate, arg, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr, BLOCK_4: tl.constexpr
):
    # only written: arg
    # squeeze_excite.py:38: for rows, inner in hl.tile([m, k]):
    pid = tl.program_id(0)
    rows = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
    rows_mask = rows < 75
    inner = tl.arange(0, BLOCK_3)
    inner_mask = inner < 90
    # squeeze_excite.py:39: acc = hl.zeros([rows, inner], dtype=torch.float32)
    acc = tl.zeros([BLOCK_2, BLOCK_3], tl.float32)
    # squeeze_excite.py:40: for cols in hl.tile(n):
    for cols_begin in range(0, 150, BLOCK_4):
        cols = cols_begin + tl.arange(0, BLOCK_4)
        cols_mask = cols < 150
        # squeeze_excite.py:41: acc = torch.addmm(acc, to_gate[rows, cols], excite[inner, cols].T)
        to_gate_block = tl.load(
            to_gate + (rows[:, None] * 150 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :], other=0.0
        )
        excite_block = tl.load(
            excite + (inner[:, None] * 150 + cols[None, :]), mask=inner_mask[:, None] & cols_mask[None, :], other=0.0
        )
        acc = tl.dot(to_gate_block, tl.trans(excite_block), acc, input_precision="ieee")
    # squeeze_excite.py:42: to_hidden[rows, inner] = torch.where(hidden[rows, inner] > 0, acc, 0.0).to(x.dtype)
    hidden_block = tl.load(
        hidden + (rows[:, None] * 90 + inner[None, :]), mask=rows_mask[:, None] & inner_mask[None, :]
    )
    tl.store(
        arg + (rows[:, None] * 90 + inner[None, :]),
        tl.where(hidden_block > 0.0, acc, 0.0),
        mask=rows_mask[:, None] & inner_mask[None, :],
    )


@triton.jit
def squeeze_excite_backward_2_kernel(
    hidden, to_gate, arg, BLOCK_5: tl.constexpr, BLOCK_6: tl.constexpr, BLOCK_7: tl.constexpr
):
    # only written: arg
    # squeeze_excite.py:43: for inner, cols in hl.tile([k, n]):
    pid = tl.program_id(0)
    inner = tl.arange(0, BLOCK_5)
    inner_mask = inner < 90
    cols = pid * BLOCK_6 + tl.arange(0, BLOCK_6)
    cols_mask = cols < 150
    # squeeze_excite.py:44: acc = hl.zeros([inner, cols], dtype=torch.float32)
    acc = tl.zeros([BLOCK_5, BLOCK_6], tl.float32)
    # squeeze_excite.py:45: for rows in hl.tile(m):
    for rows_begin in range(0, 75, BLOCK_7):
        rows = rows_begin + tl.arange(0, BLOCK_7)
        rows_mask = rows < 75
        # squeeze_excite.py:46: acc = torch.addmm(acc, hidden[rows, inner].T, to_gate[rows, cols])
        hidden_block = tl.load(
            hidden + (rows[:, None] * 90 + inner[None, :]), mask=rows_mask[:, None] & inner_mask[None, :], other=0.0
        )
        to_gate_block = tl.load(
            to_gate + (rows[:, None] * 150 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :], other=0.0
        )
        acc = tl.dot(tl.trans(hidden_block), to_gate_block, acc, input_precision="ieee")
    # squeeze_excite.py:47: grad_excite[inner, cols] = acc.to(x.dtype)
    tl.store(arg + (inner[:, None] * 150 + cols[None, :]), acc, mask=inner_mask[:, None] & cols_mask[None, :])


@triton.jit
def squeeze_excite_backward_3_kernel(
    grad, squeeze, gate, grad_x, arg, BLOCK_8: tl.constexpr, BLOCK_9: tl.constexpr, BLOCK_10: tl.constexpr
):
    # only written: grad_x
    # squeeze_excite.py:49: for rows, cols in hl.tile([m, n]):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 2
    cols_block = pid % cols_blocks
    rows = pid // cols_blocks * BLOCK_8 + tl.arange(0, BLOCK_8)
    rows_mask = rows < 75
    cols = cols_block * BLOCK_9 + tl.arange(0, BLOCK_9)
    cols_mask = cols < 150
    # squeeze_excite.py:50: acc = grad[rows, cols].to(torch.float32) * gate[rows, cols]
    grad_block = tl.load(grad + (rows[:, None] * 150 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :])
    gate_block = tl.load(gate + (rows[:, None] * 150 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :])
    acc = grad_block * gate_block
    # squeeze_excite.py:51: for inner in hl.tile(k):
    for inner_begin in range(0, 90, BLOCK_10):
        inner = inner_begin + tl.arange(0, BLOCK_10)
        inner_mask = inner < 90
        # squeeze_excite.py:52: acc = torch.addmm(acc, to_hidden[rows, inner], squeeze[cols, inner].T)
        arg_block = tl.load(
            arg + (rows[:, None] * 90 + inner[None, :]), mask=rows_mask[:, None] & inner_mask[None, :], other=0.0
        )
        squeeze_block = tl.load(
            squeeze + (cols[:, None] * 90 + inner[None, :]), mask=cols_mask[:, None] & inner_mask[None, :], other=0.0
        )
        acc = tl.dot(arg_block, tl.trans(squeeze_block), acc, input_precision="ieee")
    # squeeze_excite.py:53: grad_x[rows, cols] = acc.to(x.dtype)
    tl.store(grad_x + (rows[:, None] * 150 + cols[None, :]), acc, mask=rows_mask[:, None] & cols_mask[None, :])


@triton.jit
def squeeze_excite_backward_4_kernel(
    x, arg, arg_2, BLOCK_11: tl.constexpr, BLOCK_12: tl.constexpr, BLOCK_13: tl.constexpr
):
    # only written: arg
    # squeeze_excite.py:54: for cols, inner in hl.tile([n, k]):
    pid = tl.program_id(0)
    cols = pid * BLOCK_11 + tl.arange(0, BLOCK_11)
    cols_mask = cols < 150
    inner = tl.arange(0, BLOCK_12)
    inner_mask = inner < 90
    # squeeze_excite.py:55: acc = hl.zeros([cols, inner], dtype=torch.float32)
    acc = tl.zeros([BLOCK_11, BLOCK_12], tl.float32)
    # squeeze_excite.py:56: for rows in hl.tile(m):
    for rows_begin in range(0, 75, BLOCK_13):
        rows = rows_begin + tl.arange(0, BLOCK_13)
        rows_mask = rows < 75
        # squeeze_excite.py:57: acc = torch.addmm(acc, x[rows, cols].T, to_hidden[rows, inner])
        x_block = tl.load(
            x + (rows[:, None] * 150 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :], other=0.0
        )
        arg_2_block = tl.load(
            arg_2 + (rows[:, None] * 90 + inner[None, :]), mask=rows_mask[:, None] & inner_mask[None, :], other=0.0
        )
        acc = tl.dot(tl.trans(x_block), arg_2_block, acc, input_precision="ieee")
    # squeeze_excite.py:58: grad_squeeze[cols, inner] = acc.to(x.dtype)
    tl.store(arg + (cols[:, None] * 90 + inner[None, :]), acc, mask=cols_mask[:, None] & inner_mask[None, :])


def squeeze_excite_backward(grad, x, squeeze, excite, hidden, gate):
    # squeeze_excite.py:32: grad_x, to_gate = torch.empty_like(x), torch.empty_like(x)
    grad_x = torch.empty((75, 150), dtype=torch.float32, device=grad.device)
    to_gate = torch.empty((75, 150), dtype=torch.float32, device=grad.device)
    # squeeze_excite.py:33: grad_squeeze, grad_excite, to_hidden = (torch.empty_like(t) for t in (squeeze, excite, hidden))
    array = torch.empty((150, 90), dtype=torch.float32, device=grad.device)
    array_2 = torch.empty((90, 150), dtype=torch.float32, device=grad.device)
    array_3 = torch.empty((75, 90), dtype=torch.float32, device=grad.device)
    # squeeze_excite.py:34: for rows, cols in hl.tile([m, n]):
    squeeze_excite_backward_0_kernel[(6,)](gate, grad, x, to_gate, BLOCK_14=2048, num_warps=8, num_stages=1)
    # squeeze_excite.py:38: for rows, inner in hl.tile([m, k]):
    squeeze_excite_backward_1_kernel[(5,)](
        excite, hidden, to_gate, array_3, BLOCK_2=16, BLOCK_3=128, BLOCK_4=128, num_warps=4, num_stages=3
    )
    # squeeze_excite.py:43: for inner, cols in hl.tile([k, n]):
    squeeze_excite_backward_2_kernel[(2,)](
        hidden, to_gate, array_2, BLOCK_5=128, BLOCK_6=128, BLOCK_7=16, num_warps=8, num_stages=4
    )
    # squeeze_excite.py:49: for rows, cols in hl.tile([m, n]):
    squeeze_excite_backward_3_kernel[(10,)](
        grad, squeeze, gate, grad_x, array_3, BLOCK_8=16, BLOCK_9=128, BLOCK_10=128, num_warps=4, num_stages=3
    )
    # squeeze_excite.py:54: for cols, inner in hl.tile([n, k]):
    squeeze_excite_backward_4_kernel[(2,)](
        x, array, array_3, BLOCK_11=128, BLOCK_12=128, BLOCK_13=16, num_warps=8, num_stages=4
    )
    return grad_x, array, array_2
