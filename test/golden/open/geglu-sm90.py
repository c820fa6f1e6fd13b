import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["gate_size_0"])
def geglu_0_kernel(gate, up, out, gate_size_0, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # gated.py:26: for tile in hl.tile(out.size()):
    pid = tl.program_id(0)
    tile_blocks: tl.constexpr = 5
    tile_block = pid % tile_blocks
    tile = pid // tile_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    tile_mask = tile < gate_size_0
    v = tile_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    # gated.py:27: opened = torch.nn.functional.gelu(gate[tile].to(torch.float32), approximate="tanh")
    gate_block = tl.load(gate + tile[:, None].to(tl.int64) * 2560 + v[None, :], mask=tile_mask[:, None])
    v_2 = gate_block.to(tl.float32)
    opened = v_2 * tl.sigmoid((v_2 + v_2 * v_2 * v_2 * 0.044715) * 1.5957692)
    # gated.py:28: out[tile] = opened.to(up.dtype) * up[tile]
    up_block = tl.load(up + tile[:, None].to(tl.int64) * 2560 + v[None, :], mask=tile_mask[:, None])
    v_3 = opened.to(tl.bfloat16).to(tl.float32) * up_block.to(tl.float32)
    tl.store(out + tile[:, None].to(tl.int64) * 2560 + v[None, :], v_3.to(tl.bfloat16), mask=tile_mask[:, None])


def geglu(gate, up):
    gate_size_0 = gate.shape[0]
    # gated.py:25: out = torch.empty_like(up)
    out = torch.empty((gate_size_0, 2560), dtype=torch.bfloat16, device=gate.device)
    # gated.py:26: for tile in hl.tile(out.size()):
    geglu_0_kernel[(5 * triton.cdiv(gate_size_0, 4),)](
        gate, up, out, gate_size_0, BLOCK_0=4, BLOCK_1=512, num_warps=4, num_stages=1
    )
    return out
