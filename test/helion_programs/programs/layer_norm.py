"""A layer norm with gradients of the input, the weight and the bias."""

from __future__ import annotations

from typing import Any

import helion
import helion.language as hl
import torch
from helion import kernel
from helion._testing import DEVICE, run_example


@kernel(ignore_warnings=[helion.exc.TensorOperationInWrapper])
def forward(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, eps: float = 1e-5) -> tuple:
    m, n = x.size()
    out = torch.empty_like(x)
    means, scales = torch.empty([m], device=x.device), torch.empty([m], device=x.device)
    for rows in hl.tile(m):
        values = x[rows, :].to(torch.float32)
        mean = values.sum(-1) / n
        apart = values - mean[:, None]
        scale = torch.rsqrt((apart * apart).sum(-1) / n + eps)
        normal = apart * scale[:, None] * weight[:].to(torch.float32)
        if bias is not None:
            normal = normal + bias[:].to(torch.float32)
        out[rows, :] = normal.to(x.dtype)
        means[rows] = mean
        scales[rows] = scale
    return out, means, scales


@kernel
def backward(
    grad: torch.Tensor, x: torch.Tensor, means: torch.Tensor, scales: torch.Tensor, weight: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    m, n = x.size()
    n = hl.specialize(n)
    block = hl.register_block_size(m)
    blocks = (m + block - 1) // block
    grad_x = torch.empty_like(x)
    weights = x.new_empty([blocks, n], dtype=torch.float32)
    biases = x.new_empty([blocks, n], dtype=torch.float32)
    for part in hl.tile(m, block_size=block):
        weight_sum, bias_sum = hl.zeros([n]), hl.zeros([n])
        for rows in hl.tile(part.begin, part.end):
            normal = (x[rows, :].to(torch.float32) - means[rows][:, None]) * scales[rows][:, None]
            grads = grad[rows, :].to(torch.float32)
            weight_sum += (grads * normal).sum(0)
            bias_sum += grads.sum(0)
            scaled = grads * weight[:].to(torch.float32)
            along = normal * ((normal * scaled).sum(-1) / n)[:, None] + (scaled.sum(-1) / n)[:, None]
            grad_x[rows, :] = ((scaled - along) * scales[rows][:, None]).to(x.dtype)
        weights[part.id, :] = weight_sum
        biases[part.id, :] = bias_sum
    return grad_x, weights.sum(0).to(weight.dtype), biases.sum(0).to(weight.dtype)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        out, means, scales = forward(x, weight, bias)
        ctx.save_for_backward(x, means, scales, weight)
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x, means, scales, weight = ctx.saved_tensors
        return backward(grad, x, means, scales, weight)


def main() -> None:
    x = torch.randn([40, 96], device=DEVICE, requires_grad=True)
    weight = torch.randn([96], device=DEVICE, requires_grad=True)
    bias = torch.randn([96], device=DEVICE, requires_grad=True)
    plain = lambda x, weight, bias: torch.nn.functional.layer_norm(x, [96], weight, bias)  # noqa: E731
    run_example(LayerNorm.apply, plain, (x, weight, bias), rtol=1e-4, atol=1e-4, bwd=True)
    torch.testing.assert_close(forward(x, weight, None)[0], torch.nn.functional.layer_norm(x, [96], weight).detach())
    print("layer norm: equal")


if __name__ == "__main__":
    main()
