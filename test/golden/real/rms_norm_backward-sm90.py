import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_backward_0_kernel(grad, x, weight, inverse, out, parts, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out, parts
    # rms_norm.py:28: for batch in hl.tile(m, block_size=block):
    pid = tl.program_id(0)
    batch = pid * BLOCK_0
    # rms_norm.py:34: scaled = arriving * weight[:].to(torch.float32)
    weight_block = tl.load(weight + tl.arange(0, 1024))
    # rms_norm.py:30: for rows in hl.tile(batch.begin, batch.end):
    part_lanes = tl.zeros([2, 1024], tl.float32)
    for rows_begin in range(batch, batch + BLOCK_0, BLOCK_1):
        rows = rows_begin + tl.arange(0, BLOCK_1)
        # rms_norm.py:31: rstd = inverse[rows][:, None]
        inverse_block = tl.load(inverse + rows)
        # rms_norm.py:32: normal = x[rows, :].to(torch.float32) * rstd
        x_block = tl.load(x + (rows[:, None] * 1024 + tl.arange(0, 1024)[None, :]))
        normal = x_block.to(tl.float32) * inverse_block[:, None]
        # rms_norm.py:33: arriving = grad[rows, :].to(torch.float32)
        grad_block = tl.load(grad + (rows[:, None] * 1024 + tl.arange(0, 1024)[None, :]))
        arriving = grad_block.to(tl.float32)
        # rms_norm.py:34: scaled = arriving * weight[:].to(torch.float32)
        scaled = arriving * weight_block.to(tl.float32)[None, :]
        # rms_norm.py:35: out[rows, :] = ((scaled - normal * (scaled * normal).mean(-1, keepdim=True)) * rstd).to(x.dtype)
        v = normal * (tl.sum(scaled * normal, axis=1)[:, None] * 0.0009765625)
        tl.store(
            out + (rows[:, None] * 1024 + tl.arange(0, 1024)[None, :]),
            ((scaled - v) * inverse_block[:, None]).to(tl.bfloat16),
        )
        # rms_norm.py:36: part += (arriving * normal).sum(0)
        part_lanes = part_lanes + arriving * normal
    part = tl.sum(part_lanes, axis=0)
    # rms_norm.py:37: parts[batch.id, :] = part
    tl.store(parts + pid * 1024 + tl.arange(0, 1024), part)


def rms_norm_backward(grad, x, weight, inverse):
    # rms_norm.py:26: out = torch.empty_like(x)
    out = torch.empty((32768, 1024), dtype=torch.bfloat16, device=grad.device)
    # rms_norm.py:27: parts = torch.empty([-(-m // block), n], dtype=torch.float32, device=x.device)
    parts = torch.empty((1024, 1024), dtype=torch.float32, device=grad.device)
    # rms_norm.py:28: for batch in hl.tile(m, block_size=block):
    rms_norm_backward_0_kernel[(1024,)](
        grad, x, weight, inverse, out, parts, BLOCK_0=32, BLOCK_1=2, num_warps=4, num_stages=2
    )
    # rms_norm.py:38: return out, parts.sum(0).to(weight.dtype)
    array = torch.ops.aten.sum.dim_IntList(parts, [0])
    array_2 = torch.empty((1024,), dtype=torch.bfloat16, device=grad.device)
    array_2.copy_(array)
    return out, array_2
