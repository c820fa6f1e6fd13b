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
def swiglu_backward_0_kernel(grads, gates, ups, to_gate, to_up, BLOCK_0: tl.constexpr):
    # only written: to_gate, to_up
    # gated.py:38: for tile in hl.tile(gate.numel()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_mask = tile < 24975
    # gated.py:39: arriving, opened = grads[tile].to(torch.float32), gates[tile].to(torch.float32)
    arriving = tl.load(grads + tile, mask=tile_mask)
    opened = tl.load(gates + tile, mask=tile_mask)
    # gated.py:40: share = torch.sigmoid(opened)
    share = _sigmoid(opened)
    # gated.py:41: to_up[tile] = (arriving * opened * share).to(up.dtype)
    tl.store(to_up + tile, arriving * opened * share, mask=tile_mask)
    # gated.py:42: slope = share * (1 + opened * (1 - share))
    slope = share * (1.0 + opened * (1.0 - share))
    # gated.py:43: to_gate[tile] = (arriving * ups[tile] * slope).to(gate.dtype)
    ups_block = tl.load(ups + tile, mask=tile_mask)
    tl.store(to_gate + tile, arriving * ups_block * slope, mask=tile_mask)


def swiglu_backward(grad, gate, up):
    # gated.py:35: grad_gate, grad_up = torch.empty_like(gate), torch.empty_like(up)
    grad_gate = torch.empty((75, 333), dtype=torch.float32, device=grad.device)
    grad_up = torch.empty((75, 333), dtype=torch.float32, device=grad.device)
    # gated.py:38: for tile in hl.tile(gate.numel()):
    swiglu_backward_0_kernel[(13,)](grad, gate, up, grad_gate, grad_up, BLOCK_0=2048, num_warps=8, num_stages=1)
    return grad_gate, grad_up
