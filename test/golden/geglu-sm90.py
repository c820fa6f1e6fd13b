import torch
import triton
import triton.language as tl


@triton.jit
def geglu_0_kernel(gate, up, out):
    # only written: out
    BLOCK_0: tl.constexpr = 2
    BLOCK_1: tl.constexpr = 512
    # gated.py:26: for tile in hl.tile(out.size()):
    pid = tl.program_id(0)
    tile_block = pid % 5
    tile = pid // 5 * BLOCK_0 + tl.arange(0, BLOCK_0)
    v = tile_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    # gated.py:27: opened = torch.nn.functional.gelu(gate[tile].to(torch.float32), approximate="tanh")
    gate_block = tl.load(gate + (tile[:, None] * 2560 + v[None, :]))
    v_2 = gate_block.to(tl.float32)
    opened = v_2 * tl.sigmoid((v_2 + v_2 * v_2 * v_2 * 0.044715) * 1.5957692)
    # gated.py:28: out[tile] = opened.to(up.dtype) * up[tile]
    up_block = tl.load(up + (tile[:, None] * 2560 + v[None, :]))
    v_3 = opened.to(tl.bfloat16).to(tl.float32) * up_block.to(tl.float32)
    tl.store(out + (tile[:, None] * 2560 + v[None, :]), v_3.to(tl.bfloat16))


def geglu(gate, up):
    # gated.py:25: out = torch.empty_like(up)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=gate.device)
    # gated.py:26: for tile in hl.tile(out.size()):
    geglu_0_kernel[(10240,)](gate, up, out, num_warps=4, num_stages=1)
    return out
