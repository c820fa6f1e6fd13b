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
def _negative(x):
    # The sign bit, also of zero.
    if x.dtype == tl.float64:
        bits = x.to(tl.int64, bitcast=True) < 0
    else:
        bits = x.to(tl.int32, bitcast=True) < 0
    return bits


@triton.jit
def _copysign(a, b):
    return tl.where(_negative(b), -tl.abs(a), tl.abs(a))


@triton.jit
def _expm1(x):
    if x.dtype == tl.float64:
        near = x * (1.0 + x * (0.5 + x * (0.16666666666666666 + x * (0.041666666666666664 + x * (0.008333333333333333 + x * (0.001388888888888889 + x * (0.0001984126984126984 + x * (2.48015873015873e-05 + x * (2.7557319223985893e-06 + x * (2.755731922398589e-07 + x * (2.505210838544172e-08 + x * (2.08767569878681e-09 + x * (1.6059043836821613e-10 + x * (1.1470745597729725e-11 + x * (7.647163731819816e-13)))))))))))))))
    else:
        near = x * (1.0 + x * (0.5 + x * (0.16666666666666666 + x * (0.041666666666666664 + x * (0.008333333333333333 + x * (0.001388888888888889 + x * (0.0001984126984126984 + x * (2.48015873015873e-05))))))))
    return tl.where(tl.abs(x) < 0.5, near, tl.exp(x) - 1.0)


@triton.jit
def _tanh(x):
    e = _expm1(-2.0 * tl.minimum(tl.abs(x), 25.0))
    return tl.where(x != x, x, _copysign(_divide(-e, 2.0 + e), x))


@triton.jit
def geglu_0_kernel(gate, up, out, BLOCK_2: tl.constexpr):
    # only written: out
    # gated.py:26: for tile in hl.tile(out.size()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
    tile_mask = tile < 24975
    # gated.py:27: opened = torch.nn.functional.gelu(gate[tile].to(torch.float32), approximate="tanh")
    gate_block = tl.load(gate + tile, mask=tile_mask)
    v = (gate_block + gate_block * gate_block * gate_block * 0.044715) * 0.7978846
    opened = gate_block * 0.5 * (_tanh(v) + 1.0)
    # gated.py:28: out[tile] = opened.to(up.dtype) * up[tile]
    up_block = tl.load(up + tile, mask=tile_mask)
    tl.store(out + tile, opened * up_block, mask=tile_mask)


def geglu(gate, up):
    # gated.py:25: out = torch.empty_like(up)
    out = torch.empty((75, 333), dtype=torch.float32, device=gate.device)
    # gated.py:26: for tile in hl.tile(out.size()):
    geglu_0_kernel[(7,)](gate, up, out, BLOCK_2=4096, num_warps=16, num_stages=1)
    return out
