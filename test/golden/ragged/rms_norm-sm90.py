import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_0_kernel(x, weight, out, inverse, BLOCK_0: tl.constexpr):
    # only written: out, inverse
    # rms_norm.py:14: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    lanes = tl.arange(0, 512)
    lanes_mask = lanes < 333
    # rms_norm.py:15: values = x[rows, :].to(torch.float32)
    values = tl.load(
        x + (rows[:, None] * 333 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :], other=0.0
    )
    # rms_norm.py:16: rstd = torch.rsqrt(torch.mean(values * values, dim=-1) + eps)
    rstd = tl.rsqrt(tl.sum(values * values, axis=1) * 0.003003003 + 1e-05)
    # rms_norm.py:17: out[rows, :] = (values * rstd[:, None] * weight[:].to(torch.float32)[None, :]).to(x.dtype)
    weight_block = tl.load(weight + lanes, mask=lanes_mask)
    tl.store(
        out + (rows[:, None] * 333 + lanes[None, :]),
        values * rstd[:, None] * weight_block[None, :],
        mask=rows_mask[:, None] & lanes_mask[None, :],
    )
    # rms_norm.py:18: inverse[rows] = rstd
    tl.store(inverse + rows, rstd, mask=rows_mask)


def rms_norm(x, weight):
    # rms_norm.py:12: out = torch.empty_like(x)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # rms_norm.py:13: inverse = torch.empty([m], dtype=torch.float32, device=x.device)
    inverse = torch.empty((75,), dtype=torch.float32, device=x.device)
    # rms_norm.py:14: for rows in hl.tile(m):
    rms_norm_0_kernel[(3,)](x, weight, out, inverse, BLOCK_0=32, num_warps=16, num_stages=1)
    return out, inverse
