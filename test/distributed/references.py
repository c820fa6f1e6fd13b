"""What the programs of ``programs.py`` compute, by torch's own collectives. Arguments: tensors, then groups."""

from __future__ import annotations

import torch
import torch.distributed as dist


def _sum(x: torch.Tensor, group) -> torch.Tensor:
    x = x.clone()
    dist.all_reduce(x, group=group)
    return x


def model(x, *weights, tp):
    for weight in weights:
        x = _sum(x @ weight, tp)
    return x


def argument(x, *, tp):
    return _sum(_sum(x, tp) + x, tp)


def opaque(x, *, tp):
    return _sum(x.tril(), tp)


def chain(x, y, *, tp):
    return _sum(torch.relu(x @ y) + y, tp)


def two_groups(x, *, tp, dp):
    e = torch.exp(x)
    return _sum(e, tp) + _sum(e, dp)


def returned(x, *, tp):
    e = torch.exp(x)
    return e.t(), _sum(e, tp)


def views(x, *, tp):
    e = torch.exp(x)
    return _sum(e[8:], tp), _sum(e[:, 4:8], tp), _sum(e.t(), tp)


def two_shot(x, *, tp):
    e = torch.exp(x)
    return _sum(e, tp) + e


def library(x, *, tp):
    ranks = dist.get_world_size(tp)
    parts = [torch.empty_like(x) for _ in range(ranks)]
    dist.all_gather(parts, x, group=tp)
    gathered = torch.cat(parts)
    scattered = _sum(gathered, tp)[dist.get_rank(tp) * 16 : dist.get_rank(tp) * 16 + 16]
    largest = x.clone()
    dist.all_reduce(largest, dist.ReduceOp.MAX, group=tp)
    return gathered, scattered, largest
