import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_backward_0_kernel(
    grad, x, weight, mean, rstd, out, weight_parts, bias_parts, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr
):
    # only written: out, weight_parts, bias_parts
    # layer_norm.py:32: for batch in hl.tile(m, block_size=block):
    pid = tl.program_id(0)
    batch = pid * BLOCK_0
    lanes = tl.arange(0, 512)
    lanes_mask = lanes < 333
    # layer_norm.py:35: for rows in hl.tile(batch.begin, batch.end):
    v = min(batch + BLOCK_0, 150)
    bias_part_lanes = tl.zeros([16, 512], tl.float32)
    weight_part_lanes = tl.zeros([16, 512], tl.float32)
    for rows_begin in range(batch, v, BLOCK_1):
        rows = rows_begin + tl.arange(0, BLOCK_1)
        rows_mask = rows < v
        # layer_norm.py:36: arriving = grad[rows, :].to(torch.float32)
        arriving = tl.load(
            grad + (rows[:, None] * 333 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :], other=0.0
        )
        # layer_norm.py:37: normal = (x[rows, :].to(torch.float32) - mean[rows][:, None]) * rstd[rows][:, None]
        x_block = tl.load(
            x + (rows[:, None] * 333 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :], other=0.0
        )
        mean_block = tl.load(mean + rows, mask=rows_mask, other=0.0)
        rstd_block = tl.load(rstd + rows, mask=rows_mask, other=0.0)
        normal = (x_block - mean_block[:, None]) * rstd_block[:, None]
        # layer_norm.py:38: scaled = arriving * weight[:].to(torch.float32)
        weight_block = tl.load(weight + lanes, mask=lanes_mask, other=0.0)
        scaled = arriving * weight_block[None, :]
        # layer_norm.py:39: along = (scaled * normal).mean(-1, keepdim=True)
        v_2 = tl.sum(tl.where(lanes_mask[None, :], scaled * normal, 0.0), axis=1)
        along = tl.div_rn(v_2[:, None], 333.0)
        # layer_norm.py:40: level = scaled.mean(-1, keepdim=True)
        level = tl.div_rn(tl.sum(scaled, axis=1)[:, None], 333.0)
        # layer_norm.py:41: out[rows, :] = ((scaled - normal * along - level) * rstd[rows][:, None]).to(x.dtype)
        tl.store(
            out + (rows[:, None] * 333 + lanes[None, :]),
            (scaled - normal * along - level) * rstd_block[:, None],
            mask=rows_mask[:, None] & lanes_mask[None, :],
        )
        # layer_norm.py:43: bias_part += arriving.sum(0)
        bias_part_lanes = bias_part_lanes + arriving
        # layer_norm.py:42: weight_part += (arriving * normal).sum(0)
        weight_part_lanes = weight_part_lanes + arriving * normal
    # layer_norm.py:43: bias_part += arriving.sum(0)
    bias_part = tl.sum(bias_part_lanes, axis=0)
    # layer_norm.py:42: weight_part += (arriving * normal).sum(0)
    weight_part = tl.sum(weight_part_lanes, axis=0)
    # layer_norm.py:44: weight_parts[batch.id, :] = weight_part
    tl.store(weight_parts + pid.to(tl.int64) * 333 + lanes, weight_part, mask=lanes_mask)
    # layer_norm.py:45: bias_parts[batch.id, :] = bias_part
    tl.store(bias_parts + pid.to(tl.int64) * 333 + lanes, bias_part, mask=lanes_mask)


def layer_norm_backward(grad, x, weight, mean, rstd):
    # layer_norm.py:28: out = torch.empty_like(x)
    out = torch.empty((150, 333), dtype=torch.float32, device=grad.device)
    # layer_norm.py:30: weight_parts = torch.empty([-(-m // block), n], dtype=torch.float32, device=x.device)
    weight_parts = torch.empty((3, 333), dtype=torch.float32, device=grad.device)
    # layer_norm.py:31: bias_parts = torch.empty_like(weight_parts)
    bias_parts = torch.empty((3, 333), dtype=torch.float32, device=grad.device)
    # layer_norm.py:32: for batch in hl.tile(m, block_size=block):
    layer_norm_backward_0_kernel[(3,)](
        grad, x, weight, mean, rstd, out, weight_parts, bias_parts, BLOCK_0=64, BLOCK_1=16, num_warps=16, num_stages=2
    )
    # layer_norm.py:46: return out, weight_parts.sum(0).to(weight.dtype), bias_parts.sum(0).to(weight.dtype)
    array = torch.ops.aten.sum.dim_IntList(weight_parts, [0])
    array_2 = torch.ops.aten.sum.dim_IntList(bias_parts, [0])
    return out, array, array_2
