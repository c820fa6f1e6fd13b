"""Matrix product with pointers; programs go through groups of 8 rows of blocks, so that they share operands in L2."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
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
    wide = tl.cdiv(N, BLOCK_N)
    first = pid // (GROUP_M * wide) * GROUP_M
    height = min(tl.cdiv(M, BLOCK_M) - first, GROUP_M)
    pid_m = first + pid % (GROUP_M * wide) % height
    pid_n = pid % (GROUP_M * wide) // height
    # Rows and columns outside are read as some that are inside: their products are never stored.
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    from_x = x + rows[:, None] * K + inner[None, :]
    from_y = y + inner[:, None] * N + columns[None, :]
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(from_x, mask=inner[None, :] < left, other=0.0)
        b = tl.load(from_y, mask=inner[:, None] < left, other=0.0)
        acc = tl.dot(a, b, acc)
        from_x += BLOCK_K
        from_y += BLOCK_K * N
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out + rows[:, None] * N + columns[None, :], acc.to(out.dtype.element_ty), mask=inside)


def matmul_grouped(x, y):
    (m, k), n = x.shape, y.shape[1]
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(m, 128) * triton.cdiv(n, 256),)
    blocks = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}
    matmul_kernel[grid](x, y, out, m, n, k, **blocks, num_warps=8, num_stages=3)
    return out
