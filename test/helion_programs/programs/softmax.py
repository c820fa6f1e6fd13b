"""Three ways to write a softmax, and its gradient: a program that names its GPU by ``"cuda"``."""

from __future__ import annotations

from typing import Any

import helion
import helion.language as hl
import torch
from helion._testing import run_example


@helion.kernel()
def whole_rows(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = torch.nn.functional.softmax(x[rows, :], dim=1)
    return out


@helion.kernel(static_shapes=False)
def in_steps(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :]
        powers = torch.exp(values - torch.amax(values, dim=1, keepdim=True))
        out[rows, :] = powers / torch.sum(powers, dim=1, keepdim=True)
    return out


@helion.kernel()
def online(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty_like(x)
    block_m, block_n = hl.register_block_size(m), hl.register_block_size(n)
    for rows in hl.tile(m, block_size=block_m):
        most = hl.full([rows], float("-inf"), dtype=torch.float32)
        total = hl.zeros([rows], dtype=torch.float32)
        for columns in hl.tile(n, block_size=block_n):
            values = x[rows, columns]
            now = torch.maximum(most, torch.amax(values, dim=1))
            total = total * torch.exp(most - now) + torch.exp(values - now[:, None]).sum(dim=1)
            most = now
        for columns in hl.tile(n, block_size=block_n):
            out[rows, columns] = torch.exp(x[rows, columns] - most[:, None]) / total[:, None]
    return out


@helion.kernel()
def gradient(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, n = grad.size()
    out = torch.empty_like(grad)
    for rows in hl.tile(m):
        total = hl.zeros([rows], dtype=torch.float32)
        for columns in hl.tile(n):
            total += torch.sum(y[rows, columns] * grad[rows, columns], dim=1)
        for columns in hl.tile(n):
            out[rows, columns] = y[rows, columns] * (grad[rows, columns] - total[:, None])
    return out


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = online(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (y,) = ctx.saved_tensors
        return gradient(grad, y)


def main() -> None:
    x = torch.randn([48, 200], device="cuda", dtype=torch.float16)
    kernels = {"whole rows": whole_rows, "in steps": in_steps, "online": online}
    run_example(kernels, lambda x: torch.nn.functional.softmax(x, dim=1), (x,))
    leaf = torch.randn([48, 200], device="cuda", dtype=torch.float16, requires_grad=True)
    plain = lambda x: torch.nn.functional.softmax(x, dim=1)  # noqa: E731
    run_example(Softmax.apply, plain, (leaf,), rtol=1e-3, atol=1e-3, bwd=True)
    print("softmax: equal")


if __name__ == "__main__":
    main()
