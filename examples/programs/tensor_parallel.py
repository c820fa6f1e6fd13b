"""A transformer's feed-forward layer over several ranks: each has a slice of both weights, and the results are summed.

torchrun --nproc-per-node 2 examples/programs/tensor_parallel.py        # TRITON_INTERPRET=1 where there is no GPU
"""

import os

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

import kopt
import kopt.language as hl

ROWS, WIDTH, HIDDEN, CALLS = 48, 64, 96, 3


@kopt.kernel
def gelu_scaled(x, scale: float):
    out = torch.empty_like(x)
    for tile in hl.tile(x.shape):
        out[tile] = torch.nn.functional.gelu(x[tile]) * scale
    return out


@kopt.program
def feed_forward(x, up, down, group):
    hidden = gelu_scaled(x @ up, 0.5)
    return x + functional.all_reduce(hidden @ down, "sum", group)


def reference(x, up, down, group):
    partial = (torch.nn.functional.gelu(x @ up) * 0.5) @ down
    dist.all_reduce(partial, group=group)
    return x + partial


def main() -> None:
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if torch.cuda.is_available() else torch.device("cpu")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    torch.manual_seed(0)  # the same x on all ranks
    x = torch.randn(ROWS, WIDTH, device=device)
    torch.manual_seed(1 + dist.get_rank())
    up, down = (torch.randn(shape, device=device) / 8 for shape in ((WIDTH, HIDDEN), (HIDDEN, WIDTH)))
    for _ in range(CALLS):
        got = feed_forward(x, up, down, dist.group.WORLD)
        torch.testing.assert_close(got, reference(x, up, down, dist.group.WORLD), rtol=1e-4, atol=1e-4)
        x = got
    if dist.get_rank() == 0:
        print(f"{CALLS} layers on {dist.get_world_size()} ranks are right")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
