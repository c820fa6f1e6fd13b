"""Index lists of loads and stores: where new, repeated and gathered dimensions stand, as torch has it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.frontend.indexing import resolve

from .support import seen

X = torch.arange(4 * 1 * 6 * 5.0).reshape(4, 1, 6, 5)
ROWS = torch.tensor([5, 0, 3, 3, 1, 2, 4], dtype=torch.int32)
#: What stands for the tile, of which there is one in each list, and for an array of row numbers.
TILE, GATHER = "tile", "gather"
LISTS = [
    (first, second, third)
    for first, second, third in itertools.product(
        (TILE, slice(0, 3), 2), (TILE, slice(None), 0), (slice(1, 3), GATHER, 5)
    )
    if [first, second].count(TILE) == 1 and not (third is GATHER and int in map(type, (first, second)))
]
CASES = [
    (*items[:place], *[None] * new, *items[place:])
    for items in LISTS
    for place in range(4)
    for new in (0, 1, 2)
    if new or not place
]


def loaded(x, rows, out, items, at):
    for tile in hl.tile(4, block_size=4):
        given = [tile if each is TILE else rows if each is GATHER else each for each in items]
        out[(*[slice(None)] * at, tile)] = x[tuple(given)]


def stored(x, rows, out, items, at):
    for tile in hl.tile(4, block_size=4):
        given = [tile if each is TILE else rows if each is GATHER else each for each in items]
        out[tuple(given)] = x[(*[slice(None)] * at, tile)]


def as_torch(items: tuple[Any, ...]) -> tuple[torch.Tensor, tuple[Any, ...]]:
    """The block that torch has, and the list without the tile."""
    given = tuple(slice(None) if each is TILE else ROWS.long() if each is GATHER else each for each in items)
    wide = [each for each in items if each is not None].index(TILE) == 1
    return (X.expand(4, 4, 6, 5) if wide else X)[given], given


@pytest.mark.parametrize("items", CASES, ids=str)
def test_loads(items: tuple[Any, ...]) -> None:
    expected, _ = as_torch(items)
    out = torch.zeros(expected.shape)
    kopt.kernel(loaded).on("reference")(X, ROWS, out, items, list(expected.shape).index(4))
    assert torch.equal(out, expected)


@pytest.mark.parametrize("items", [items for items in CASES if items[0] is TILE], ids=str)
def test_stores(items: tuple[Any, ...]) -> None:
    """Where a load takes from, a store writes to."""
    block, given = as_torch(items)
    value = torch.randn(block.shape, generator=torch.Generator().manual_seed(0))
    expected, out = torch.zeros(X.shape), torch.zeros(X.shape)
    if GATHER in items:  # the last row of a number wins nowhere: all have one value
        value = torch.ones(block.shape)
    expected[given] = value
    kopt.kernel(stored).on("reference")(value, ROWS, out, items, list(value.shape).index(4))
    assert torch.equal(out, expected)


NEAR = torch.zeros(8, 16, 4)
PLACES, SQUARE = torch.tensor([1, 0, 2]), torch.tensor([[1, 0], [2, 3]])


@pytest.mark.parametrize(
    ("index", "wanted"),
    [
        (lambda t, p, s: [t.begin, p, slice(None)], [True, False]),
        (lambda t, p, s: [3, p, slice(None)], [True, False]),
        (lambda t, p, s: [t, p, 0], [False, True]),
        (lambda t, p, s: [t, p, slice(1, 3)], [False, True, False]),
        (lambda t, p, s: [t.begin, slice(None), p], [False, True]),
        (lambda t, p, s: [s, 0, slice(None)], [True, True, False]),
        (lambda t, p, s: [t, s, slice(None)], [False, True, True, False]),
        (lambda t, p, s: [t, slice(None), 0], [False, False]),
        (lambda t, p, s: [t.begin, 0, slice(None)], [False]),
    ],
    ids=range(9),
)
def test_which_dimensions_are_row_numbers(index: Callable[..., list[Any]], wanted: list[bool]) -> None:
    def gathered(x, v, t, places, square):
        address = resolve(tuple(x.shape), index(t, places[:], square[:, :]))
        return [address.gathers(dim) for dim in range(len(address.dims))]

    assert seen(gathered, NEAR, PLACES, SQUARE) == wanted
