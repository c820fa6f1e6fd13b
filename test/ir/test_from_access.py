"""Index lists as relations: by hand, which element each lane of a block addresses, and which lanes there are."""

from __future__ import annotations

import numpy as np
import pytest

from kopt import parse
from kopt.dialects.tile import LoadOp, TileType
from kopt.ir.condition import TRUE
from kopt.ir.evaluation import Evaluation
from kopt.ir.from_access import known_inside, lanes_inside, relation_of, unguarded
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_lists import indices
from test.named import named

TEXT = """
func.func @f(%x: memref<40x30xf32>, %p: memref<8x30x40xf16>, %rows: memref<40xi32>) {{
  tile.grid (%i: b0=16, %j: b1=8) in (40, 30) {{
    %five = arith.constant 5 : index
    %begin = tile.begin %j : !tile.range<b1=8>
    %near = tile.shift %j by %five : !tile.range<b1=8>
    %ni = tile.index %i : !tile.range<b0=16>
    %r = tile.load %rows[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    %seven = tile.full 7 : !tile.tile<b0=16 x i32>
    %m = tile.lt %ni, %seven : !tile.tile<b0=16 x i32>
    %wide = tile.broadcast %r dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=8 x i32>
    {line}
  }}
  func.return
}}
"""
#: Block numbers: the last ones of 40 and of 30, of which 8 and 6 lanes are inside.
I, J, BLOCK, COLUMNS = 2, 3, 32 + np.arange(16), 24 + np.arange(8)
ROWS = np.arange(40) * 7 % 40


def load_of(line: str):
    """A load in that kernel, its analysis, and the evaluation of one block."""
    values = named(parse(TEXT.format(line=line)))
    op = values["v"].owner
    assert isinstance(op, LoadOp) and isinstance(op.result.type, TileType)
    arrays = {values["i"]: I, values["j"]: J, values["r"]: ROWS[np.minimum(BLOCK, 39)]}
    return op, IndexAnalysis(), Evaluation(arrays, op.result.type.shape), op.result.type.shape


CASES = {
    "%v = tile.load %x[%i, %j] : memref<40x30xf32> -> !tile.tile<b0=16 x b1=8 x f32>": (
        [BLOCK[:, None], COLUMNS[None]],
        (BLOCK < 40)[:, None] & (COLUMNS < 30)[None],
    ),
    "%v = tile.load %x[3, %j] : memref<40x30xf32> -> !tile.tile<b1=8 x f32>": ([3, COLUMNS], COLUMNS < 30),
    "%v = tile.load %x[%i, %begin] : memref<40x30xf32> -> !tile.tile<b0=16 x f32>": ([BLOCK, 24], BLOCK < 40),
    "%v = tile.load %x[%i, :] : memref<40x30xf32> -> !tile.tile<b0=16 x 30 x f32>": (
        [BLOCK[:, None], np.arange(30)[None]],
        (BLOCK < 40)[:, None],
    ),
    "%v = tile.load %x[5, 1:29:4] : memref<40x30xf32> -> !tile.tile<7 x f32>": ([5, np.arange(1, 29, 4)], True),
    "%v = tile.load %x[%i, %near] : memref<40x30xf32> -> !tile.tile<b0=16 x b1=8 x f32>": (
        [BLOCK[:, None], COLUMNS[None] + 5],
        (BLOCK < 40)[:, None] & (COLUMNS < 30)[None],
    ),
    "%v = tile.load %x[%r, 4] mask %m : memref<40x30xf32> -> !tile.tile<b0=16 x f32>": (
        [ROWS[np.minimum(BLOCK, 39)], 4],
        (BLOCK < 7) & (BLOCK < 40),
    ),
    "%v = tile.load %x[%r, %j] : memref<40x30xf32> -> !tile.tile<b0=16 x b1=8 x f32>": (
        [ROWS[np.minimum(BLOCK, 39)][:, None], COLUMNS[None]],
        (BLOCK < 40)[:, None] & (COLUMNS < 30)[None],
    ),
    "%v = tile.load %p[2, %j, %r] : memref<8x30x40xf16> -> !tile.tile<b1=8 x b0=16 x f16>": (
        [2, COLUMNS[:, None], ROWS[np.minimum(BLOCK, 39)][None]],
        (BLOCK < 40)[None] & (COLUMNS < 30)[:, None],
    ),
}


@pytest.mark.parametrize("line", CASES)
def test_lanes_are_these_elements(line: str) -> None:
    """Indices are right inside of the domain, which is the ranges and the mask."""
    op, m, evaluation, shape = load_of(line)
    found, (wanted, inside) = relation_of(op, m), CASES[line]
    inside = np.broadcast_to(inside, shape)
    assert (np.broadcast_to(evaluation.condition(found.domain), shape) == inside).all()
    assert len(found.indices) == len(wanted)
    for index, numbers in zip(found.indices, wanted, strict=True):
        assert (np.broadcast_to(evaluation.expr(index), shape) == np.broadcast_to(numbers, shape))[inside].all()
    assert found.lanes == shape and found.bits == (16 if "f16" in line else 32)
    assert found.shape == ((8, 30, 40) if "%p" in line else (40, 30))


@pytest.mark.parametrize("line", CASES)
def test_indices_of_all_lanes(line: str) -> None:
    op, m, evaluation, shape = load_of(line)
    found = indices(op, m)
    for index, numbers in zip(found, CASES[line][0], strict=True):
        assert (np.broadcast_to(evaluation.expr(index), shape) == np.broadcast_to(numbers, shape)).all()
    without = unguarded(op, m)
    assert without.domain == TRUE and without.indices == relation_of(op, m).indices


def test_an_analysis_is_made_where_none_is_given() -> None:
    op, m, _, _ = load_of(next(iter(CASES)))
    assert relation_of(op) == relation_of(op, m)


def test_open_tags_are_sizes() -> None:
    op, _, _, _ = load_of(next(iter(CASES)))
    lanes = relation_of(op, IndexAnalysis(open_tags=["b0"])).lanes
    assert str(lanes[0]) == "b0" and lanes[1] == 8


TILES = """
    %nj = tile.index %j : !tile.range<b1=8>
    %w = tile.broadcast %nj dims [0] : !tile.tile<b1=8 x i32> to !tile.tile<b1=8 x {size} x i32>
    %limit = tile.full {limit} : !tile.tile<b1=8 x {size} x i32>
    %v = tile.lt %w, %limit : !tile.tile<b1=8 x {size} x i32>
"""


@pytest.mark.parametrize(
    ("limit", "wanted"),
    [(30, True), (32, True), (29, None), (1, None), (0, False), (-5, False)],
)
def test_known_inside(limit: int, wanted: bool | None) -> None:
    """Element numbers are 0 to 29 where they are inside, though blocks of 8 reach to 31."""
    value = named(parse(TEXT.format(line=TILES.format(limit=limit, size=4))))["v"]
    assert known_inside(value, value.owner, IndexAnalysis()) is wanted


def test_lanes_inside() -> None:
    """Plain dimensions are always inside; outside of the loops nothing is said."""
    values = named(parse(TEXT.format(line=TILES.format(limit=3, size=4))))
    value, m = values["v"], IndexAnalysis()
    assert isinstance(value.type, TileType)
    evaluation = Evaluation({values["i"]: I, values["j"]: J}, (8, 4))
    found = np.broadcast_to(evaluation.condition(lanes_inside(value.type, value.owner, m)), (8, 4))
    assert (found == (COLUMNS < 30)[:, None]).all()
    assert lanes_inside(value.type, value.owner.parent_op(), m) == TRUE
