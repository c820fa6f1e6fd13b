import torch
import triton
import triton.language as tl


@triton.jit
def _philox(offset, low, high):
    # The words for counters of 64 bits with a sign, whose high half is 0.
    counter = offset.to(tl.int64)
    c0 = counter.to(tl.uint32)
    c1 = (counter >> 32).to(tl.uint32)
    zero = c0 * 0
    a, b, c, d = tl.philox_impl(c0, c1, zero, zero, low.to(tl.uint32), high.to(tl.uint32))
    return (
        a.to(tl.int32, bitcast=True),
        b.to(tl.int32, bitcast=True),
        c.to(tl.int32, bitcast=True),
        d.to(tl.int32, bitcast=True),
    )


@triton.jit
def dropout_backward_0_kernel(grad, out, arg, arg_2, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
    # only written: out
    # dropout.py:24: for rows, cols in hl.tile(grad.size(), block_size=BLOCKS):
    pid = tl.program_id(0)
    cols_blocks: tl.constexpr = 20
    cols_block = pid % cols_blocks
    rows = pid // cols_blocks * BLOCK_0 + tl.arange(0, BLOCK_0)
    cols = cols_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    # dropout.py:25: keep = hl.rand([rows, cols], seed=seed) > p
    offset = (rows * 2560)[:, None] + cols[None, :]
    arg_block = tl.load(arg)
    arg_2_block = tl.load(arg_2)
    bits, bits_2, bits_3, bits_4 = _philox(offset, arg_block, arg_2_block)
    keep = (bits ^ bits >> 31).to(tl.float32) * 4.6566126e-10 > 0.25
    # dropout.py:26: out[rows, cols] = torch.where(keep, grad[rows, cols] / (1 - p), 0.0)
    grad_block = tl.load(grad + (rows[:, None] * 2560 + cols[None, :]))
    v = tl.where(keep, (grad_block.to(tl.float32) * 1.3333334).to(tl.bfloat16), 0.0)
    tl.store(out + (rows[:, None] * 2560 + cols[None, :]), v)


def dropout_backward(grad, seed):
    # dropout.py:23: out = torch.empty_like(grad)
    out = torch.empty((4096, 2560), dtype=torch.bfloat16, device=grad.device)
    # dropout.py:25: keep = hl.rand([rows, cols], seed=seed) > p
    array = torch.empty((), dtype=torch.int32, device=grad.device)
    array.copy_(seed)
    array_2 = torch.ops.aten.__rshift__.Scalar(seed, 32)
    array_3 = torch.empty((), dtype=torch.int32, device=grad.device)
    array_3.copy_(array_2)
    # dropout.py:24: for rows, cols in hl.tile(grad.size(), block_size=BLOCKS):
    dropout_backward_0_kernel[(1280,)](grad, out, array, array_3, BLOCK_0=64, BLOCK_1=128, num_warps=8, num_stages=1)
    return out
