import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_0_kernel(x, weight, bias, out, BLOCK_0: tl.constexpr):
    # only written: out
    # layer_norm.py:13: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    lanes = tl.arange(0, 512)
    lanes_mask = lanes < 333
    # layer_norm.py:14: values = x[rows, :].to(torch.float32)
    values = tl.load(
        x + (rows[:, None] * 333 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :], other=0.0
    )
    # layer_norm.py:15: centred = values - torch.mean(values, dim=-1, keepdim=True)
    centred = values - tl.div_rn(tl.sum(values, axis=1)[:, None], 333.0)
    # layer_norm.py:16: variance = torch.mean(centred * centred, dim=-1, keepdim=True)
    v = tl.sum(tl.where(lanes_mask[None, :], centred * centred, 0.0), axis=1)
    variance = v[:, None] * 0.003003003
    # layer_norm.py:17: result = centred * torch.rsqrt(variance + eps) * weight[:].to(torch.float32)
    weight_block = tl.load(weight + lanes, mask=lanes_mask)
    # layer_norm.py:19: result = result + bias[:].to(torch.float32)
    bias_block = tl.load(bias + lanes, mask=lanes_mask)
    result = centred * tl.rsqrt(variance + 1e-05) * weight_block[None, :] + bias_block[None, :]
    # layer_norm.py:20: out[rows, :] = result.to(x.dtype)
    tl.store(out + (rows[:, None] * 333 + lanes[None, :]), result, mask=rows_mask[:, None] & lanes_mask[None, :])


def layer_norm(x, weight, bias):
    # layer_norm.py:12: out = torch.empty_like(x)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # layer_norm.py:13: for rows in hl.tile(m):
    layer_norm_0_kernel[(3,)](x, weight, bias, out, BLOCK_0=32, num_warps=16, num_stages=1)
    return out
