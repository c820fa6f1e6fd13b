"""Sums with broadcasting, checked and timed as Helion's own programs are."""

import helion
import helion.language as hl
import torch
from helion._testing import DEVICE, run_example


@helion.kernel(config=helion.Config(block_sizes=[16, 32], num_warps=4, indexing="tensor_descriptor", l2_groupings=[4]))
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty(x.shape, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


def main() -> None:
    x = torch.randn([40, 70], device=DEVICE, dtype=torch.float16)
    y = torch.randn([70], device=DEVICE, dtype=torch.float32)
    times = run_example(add, torch.add, (x, y))
    assert set(times) == {"helion", "torch"}
    print("add: equal")


if __name__ == "__main__":
    main()
