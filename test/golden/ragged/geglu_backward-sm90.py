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
def geglu_backward_0_kernel(grads, gates, ups, to_gate, to_up, BLOCK_0: tl.constexpr):
    # only written: to_gate, to_up
    # gated.py:53: for tile in hl.tile(gate.numel()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_mask = tile < 24975
    # gated.py:54: arriving, opened = grads[tile].to(torch.float32), gates[tile].to(torch.float32)
    arriving = tl.load(grads + tile, mask=tile_mask)
    opened = tl.load(gates + tile, mask=tile_mask)
    # gated.py:55: square = opened * opened
    square = opened * opened
    # gated.py:56: bend = torch.tanh(SCALE * opened * (1 + CUBIC * square))
    bend = _tanh(0.7978846 * opened * (1.0 + 0.044715 * square))
    # gated.py:57: to_up[tile] = (arriving * 0.5 * opened * (1 + bend)).to(up.dtype)
    v = 1.0 + bend
    tl.store(to_up + tile, arriving * 0.5 * opened * v, mask=tile_mask)
    # gated.py:58: slope = 1 + bend + opened * (1 - bend * bend) * SCALE * (1 + 3 * CUBIC * square)
    v_2 = opened * (1.0 - bend * bend) * 0.7978846 * (1.0 + 0.134145 * square)
    slope = v + v_2
    # gated.py:59: to_gate[tile] = (arriving * ups[tile] * 0.5 * slope).to(gate.dtype)
    ups_block = tl.load(ups + tile, mask=tile_mask)
    tl.store(to_gate + tile, arriving * ups_block * 0.5 * slope, mask=tile_mask)


def geglu_backward(grad, gate, up):
    # gated.py:50: grad_gate, grad_up = torch.empty_like(gate), torch.empty_like(up)
    grad_gate = torch.empty((75, 333), dtype=torch.float32, device=grad.device)
    grad_up = torch.empty((75, 333), dtype=torch.float32, device=grad.device)
    # gated.py:53: for tile in hl.tile(gate.numel()):
    geglu_backward_0_kernel[(13,)](grad, gate, up, grad_gate, grad_up, BLOCK_0=2048, num_warps=16, num_stages=1)
    return grad_gate, grad_up
