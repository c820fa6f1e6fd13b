import torch
import triton
import triton.language as tl


@triton.jit
def concat_columns_0_kernel(x, y, out):
    # only written: out
    # concat.py:13: for rows in hl.tile(m):
    pid = tl.program_id(0)
    lanes = tl.arange(0, 2048)
    lanes_mask = lanes < 1060
    lanes_2 = tl.arange(0, 2048)
    lanes_2_mask = lanes_2 < 1500
    # concat.py:14: out[rows, :] = torch.cat([x[rows, :], y[rows, :]], dim=1)
    x_block = tl.load(x + pid.to(tl.int64) * 1500 + lanes_2, mask=lanes_2_mask)
    y_block = tl.load(y + pid.to(tl.int64) * 1060 + lanes, mask=lanes_mask)
    tl.store(out + pid.to(tl.int64) * 2560 + lanes_2, x_block, mask=lanes_2_mask)
    tl.store(out + pid.to(tl.int64) * 2560 + (lanes + 1500), y_block, mask=lanes_mask)


def concat_columns(x, y):
    # concat.py:12: out = torch.empty([m, n + y.size(1)], dtype=x.dtype, device=x.device)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=x.device)
    # concat.py:13: for rows in hl.tile(m):
    concat_columns_0_kernel[(4096,)](x, y, out, num_warps=4, num_stages=1)
    return out
