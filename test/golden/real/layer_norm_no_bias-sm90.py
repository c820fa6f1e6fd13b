import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_0_kernel(x, weight, out):
    # only written: out
    # layer_norm.py:13: for rows in hl.tile(m):
    pid = tl.program_id(0)
    lanes = tl.arange(0, 4096)
    lanes_mask = lanes < 2560
    # layer_norm.py:14: values = x[rows, :].to(torch.float32)
    x_block = tl.load(x + pid.to(tl.int64) * 2560 + lanes, mask=lanes_mask, other=0.0)
    values = x_block.to(tl.float32)
    # layer_norm.py:15: centred = values - torch.mean(values, dim=-1, keepdim=True)
    centred = values - tl.sum(values) * 0.000390625
    # layer_norm.py:16: variance = torch.mean(centred * centred, dim=-1, keepdim=True)
    variance = tl.sum(tl.where(lanes_mask, centred * centred, 0.0)) * 0.000390625
    # layer_norm.py:17: result = centred * torch.rsqrt(variance + eps) * weight[:].to(torch.float32)
    weight_block = tl.load(weight + lanes, mask=lanes_mask)
    result = centred * tl.rsqrt(variance + 1e-05) * weight_block.to(tl.float32)
    # layer_norm.py:20: out[rows, :] = result.to(x.dtype)
    tl.store(out + pid.to(tl.int64) * 2560 + lanes, result.to(tl.bfloat16), mask=lanes_mask)


def layer_norm(x, weight):
    # layer_norm.py:12: out = torch.empty_like(x)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=x.device)
    # layer_norm.py:13: for rows in hl.tile(m):
    layer_norm_0_kernel[(4096,)](x, weight, out, num_warps=4, num_stages=1)
    return out
