"""Rows of several parts that come one after another: only those that words make are put together."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import bf16, f32, i8

from kopt.analysis.interleaved import alternating
from kopt.dialects.tile import ConcatOp, FullOp, MaskOp, ReshapeOp, TileType


@pytest.mark.parametrize(
    ("element", "part", "parts", "dim", "after", "alternate"),
    [
        (bf16, (8, 1, 128), 2, 1, (16, 128), True),
        (bf16, (2, 8, 1, 128), 2, 2, (2, 16, 128), True),
        (bf16, (2, 8, 1, 128), 2, 2, (16, 256), False),  # rows of other lanes
        (bf16, (2, 8, 1, 128), 2, 2, (32, 128), False),
        (bf16, (2, 8, 1, 128), 2, 2, (4, 8, 128), False),
        (bf16, (8, 2, 128), 2, 1, (32, 128), False),  # pairs of rows
        (bf16, (8, 1, 128), 3, 1, (24, 128), False),
        (bf16, (1, 8, 128), 2, 0, (16, 128), False),
        (i8, (8, 1, 128), 4, 1, (32, 128), True),
        (i8, (8, 1, 128), 2, 1, (16, 128), False),
        (f32, (8, 1, 128), 1, 1, (8, 128), False),
    ],
)
def test_single_rows_of_words(element, part, parts, dim, after, alternate) -> None:
    made = ConcatOp([FullOp(0, TileType(part, element)) for _ in range(parts)], dim)
    wanted = made if alternate else None
    masked = MaskOp(made, [None] * len(part), 0)
    assert alternating(ReshapeOp(made, TileType(after, element))) is wanted
    assert alternating(ReshapeOp(masked, TileType(after, element))) is wanted
    assert alternating(made) is None
