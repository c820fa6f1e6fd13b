import torch
import triton
import triton.language as tl


@triton.jit
def swiglu_0_kernel(gate, up, out, BLOCK_2: tl.constexpr):
    # only written: out
    # gated.py:17: for tile in hl.tile(out.size()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
    # gated.py:18: opened = gate[tile].to(torch.float32)
    gate_block = tl.load(gate + tile)
    opened = gate_block.to(tl.float32)
    # gated.py:19: out[tile] = (opened * torch.sigmoid(opened)).to(up.dtype) * up[tile]
    up_block = tl.load(up + tile)
    v = (opened * tl.sigmoid(opened)).to(tl.bfloat16).to(tl.float32) * up_block.to(tl.float32)
    tl.store(out + tile, v.to(tl.bfloat16))


def swiglu(gate, up):
    # gated.py:16: out = torch.empty_like(up)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=gate.device)
    # gated.py:17: for tile in hl.tile(out.size()):
    swiglu_0_kernel[(2560,)](gate, up, out, BLOCK_2=4096, num_warps=4, num_stages=1)
    return out
