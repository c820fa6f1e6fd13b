"""Counters in memory: how often each number occurs, and a sort in which each number draws the ticket of its place."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def histogram(numbers, bins):
    counts = torch.zeros([bins], dtype=torch.int32, device=numbers.device)
    for tile in hl.tile(numbers.size(0)):
        hl.atomic_add(counts, [numbers[tile]], 1)
    return counts


@kopt.kernel
def counting_sort(numbers, bins):
    counts = torch.zeros([bins], dtype=torch.int32, device=numbers.device)
    for tile in hl.tile(numbers.size(0)):
        hl.atomic_add(counts, [numbers[tile]], 1)
    places = torch.cumsum(counts, 0).to(torch.int32) - counts
    out = torch.empty_like(numbers)
    for tile in hl.tile(numbers.size(0)):
        ticket = hl.atomic_add(places, [numbers[tile]], 1)
        out[ticket] = numbers[tile]
    return out


def reference_histogram(numbers, bins):
    return numbers.bincount(minlength=bins).to(torch.int32)


def reference_sort(numbers, bins):
    return numbers.sort().values


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
