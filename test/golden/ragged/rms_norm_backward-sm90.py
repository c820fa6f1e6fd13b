import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_backward_0_kernel(grad, x, weight, inverse, out, parts, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out, parts
    # rms_norm.py:28: for batch in hl.tile(m, block_size=block):
    pid = tl.program_id(0)
    batch = pid * BLOCK_0
    lanes = tl.arange(0, 512)
    lanes_mask = lanes < 333
    # rms_norm.py:30: for rows in hl.tile(batch.begin, batch.end):
    v = min(batch + BLOCK_0, 150)
    part_lanes = tl.zeros([16, 512], tl.float32)
    for rows_begin in range(batch, v, BLOCK_1):
        rows = rows_begin + tl.arange(0, BLOCK_1)
        rows_mask = rows < v
        # rms_norm.py:31: rstd = inverse[rows][:, None]
        inverse_block = tl.load(inverse + rows, mask=rows_mask, other=0.0)
        # rms_norm.py:32: normal = x[rows, :].to(torch.float32) * rstd
        x_block = tl.load(
            x + (rows[:, None] * 333 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :], other=0.0
        )
        normal = x_block * inverse_block[:, None]
        # rms_norm.py:33: arriving = grad[rows, :].to(torch.float32)
        arriving = tl.load(
            grad + (rows[:, None] * 333 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :], other=0.0
        )
        # rms_norm.py:34: scaled = arriving * weight[:].to(torch.float32)
        weight_block = tl.load(weight + lanes, mask=lanes_mask)
        scaled = arriving * weight_block[None, :]
        # rms_norm.py:35: out[rows, :] = ((scaled - normal * (scaled * normal).mean(-1, keepdim=True)) * rstd).to(x.dtype)
        v_2 = tl.sum(tl.where(lanes_mask[None, :], scaled * normal, 0.0), axis=1)
        v_3 = (scaled - normal * tl.div_rn(v_2[:, None], 333.0)) * inverse_block[:, None]
        tl.store(out + (rows[:, None] * 333 + lanes[None, :]), v_3, mask=rows_mask[:, None] & lanes_mask[None, :])
        # rms_norm.py:36: part += (arriving * normal).sum(0)
        part_lanes = part_lanes + arriving * normal
    part = tl.sum(part_lanes, axis=0)
    # rms_norm.py:37: parts[batch.id, :] = part
    tl.store(parts + pid.to(tl.int64) * 333 + lanes, part, mask=lanes_mask)


def rms_norm_backward(grad, x, weight, inverse):
    # rms_norm.py:26: out = torch.empty_like(x)
    out = torch.empty((150, 333), dtype=torch.float32, device=grad.device)
    # rms_norm.py:27: parts = torch.empty([-(-m // block), n], dtype=torch.float32, device=x.device)
    parts = torch.empty((3, 333), dtype=torch.float32, device=grad.device)
    # rms_norm.py:28: for batch in hl.tile(m, block_size=block):
    rms_norm_backward_0_kernel[(3,)](
        grad, x, weight, inverse, out, parts, BLOCK_0=64, BLOCK_1=16, num_warps=16, num_stages=2
    )
    # rms_norm.py:38: return out, parts.sum(0).to(weight.dtype)
    array = torch.ops.aten.sum.dim_IntList(parts, [0])
    return out, array
