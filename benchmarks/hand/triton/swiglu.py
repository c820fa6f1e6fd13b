"""SwiGLU, over the arrays as one long row."""

import torch
import triton
import triton.language as tl


@triton.jit
def swiglu_kernel(gate, up, out, count: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    opened = tl.load(gate + at, mask=inside).to(tl.float32)
    activated = (opened * tl.sigmoid(opened)).to(out.dtype.element_ty)
    tl.store(out + at, activated * tl.load(up + at, mask=inside), mask=inside)


def swiglu(gate, up):
    out = torch.empty_like(up)
    swiglu_kernel[(triton.cdiv(up.numel(), 1024),)](gate, up, out, up.numel(), BLOCK=1024, num_warps=4)
    return out
