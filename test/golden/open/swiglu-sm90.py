import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["gate_size_0"])
def swiglu_0_kernel(gate, up, out, gate_size_0, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # gated.py:17: for tile in hl.tile(out.size()):
    pid = tl.program_id(0)
    tile_blocks: tl.constexpr = 5
    tile_block = pid % tile_blocks
    tile = pid // tile_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_mask = tile < gate_size_0
    v = tile_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    # gated.py:18: opened = gate[tile].to(torch.float32)
    gate_block = tl.load(gate + tile[:, None].to(tl.int64) * 2560 + v[None, :], mask=tile_mask[:, None])
    opened = gate_block.to(tl.float32)
    # gated.py:19: out[tile] = (opened * torch.sigmoid(opened)).to(up.dtype) * up[tile]
    up_block = tl.load(up + tile[:, None].to(tl.int64) * 2560 + v[None, :], mask=tile_mask[:, None])
    v_2 = (opened * tl.sigmoid(opened)).to(tl.bfloat16).to(tl.float32) * up_block.to(tl.float32)
    tl.store(out + tile[:, None].to(tl.int64) * 2560 + v[None, :], v_2.to(tl.bfloat16), mask=tile_mask[:, None])


def swiglu(gate, up):
    gate_size_0 = gate.shape[0]
    # gated.py:16: out = torch.empty_like(up)
    out = torch.empty((gate_size_0, 2560), dtype=torch.bfloat16, device=gate.device)
    # gated.py:17: for tile in hl.tile(out.size()):
    swiglu_0_kernel[(5 * triton.cdiv(gate_size_0, 8),)](
        gate, up, out, gate_size_0, BLOCK_0=8, BLOCK_1=512, num_warps=4, num_stages=1
    )
    return out
