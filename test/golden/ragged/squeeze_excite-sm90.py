import torch
import triton
import triton.language as tl


@triton.jit
def _divide(a, b):
    # Triton's `/` of f32 is approximate on a GPU.
    if b.dtype == tl.float64:
        q = a / b
    else:
        q = tl.div_rn(a, b)
    return q


@triton.jit
def _reciprocal(x):
    return _divide(1.0, x)


@triton.jit
def _sigmoid(x):
    return _reciprocal(1.0 + tl.exp(-x))


@triton.jit
def squeeze_excite_0_kernel(x, squeeze, hidden, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: hidden
    # squeeze_excite.py:15: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    inner = tl.arange(0, BLOCK_1)
    inner_mask = inner < 90
    lanes = tl.arange(0, 256)
    lanes_mask = lanes < 150
    # squeeze_excite.py:17: hidden[rows, inner] = torch.relu(x[rows, :] @ squeeze[:, inner])
    x_block = tl.load(
        x + (rows[:, None] * 150 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :], other=0.0
    )
    squeeze_block = tl.load(
        squeeze + (lanes[:, None] * 90 + inner[None, :]), mask=lanes_mask[:, None] & inner_mask[None, :], other=0.0
    )
    v = tl.dot(x_block, squeeze_block, input_precision="ieee")
    tl.store(
        hidden + (rows[:, None] * 90 + inner[None, :]),
        tl.where(v < 0.0, 0.0, v),
        mask=rows_mask[:, None] & inner_mask[None, :],
    )


@triton.jit
def squeeze_excite_1_kernel(
    x, excite, out, gate, hidden, BLOCK_4: tl.constexpr, BLOCK_2: tl.constexpr, BLOCK_3: tl.constexpr
):
    # only written: out, gate
    # squeeze_excite.py:15: for rows in hl.tile(m):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 2
    cols_block = pid % cols_blocks
    rows = pid // cols_blocks * BLOCK_4 + tl.arange(0, BLOCK_4)
    rows_mask = rows < 75
    cols = cols_block * BLOCK_2 + tl.arange(0, BLOCK_2)
    cols_mask = cols < 150
    # squeeze_excite.py:19: acc = hl.zeros([rows, cols], dtype=torch.float32)
    acc = tl.zeros([BLOCK_4, BLOCK_2], tl.float32)
    # squeeze_excite.py:20: for inner in hl.tile(k):
    for inner_begin in range(0, 90, BLOCK_3):
        inner = inner_begin + tl.arange(0, BLOCK_3)
        inner_mask = inner < 90
        # squeeze_excite.py:21: acc = torch.addmm(acc, hidden[rows, inner], excite[inner, cols])
        hidden_block = tl.load(
            hidden + (rows[:, None] * 90 + inner[None, :]), mask=rows_mask[:, None] & inner_mask[None, :], other=0.0
        )
        excite_block = tl.load(
            excite + (inner[:, None] * 150 + cols[None, :]), mask=inner_mask[:, None] & cols_mask[None, :], other=0.0
        )
        acc = tl.dot(hidden_block, excite_block, acc, input_precision="ieee")
    # squeeze_excite.py:22: opened = torch.sigmoid(acc).to(x.dtype)
    opened = _sigmoid(acc)
    # squeeze_excite.py:23: gate[rows, cols] = opened
    tl.store(gate + (rows[:, None] * 150 + cols[None, :]), opened, mask=rows_mask[:, None] & cols_mask[None, :])
    # squeeze_excite.py:24: out[rows, cols] = x[rows, cols] * opened
    x_block = tl.load(x + (rows[:, None] * 150 + cols[None, :]), mask=rows_mask[:, None] & cols_mask[None, :])
    tl.store(
        out + (rows[:, None] * 150 + cols[None, :]), x_block * opened, mask=rows_mask[:, None] & cols_mask[None, :]
    )


def squeeze_excite(x, squeeze, excite):
    # squeeze_excite.py:13: out, gate = torch.empty_like(x), torch.empty_like(x)
    out = torch.empty((75, 150), dtype=torch.float32, device=x.device)
    gate = torch.empty((75, 150), dtype=torch.float32, device=x.device)
    # squeeze_excite.py:14: hidden = torch.empty([m, k], dtype=x.dtype, device=x.device)
    hidden = torch.empty((75, 90), dtype=torch.float32, device=x.device)
    # squeeze_excite.py:15: for rows in hl.tile(m):
    squeeze_excite_0_kernel[(5,)](x, squeeze, hidden, BLOCK_0=16, BLOCK_1=128, num_warps=4, num_stages=1)
    squeeze_excite_1_kernel[(10,)](
        x, excite, out, gate, hidden, BLOCK_4=16, BLOCK_2=128, BLOCK_3=128, num_warps=4, num_stages=3
    )
    return out, hidden, gate
