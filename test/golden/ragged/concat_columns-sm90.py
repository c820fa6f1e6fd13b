import torch
import triton
import triton.language as tl


@triton.jit
def concat_columns_0_kernel(x, y, out, BLOCK_0: tl.constexpr):
    # only written: out
    # concat.py:13: for rows in hl.tile(m):
    pid = tl.program_id(0)
    rows = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
    rows_mask = rows < 75
    lanes = tl.arange(0, 256)
    lanes_mask = lanes < 133
    lanes_2 = tl.arange(0, 256)
    lanes_2_mask = lanes_2 < 200
    # concat.py:14: out[rows, :] = torch.cat([x[rows, :], y[rows, :]], dim=1)
    x_block = tl.load(x + (rows[:, None] * 200 + lanes_2[None, :]), mask=rows_mask[:, None] & lanes_2_mask[None, :])
    y_block = tl.load(y + (rows[:, None] * 133 + lanes[None, :]), mask=rows_mask[:, None] & lanes_mask[None, :])
    tl.store(out + (rows[:, None] * 333 + lanes_2[None, :]), x_block, mask=rows_mask[:, None] & lanes_2_mask[None, :])
    tl.store(
        out + (rows[:, None] * 333 + (lanes + 200)[None, :]), y_block, mask=rows_mask[:, None] & lanes_mask[None, :]
    )


def concat_columns(x, y):
    # concat.py:12: out = torch.empty([m, n + y.size(1)], dtype=x.dtype, device=x.device)
    out = torch.empty((75, 333), dtype=torch.float32, device=x.device)
    # concat.py:13: for rows in hl.tile(m):
    concat_columns_0_kernel[(3,)](x, y, out, BLOCK_0=32, num_warps=16, num_stages=1)
    return out
