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
def swiglu_matmul_0_kernel(
    x,
    gate,
    up,
    lifted_parts_desc,
    opened_parts_desc,
    BLOCK_0: tl.constexpr,
    BLOCK_1: tl.constexpr,
    BLOCK_5: tl.constexpr,
    BLOCK_2: tl.constexpr,
):
    # gated.py:69: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 3
    part_block = pid % part_blocks
    rest = pid // part_blocks
    tile_n_blocks: tl.constexpr = 2
    tile_n_block = rest % tile_n_blocks
    tile_m_begin = rest // tile_n_blocks * BLOCK_0
    tile_m = tile_m_begin + tl.arange(0, BLOCK_0)
    tile_m_mask = tile_m < 35
    tile_n_begin = tile_n_block * BLOCK_1
    tile_n = tile_n_begin + tl.arange(0, BLOCK_1)
    tile_n_mask = tile_n < 200
    part = part_block * BLOCK_5
    # gated.py:72: for tile_k in hl.tile(k):
    v = min(part + BLOCK_5, 300)
    lifted = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    opened = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
    for tile_k_begin in range(part, v, BLOCK_2):
        tile_k = tile_k_begin + tl.arange(0, BLOCK_2)
        tile_k_mask = tile_k < v
        # gated.py:73: rows = x[tile_m, tile_k]
        rows = tl.load(
            x + (tile_m[:, None] * 300 + tile_k[None, :]), mask=tile_m_mask[:, None] & tile_k_mask[None, :], other=0.0
        )
        # gated.py:74: opened = torch.addmm(opened, rows, gate[tile_k, tile_n])
        gate_block = tl.load(
            gate + (tile_k[:, None] * 200 + tile_n[None, :]),
            mask=tile_k_mask[:, None] & tile_n_mask[None, :],
            other=0.0,
        )
        # gated.py:75: lifted = torch.addmm(lifted, rows, up[tile_k, tile_n])
        up_block = tl.load(
            up + (tile_k[:, None] * 200 + tile_n[None, :]), mask=tile_k_mask[:, None] & tile_n_mask[None, :], other=0.0
        )
        lifted = tl.dot(rows, up_block, lifted, input_precision="ieee")
        # gated.py:74: opened = torch.addmm(opened, rows, gate[tile_k, tile_n])
        opened = tl.dot(rows, gate_block, opened, input_precision="ieee")
    # gated.py:72: for tile_k in hl.tile(k):
    lifted_parts_desc.store(
        [tl.cast(part_block, tl.int32), tile_m_begin, tile_n_begin], lifted.reshape([1, BLOCK_0, BLOCK_1])
    )
    opened_parts_desc.store(
        [tl.cast(part_block, tl.int32), tile_m_begin, tile_n_begin], opened.reshape([1, BLOCK_0, BLOCK_1])
    )


@triton.jit
def swiglu_matmul_1_kernel(out, lifted_parts, opened_parts, BLOCK_4: tl.constexpr):
    # only written: out
    # gated.py:69: for tile_m, tile_n in hl.tile([m, n]):
    pid = tl.program_id(0)
    tile_n_blocks: tl.constexpr = 2
    tile_n_block = pid % tile_n_blocks
    tile_m = pid // tile_n_blocks
    tile_n = tile_n_block * BLOCK_4 + tl.arange(0, BLOCK_4)
    tile_n_mask = tile_n < 200
    lanes = tl.arange(0, 4)
    lanes_mask = lanes < 3
    # gated.py:72: for tile_k in hl.tile(k):
    lifted_parts_block = tl.load(
        lifted_parts + tile_m.to(tl.int64) * 200 + (lanes[:, None] * 7000 + tile_n[None, :]),
        mask=lanes_mask[:, None] & tile_n_mask[None, :],
        other=0.0,
    )
    opened_parts_block = tl.load(
        opened_parts + tile_m.to(tl.int64) * 200 + (lanes[:, None] * 7000 + tile_n[None, :]),
        mask=lanes_mask[:, None] & tile_n_mask[None, :],
        other=0.0,
    )
    lifted = tl.sum(lifted_parts_block, axis=0)
    opened = tl.sum(opened_parts_block, axis=0)
    # gated.py:76: out[tile_m, tile_n] = (opened * torch.sigmoid(opened) * lifted).to(x.dtype)
    tl.store(out + tile_m.to(tl.int64) * 200 + tile_n, opened * _sigmoid(opened) * lifted, mask=tile_n_mask)


def swiglu_matmul(x, gate, up):
    # gated.py:68: out = torch.empty([m, n], dtype=x.dtype)
    out = torch.empty((35, 200), dtype=torch.float32, device=x.device)
    # gated.py:69: for tile_m, tile_n in hl.tile([m, n]):
    lifted_parts = torch.empty((3, 35, 200), dtype=torch.float32, device=x.device)
    opened_parts = torch.empty((3, 35, 200), dtype=torch.float32, device=x.device)
    swiglu_matmul_0_kernel[(12,)](
        x,
        gate,
        up,
        TensorDescriptor(lifted_parts, [3, 35, 200], [7000, 200, 1], [1, 32, 128]),
        TensorDescriptor(opened_parts, [3, 35, 200], [7000, 200, 1], [1, 32, 128]),
        BLOCK_0=32,
        BLOCK_1=128,
        BLOCK_5=128,
        BLOCK_2=128,
        num_warps=4,
        num_stages=2,
    )
    swiglu_matmul_1_kernel[(70,)](out, lifted_parts, opened_parts, BLOCK_4=128, num_warps=4, num_stages=1)
    return out
