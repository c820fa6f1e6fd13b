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
def squeeze_excite_0_kernel(
    x_desc, squeeze_desc, hidden_desc, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_5: tl.constexpr
):
    # squeeze_excite.py:15: for rows in hl.tile(m):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    inner_blocks: tl.constexpr = 8
    group_cells = GROUP_M * inner_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    rows_block = first + inside % GROUP_M
    inner_block = inside // GROUP_M
    rows = rows_block * BLOCK_0
    inner = inner_block * BLOCK_1
    # squeeze_excite.py:17: hidden[rows, inner] = torch.relu(x[rows, :] @ squeeze[:, inner])
    v = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    for k in range(0, 1024, BLOCK_5):
        x_block = x_desc.load([rows, k])
        squeeze_block = squeeze_desc.load([k, inner])
        v = tl.dot(x_block, squeeze_block, v)
    v_2 = v.to(tl.bfloat16).to(tl.float32)
    hidden_desc.store([rows, inner], tl.where(v_2 < 0.0, 0.0, v_2).to(tl.bfloat16))


@triton.jit
def squeeze_excite_1_kernel(
    x,
    excite_desc,
    out_desc,
    gate_desc,
    hidden_desc,
    BLOCK_4: tl.constexpr,
    BLOCK_2: tl.constexpr,
    BLOCK_3: tl.constexpr,
):
    # squeeze_excite.py:15: for rows in hl.tile(m):
    pid = tl.program_id(0)
    GROUP_M: tl.constexpr = 8
    cols_blocks: tl.constexpr = 8
    group_cells = GROUP_M * cols_blocks
    first = pid // group_cells * GROUP_M
    inside = pid % group_cells
    rows_block = first + inside % GROUP_M
    cols_block = inside // GROUP_M
    rows_begin = rows_block * BLOCK_4
    rows = rows_begin + tl.arange(0, BLOCK_4)
    cols_begin = cols_block * BLOCK_2
    cols = cols_begin + tl.arange(0, BLOCK_2)
    # squeeze_excite.py:19: acc = hl.zeros([rows, cols], dtype=torch.float32)
    acc = tl.zeros([BLOCK_4, BLOCK_2], tl.float32)
    # squeeze_excite.py:20: for inner in hl.tile(k):
    for inner in range(0, 256, BLOCK_3):
        # squeeze_excite.py:21: acc = torch.addmm(acc, hidden[rows, inner], excite[inner, cols])
        hidden_block = hidden_desc.load([rows_begin, inner])
        excite_block = excite_desc.load([inner, cols_begin])
        acc = tl.dot(hidden_block, excite_block, acc)
    # squeeze_excite.py:22: opened = torch.sigmoid(acc).to(x.dtype)
    opened = tl.sigmoid(acc).to(tl.bfloat16)
    # squeeze_excite.py:23: gate[rows, cols] = opened
    gate_desc.store([rows_begin, cols_begin], opened)
    # squeeze_excite.py:24: out[rows, cols] = x[rows, cols] * opened
    x_block = tl.load(x + (rows[:, None] * 1024 + cols[None, :]))
    v = (x_block.to(tl.float32) * opened.to(tl.float32)).to(tl.bfloat16)
    out_desc.store([rows_begin, cols_begin], v)


def squeeze_excite(x, squeeze, excite):
    # squeeze_excite.py:13: out, gate = torch.empty_like(x), torch.empty_like(x)
    out = torch.empty((1024, 1024), dtype=torch.bfloat16, device=x.device)
    gate = torch.empty((1024, 1024), dtype=torch.bfloat16, device=x.device)
    # squeeze_excite.py:14: hidden = torch.empty([m, k], dtype=x.dtype, device=x.device)
    hidden = torch.empty((1024, 256), dtype=torch.bfloat16, device=x.device)
    # squeeze_excite.py:15: for rows in hl.tile(m):
    squeeze_excite_0_kernel[(256,)](
        TensorDescriptor(_aligned(x), [1024, 1024], [1024, 1], [32, 128]),
        TensorDescriptor(_aligned(squeeze), [1024, 256], [256, 1], [128, 32]),
        TensorDescriptor(hidden, [1024, 256], [256, 1], [32, 32]),
        BLOCK_0=32,
        BLOCK_1=32,
        BLOCK_5=128,
        num_warps=4,
        num_stages=4,
    )
    squeeze_excite_1_kernel[(256,)](
        x,
        TensorDescriptor(_aligned(excite), [256, 1024], [1024, 1], [128, 128]),
        TensorDescriptor(out, [1024, 1024], [1024, 1], [32, 128]),
        TensorDescriptor(gate, [1024, 1024], [1024, 1], [32, 128]),
        TensorDescriptor(_aligned(hidden), [1024, 256], [256, 1], [32, 128]),
        BLOCK_4=32,
        BLOCK_2=128,
        BLOCK_3=128,
        num_warps=4,
        num_stages=3,
    )
    return out, hidden, gate
