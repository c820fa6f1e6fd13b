import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_backward_0_kernel(grad, x, weight, mean, rstd, out, weight_parts, bias_parts, BLOCK_0: tl.constexpr):
    # only written: out, weight_parts, bias_parts
    # layer_norm.py:32: for batch in hl.tile(m, block_size=block):
    pid = tl.program_id(0)
    batch = pid * BLOCK_0
    # layer_norm.py:38: scaled = arriving * weight[:].to(torch.float32)
    weight_block = tl.load(weight + tl.arange(0, 1024))
    # layer_norm.py:33: weight_part = hl.zeros([n], dtype=torch.float32)
    bias_part = tl.zeros([1024], tl.float32)
    weight_part = tl.zeros([1024], tl.float32)
    # layer_norm.py:35: for rows in hl.tile(batch.begin, batch.end):
    for rows in range(batch, batch + BLOCK_0):
        # layer_norm.py:36: arriving = grad[rows, :].to(torch.float32)
        grad_block = tl.load(grad + rows * 1024 + tl.arange(0, 1024))
        arriving = grad_block.to(tl.float32)
        # layer_norm.py:37: normal = (x[rows, :].to(torch.float32) - mean[rows][:, None]) * rstd[rows][:, None]
        x_block = tl.load(x + rows * 1024 + tl.arange(0, 1024))
        mean_block = tl.load(mean + rows)
        rstd_block = tl.load(rstd + rows)
        normal = (x_block.to(tl.float32) - mean_block) * rstd_block
        # layer_norm.py:38: scaled = arriving * weight[:].to(torch.float32)
        scaled = arriving * weight_block.to(tl.float32)
        # layer_norm.py:39: along = (scaled * normal).mean(-1, keepdim=True)
        along = tl.sum(scaled * normal) * 0.0009765625
        # layer_norm.py:40: level = scaled.mean(-1, keepdim=True)
        level = tl.sum(scaled) * 0.0009765625
        # layer_norm.py:41: out[rows, :] = ((scaled - normal * along - level) * rstd[rows][:, None]).to(x.dtype)
        v = ((scaled - normal * along - level) * rstd_block).to(tl.bfloat16)
        tl.store(out + rows * 1024 + tl.arange(0, 1024), v)
        # layer_norm.py:43: bias_part += arriving.sum(0)
        bias_part = bias_part + arriving
        # layer_norm.py:42: weight_part += (arriving * normal).sum(0)
        weight_part = weight_part + arriving * normal
    # layer_norm.py:44: weight_parts[batch.id, :] = weight_part
    tl.store(weight_parts + pid * 1024 + tl.arange(0, 1024), weight_part)
    # layer_norm.py:45: bias_parts[batch.id, :] = bias_part
    tl.store(bias_parts + pid * 1024 + tl.arange(0, 1024), bias_part)


def layer_norm_backward(grad, x, weight, mean, rstd):
    # layer_norm.py:28: out = torch.empty_like(x)
    out = torch.empty((32768, 1024), dtype=torch.bfloat16, device=grad.device)
    # layer_norm.py:30: weight_parts = torch.empty([-(-m // block), n], dtype=torch.float32, device=x.device)
    weight_parts = torch.empty((1024, 1024), dtype=torch.float32, device=grad.device)
    # layer_norm.py:31: bias_parts = torch.empty_like(weight_parts)
    bias_parts = torch.empty((1024, 1024), dtype=torch.float32, device=grad.device)
    # layer_norm.py:32: for batch in hl.tile(m, block_size=block):
    layer_norm_backward_0_kernel[(1024,)](
        grad, x, weight, mean, rstd, out, weight_parts, bias_parts, BLOCK_0=32, num_warps=4, num_stages=2
    )
    # layer_norm.py:46: return out, weight_parts.sum(0).to(weight.dtype), bias_parts.sum(0).to(weight.dtype)
    array = torch.ops.aten.sum.dim_IntList(weight_parts, [0])
    array_2 = torch.empty((1024,), dtype=torch.bfloat16, device=grad.device)
    array_2.copy_(array)
    array_3 = torch.ops.aten.sum.dim_IntList(bias_parts, [0])
    array_4 = torch.empty((1024,), dtype=torch.bfloat16, device=grad.device)
    array_4.copy_(array_3)
    return out, array_2, array_4
