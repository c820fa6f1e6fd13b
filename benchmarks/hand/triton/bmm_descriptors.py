"""Products of two batches of matrices with tensor descriptors of the host; the programs of a matrix are neighbours."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def bmm_kernel(
    x,
    y,
    out,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    batch = tl.program_id(1)
    wide = tl.cdiv(N, BLOCK_N)
    first = pid // (GROUP_M * wide) * GROUP_M
    height = min(tl.cdiv(M, BLOCK_M) - first, GROUP_M)
    row = (first + pid % (GROUP_M * wide) % height) * BLOCK_M
    column = pid % (GROUP_M * wide) // height * BLOCK_N
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for k in range(0, K, BLOCK_K):
        a = x.load([batch, row, k]).reshape([BLOCK_M, BLOCK_K])
        b = y.load([batch, k, column]).reshape([BLOCK_K, BLOCK_N])
        acc = tl.dot(a, b, acc)
    out.store([batch, row, column], acc.to(out.dtype).reshape([1, BLOCK_M, BLOCK_N]))


def bmm_descriptors(x, y):
    (batch, m, k), n = x.shape, y.shape[2]
    out = torch.empty([batch, m, n], dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(m, 128) * triton.cdiv(n, 256), batch)
    blocks = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}
    described = (
        TensorDescriptor.from_tensor(x, [1, 128, 64]),
        TensorDescriptor.from_tensor(y, [1, 64, 256]),
        TensorDescriptor.from_tensor(out, [1, 128, 256]),
    )
    bmm_kernel[grid](*described, m, n, k, **blocks, num_warps=8, num_stages=3)
    return out
