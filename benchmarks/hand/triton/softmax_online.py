"""Softmax of rows of any length: one pass for the largest and the sum of powers, one for the result."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, columns: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    largest = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        # Each lane has a maximum of its own until the end; one without any element yet would give a NaN.
        grown = tl.maximum(largest, values)
        known = tl.where(grown == -float("inf"), 0.0, grown)
        total = total * tl.exp(largest - known) + tl.exp(values - known)
        largest = grown
    top = tl.max(largest, 0)
    scale = 1.0 / tl.sum(total * tl.exp(largest - top), 0)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < columns).to(tl.float32)
        tl.store(out + row + at, (tl.exp(values - top) * scale).to(out.dtype.element_ty), mask=at < columns)


def softmax_online(x):
    rows, columns = x.shape
    out = torch.empty_like(x)
    softmax_kernel[(rows,)](x, out, columns, BLOCK=4096, num_warps=8)
    return out
