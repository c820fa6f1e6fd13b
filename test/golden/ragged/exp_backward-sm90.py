import torch
import triton
import triton.language as tl


@triton.jit
def exp_backward_0_kernel(grad, y, out, BLOCK_2: tl.constexpr):
    # only written: out
    # exp.py:20: for tile in hl.tile(y.size()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
    tile_mask = tile < 24975
    # exp.py:21: out[tile] = grad[tile] * y[tile]
    grad_block = tl.load(grad + tile, mask=tile_mask)
    y_block = tl.load(y + tile, mask=tile_mask)
    tl.store(out + tile, grad_block * y_block, mask=tile_mask)


def exp_backward(grad, y):
    # exp.py:19: out = torch.empty_like(y)
    out = torch.empty((75, 333), dtype=torch.float32, device=grad.device)
    # exp.py:20: for tile in hl.tile(y.size()):
    exp_backward_0_kernel[(7,)](grad, y, out, BLOCK_2=4096, num_warps=8, num_stages=1)
    return out
