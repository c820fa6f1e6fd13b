"""The loss of each row, with the labels' logits gathered from the flat array."""

import helion
import helion.language as hl
import torch
from helion._testing import DEVICE, LONG_INT_TYPE, run_example


@helion.jit(ignore_warnings=[helion.exc.TensorOperationInWrapper])
def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    n, v = logits.shape
    losses = torch.zeros([n], dtype=logits.dtype, device=logits.device)
    flat = logits.view(-1)
    for rows in hl.tile(n):
        wanted = hl.load(flat, [rows.index * v + labels[rows]])
        values = logits[rows, :]
        most = torch.amax(values, dim=-1, keepdim=True)
        total = torch.sum(torch.exp(values - most), dim=-1, keepdim=True)
        losses[rows] = most.squeeze(-1) + torch.log(total.squeeze(-1)) - wanted
    return losses


def main() -> None:
    logits = torch.randn(32, 100, device=DEVICE, dtype=torch.float32)
    labels = torch.randint(0, 100, (32,), device=DEVICE, dtype=LONG_INT_TYPE)
    plain = lambda logits, labels: torch.nn.functional.cross_entropy(logits, labels, reduction="none")  # noqa: E731
    run_example(cross_entropy, plain, (logits, labels), rtol=1e-4, atol=1e-4)
    print("cross entropy: equal")


if __name__ == "__main__":
    main()
