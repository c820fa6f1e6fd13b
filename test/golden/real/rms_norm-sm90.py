import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_0_kernel(x, weight, out, inverse):
    # only written: out, inverse
    # rms_norm.py:14: for rows in hl.tile(m):
    pid = tl.program_id(0)
    lanes = tl.arange(0, 4096)
    lanes_mask = lanes < 2560
    # rms_norm.py:15: values = x[rows, :].to(torch.float32)
    x_block = tl.load(x + pid.to(tl.int64) * 2560 + lanes, mask=lanes_mask, other=0.0)
    values = x_block.to(tl.float32)
    # rms_norm.py:16: rstd = torch.rsqrt(torch.mean(values * values, dim=-1) + eps)
    rstd = tl.rsqrt(tl.sum(values * values) * 0.000390625 + 1e-05)
    # rms_norm.py:17: out[rows, :] = (values * rstd[:, None] * weight[:].to(torch.float32)[None, :]).to(x.dtype)
    weight_block = tl.load(weight + lanes, mask=lanes_mask)
    v = (values * rstd * weight_block.to(tl.float32)).to(tl.bfloat16)
    tl.store(out + pid.to(tl.int64) * 2560 + lanes, v, mask=lanes_mask)
    # rms_norm.py:18: inverse[rows] = rstd
    tl.store(inverse + pid, rstd)


def rms_norm(x, weight):
    # rms_norm.py:12: out = torch.empty_like(x)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=x.device)
    # rms_norm.py:13: inverse = torch.empty([m], dtype=torch.float32, device=x.device)
    inverse = torch.empty((4096,), dtype=torch.float32, device=x.device)
    # rms_norm.py:14: for rows in hl.tile(m):
    rms_norm_0_kernel[(4096,)](x, weight, out, inverse, num_warps=4, num_stages=1)
    return out, inverse
