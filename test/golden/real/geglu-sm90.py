import torch
import triton
import triton.language as tl


@triton.jit
def geglu_0_kernel(gate, up, out, BLOCK_2: tl.constexpr):
    # only written: out
    # gated.py:26: for tile in hl.tile(out.size()):
    pid = tl.program_id(0)
    tile = pid * BLOCK_2 + tl.arange(0, BLOCK_2)
    # gated.py:27: opened = torch.nn.functional.gelu(gate[tile].to(torch.float32), approximate="tanh")
    gate_block = tl.load(gate + tile)
    v = gate_block.to(tl.float32)
    opened = v * tl.sigmoid((v + v * v * v * 0.044715) * 1.5957692)
    # gated.py:28: out[tile] = opened.to(up.dtype) * up[tile]
    up_block = tl.load(up + tile)
    v_2 = opened.to(tl.bfloat16).to(tl.float32) * up_block.to(tl.float32)
    tl.store(out + tile, v_2.to(tl.bfloat16))


def geglu(gate, up):
    # gated.py:25: out = torch.empty_like(up)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=gate.device)
    # gated.py:26: for tile in hl.tile(out.size()):
    geglu_0_kernel[(5120,)](gate, up, out, BLOCK_2=2048, num_warps=4, num_stages=1)
    return out
