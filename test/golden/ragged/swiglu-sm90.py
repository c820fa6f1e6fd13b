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
def swiglu_0_kernel(gate, up, out, BLOCK_2: tl.constexpr):
    # only written: out
    # gated.py:17: for tile in hl.tile(out.size()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
    tile_mask = tile < 24975
    # gated.py:18: opened = gate[tile].to(torch.float32)
    opened = tl.load(gate + tile, mask=tile_mask)
    # gated.py:19: out[tile] = (opened * torch.sigmoid(opened)).to(up.dtype) * up[tile]
    up_block = tl.load(up + tile, mask=tile_mask)
    tl.store(out + tile, opened * _sigmoid(opened) * up_block, mask=tile_mask)


def swiglu(gate, up):
    # gated.py:16: out = torch.empty_like(up)
    out = torch.empty((75, 333), dtype=torch.float32, device=gate.device)
    # gated.py:17: for tile in hl.tile(out.size()):
    swiglu_0_kernel[(7,)](gate, up, out, BLOCK_2=4096, num_warps=8, num_stages=1)
    return out
