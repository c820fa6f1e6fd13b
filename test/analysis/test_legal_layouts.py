"""Layouts of windows: their last two dimensions are ones that Mosaic takes, and legal windows stay."""

from __future__ import annotations

import itertools
from math import prod
from types import SimpleNamespace
from typing import Any

import pytest
from xdsl.dialects.builtin import MemRefType, bf16, f32, i8

from kopt.analysis.layouts import Layout, LayoutProblem, layout
from kopt.analysis.windows import Dim
from kopt.targets.tiling import LANES, sublanes

ELEMENTS = {32: f32, 16: bf16, 8: i8}
#: Extents of a dimension, with blocks of it; 0 takes it whole, 1 picks single elements.
ROWS = [(64, 8), (64, 16), (64, 32), (64, 20), (64, 64), (64, 1), (20, 20), (20, 0), (5, 0), (1, 1), (5, 1)]
COLUMNS = [(512, 128), (512, 256), (512, 64), (512, 512), (512, 1), (100, 100), (100, 0), (100, 20), (128, 0), (1, 1)]


def dim(extent: int, size: int) -> Dim:
    if size == 0:
        return Dim("whole", extent, plain=True)
    return Dim("point", 1) if size == 1 and extent > 1 else Dim("block", size, last=(extent - 1) // size)


def window(bits: int, *dims: tuple[int, int]) -> Any:
    type = MemRefType(ELEMENTS[bits], [extent for extent, _ in dims])
    return SimpleNamespace(dims=tuple(dim(*each) for each in dims), type=type, bits=bits)


def is_legal(block: int, extent: int, multiple: int) -> bool:
    return block == extent or block % multiple == 0 and block > 0


def rows_and_lanes(found: Layout, bits: int) -> bool:
    """Whether the last two dimensions of a window are legal."""
    (rows, lanes), (most, width) = found.blocks[-2:], found.shape[-2:]
    return is_legal(lanes, width, LANES) and is_legal(rows, most, sublanes(bits))


@pytest.mark.parametrize("bits", ELEMENTS)
@pytest.mark.parametrize("outer", [[], [(3, 1)], [(4, 2)]])
def test_two_dimensions(outer: list[tuple[int, int]], bits: int) -> None:
    """A window that is legal as it stands is left; all others are made so, and no element is lost or doubled."""
    for rows, columns in itertools.product(ROWS, COLUMNS):
        dims = [*outer, rows, columns]
        given = window(bits, *dims)
        try:
            found = layout(given)
        except LayoutProblem:
            pytest.fail(f"{rows} {columns}")
        assert rows_and_lanes(found, bits), (rows, columns, found)
        covered = [part.dim for part in found.parts if part.kind in ("all", "outer")]
        assert sorted(covered) == list(range(len(dims)))
        assert sorted(part.dim for part in found.parts if part.kind == "inner") == [
            n for n, split in enumerate(found.splits) if split
        ]
        assert prod(found.shape) == prod(found.padded)
        kinds = [each.kind for each in given.dims[-2:]]
        stands = "point" not in kinds and all(
            is_legal(each.size, extent, multiple)
            for each, (extent, _), multiple in zip(given.dims[-2:], dims[-2:], (sublanes(bits), LANES), strict=True)
        )
        fits = all(extent % each.size == 0 for each, (extent, _) in zip(given.dims, dims, strict=True))
        if fits:
            assert found.plain is stands, (rows, columns, found)


@pytest.mark.parametrize(
    ("bits", "extent", "size", "blocks"),
    [(32, 100, 100, 100), (32, 100, 130, 256), (32, 128, 128, 128), (16, 256, 300, 512), (32, 1024, 1030, 2048)],
)
def test_one_dimension_that_is_whole(bits: int, extent: int, size: int, blocks: int) -> None:
    """Rounded up where it is beyond the extent."""
    given = SimpleNamespace(
        dims=(Dim("whole", size, plain=True),), type=MemRefType(ELEMENTS[bits], [extent]), bits=bits
    )
    assert layout(given).blocks == (blocks,)  # pyright: ignore


@pytest.mark.parametrize(
    ("sizes", "blocks"),
    [
        ((5, 20, 100), (5, 20, 100)),
        ((5, 21, 100), (5, 24, 100)),
        ((5, 20, 101), (5, 20, 128)),
        ((6, 20, 100), (6, 20, 100)),
    ],
)
def test_whole_dimensions_beyond_their_extents(sizes: tuple[int, ...], blocks: tuple[int, ...]) -> None:
    """Rows and lanes are rounded up to what is legal, those further out are taken as they are."""
    dims = tuple(Dim("whole", size, plain=True) for size in sizes)
    given = SimpleNamespace(dims=dims, type=MemRefType(f32, [5, 20, 100]), bits=32)
    assert layout(given).blocks == blocks  # pyright: ignore


@pytest.mark.parametrize(
    ("kind", "last", "front", "reached"),
    [
        ("block", 2, 0, 20),  # rows 16 to 23, of which there are four
        ("block", 3, 0, 32),
        ("block", 5, 0, 48),
        ("block", 2, 3, 23),
        ("block", 2, 8, 28),
        ("block", 3, 8, 28),
        ("block", 4, 8, 40),
        ("whole", 5, 0, 20),
    ],
)
def test_blocks_beyond_the_array(kind: Any, last: int, front: int, reached: int) -> None:
    """An array is as long as the block that lies wholly beyond it reaches, and as what stands before it."""
    rows = Dim(kind, 8 if kind == "block" else 20, last=last, front=front, plain=kind == "whole")
    given = SimpleNamespace(dims=(rows, dim(256, 128)), type=MemRefType(f32, [20, 256]), bits=32)
    found = layout(given)  # pyright: ignore
    assert found.padded == (reached, 256) and found.plain is (reached == 20)


#: A block of lanes of which one is taken wherever rows are, and what is different: blocks of lanes stand one behind
#: another where rows are picked at any place out of lanes that move.
ROW, LANE = {"walk": 1, "step": 1, "dynamic": True}, {"walk": 128, "step": 128, "dynamic": True}


@pytest.mark.parametrize(
    ("rows", "lanes", "bits", "moves"),
    [
        (ROW, LANE, 32, True),
        (ROW | {"walk": 8}, LANE, 32, False),
        (ROW | {"walk": 8, "step": 8}, LANE, 32, False),
        (ROW | {"dynamic": False}, LANE, 32, False),
        (ROW, LANE | {"plain": True}, 32, False),
        (ROW, LANE | {"step": 0}, 32, False),
        (ROW, LANE | {"dynamic": False}, 32, False),
        (ROW, LANE, 16, False),  # rows of their own are separated
    ],
)
def test_rows_that_are_picked_out_of_lanes_that_move(rows: Any, lanes: Any, bits: int, moves: bool) -> None:
    """Mosaic takes one of the two."""
    dims = (Dim("whole", 64, **rows), Dim("whole", 512, **lanes))
    given = SimpleNamespace(dims=dims, type=MemRefType(ELEMENTS[bits], [64, 512]), bits=bits)
    assert layout(given).splits == (0, 128 if moves else 0)  # pyright: ignore
