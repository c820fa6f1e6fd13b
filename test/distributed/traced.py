"""Programs as people write them: kernels, torch calls, functional collectives. Each with what torch itself computes."""

from __future__ import annotations

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

import kopt
import kopt.language as hl

#: Newer releases of torch have other names for two of them.
all_gather = getattr(functional, "all_gather_single", None) or functional.all_gather_tensor
reduce_scatter = getattr(functional, "reduce_scatter_single", None) or functional.reduce_scatter_tensor


@kopt.kernel(config={"block_sizes": [16, 8]})
def scaled_relu(x, scale: float):
    out = torch.empty_like(x)
    for tile in hl.tile(x.shape):
        out[tile] = torch.relu(x[tile]) * scale
    return out


@kopt.kernel
def row_sums(x):
    out = torch.empty([x.size(0)], dtype=x.dtype, device=x.device)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile, :].sum(-1)
    return out


@kopt.program(all_reduce="one_shot")
def tensor_parallel(x, up, down, tp):
    hidden = scaled_relu(x @ up, 0.5)
    total = functional.all_reduce(hidden @ down, "sum", tp)
    return x + total, row_sums(total)


def torch_tensor_parallel(x, up, down, tp):
    total = (torch.relu(x @ up) * 0.5) @ down
    dist.all_reduce(total, group=tp)
    return x + total, total.sum(-1)


@kopt.program
def library(x, tp, dp):
    gathered = all_gather(x * 2, 0, tp)
    scattered = reduce_scatter(gathered, "sum", 0, tp)
    [largest] = functional.all_reduce_coalesced([scattered], "max", dp)
    swapped = functional.all_to_all_single(largest + x, None, None, tp)
    return swapped, gathered


def torch_library(x, tp, dp):
    size, rank = dist.get_world_size(tp), dist.get_rank(tp)
    parts = [torch.empty_like(x) for _ in range(size)]
    dist.all_gather(parts, x * 2, group=tp)
    gathered = torch.cat(parts)
    total = gathered.clone()
    dist.all_reduce(total, group=tp)
    largest = total[rank * len(x) : (rank + 1) * len(x)].clone()
    dist.all_reduce(largest, dist.ReduceOp.MAX, group=dp)
    swapped = torch.empty_like(x)
    dist.all_to_all_single(swapped, largest + x, group=tp)
    return swapped, gathered


@kopt.program(all_reduce="two_shot")
def in_place(x, y, tp):
    y.add_(functional.all_reduce(torch.exp(x), "sum", tp))
    return functional.all_reduce(y[:8], "sum", tp)


def torch_in_place(x, y, tp):
    total = torch.exp(x)
    dist.all_reduce(total, group=tp)
    y.add_(total)
    out = y[:8].clone()
    dist.all_reduce(out, group=tp)
    return out


#: The shapes of each program's tensors.
SHAPES = {
    "tensor_parallel": [(20, 24), (24, 40), (40, 24)],
    "library": [(8, 12)],
    "in_place": [(16, 12), (16, 12)],
}
