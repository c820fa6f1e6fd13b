"""Slices that begin at numbers which loops compute: as torch's own, or refused where their length differs."""

from __future__ import annotations

import pytest
import torch

import kopt.language as hl

from .support import check, imported

X = torch.randn(8, 64)
BEGINS = range(4, 16, 4)


def walked(f, x, out):
    for tile in hl.tile(4, 16, block_size=4):
        for rows in hl.tile(x.size(0), block_size=4):
            out[tile.begin // 4 - 1, rows, :] = f(x, rows, tile.begin)
    return out


TAKEN = {
    "from there on": lambda x, rows, b: x[rows, b : b + 5],
    "every third": lambda x, rows, b: x[rows, b - 1 : b + 9 : 3],
    "backwards": lambda x, rows, b: x[rows, 20 - b : 24 - b],
    "to the end": lambda x, rows, b: x[rows, b::16],
    "to the end, backwards": lambda x, rows, b: x[rows, 13 - b :: 16],
    "twice as far": lambda x, rows, b: x[rows, 2 * b + 3 :: 32],
    "difference": lambda x, rows, b: x[rows, b - b + 60 :],
    "before a new dimension": lambda x, rows, b: x[rows, b : b + 6, None].sum(-1),
    "behind a new dimension": lambda x, rows, b: x[rows, None, b : b + 6].sum(1),
    "of a transposed array": lambda x, rows, b: x.T[b : b + 6, rows].T,
}


@pytest.mark.parametrize("name", TAKEN)
def test_as_torch(name: str) -> None:
    f = TAKEN[name]
    wanted = torch.stack([f(X, slice(None), b) for b in BEGINS])
    check(walked, [f, X, torch.zeros(wanted.shape)], wanted)


def test_lanes_beyond_the_array_are_not_stored() -> None:
    def kernel(x, out):
        for tile in hl.tile(0, 60, block_size=20):
            out[:, tile.begin : tile.begin + 30] = x[:, tile.begin : tile.begin + 30] + 1
        return out

    check(kernel, [X, torch.zeros(8, 64)], torch.cat([X + 1], 1))


REFUSED = {
    "another length each time": lambda x, rows, b: x[rows, b::8],
    "shorter at last, in steps": lambda x, rows, b: x[rows, b + 4 :: 12],
    "longer at last": lambda x, rows, b: x[rows, 12 - b :: 12],
    "shorter at last": lambda x, rows, b: x[rows, b:],
    "from before the array": lambda x, rows, b: x[rows, b - 5 :: 16],
    "a computed length": lambda x, rows, b: x[rows, b : 2 * b],
    "to a computed end": lambda x, rows, b: x[rows, :b],
    "none": lambda x, rows, b: x[rows, b:b],
    "to the end from a quotient": lambda x, rows, b: x[rows, b // 4 :: 16],
    "a negative step": lambda x, rows, b: x[rows, b + 5 : b : -1],
    "an index tensor of two dimensions": lambda x, rows, b: x[rows.index[:, None] + hl.arange(2)[None, :], b : b + 5],
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(Exception, match="a slice with computed bounds"):
        imported(walked, REFUSED[name], X, torch.zeros(3, 8, 5))
