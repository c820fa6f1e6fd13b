"""Stores of other values into the same elements, judged by going through the cells."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.output_dependence import overwriting
from kopt.dialects.tile import GridOp
from test.named import only

TEXT = """
func.func @f(%x: memref<8x6x4xf32>, %o: memref<8x6x4xf32>, %ids: memref<8xi32>, %u: memref<8xf32>) {{
  tile.grid (%i: b0=4, %j: b1=2, %one: b2=4) in (8, 6, 4) {{
    %v = tile.load %x[%i, %j, %one] : memref<8x6x4xf32> -> !tile.tile<b0=4 x b1=2 x b2=4 x f32>
    %r = tile.reduce add %v [1] : !tile.tile<b0=4 x b1=2 x b2=4 x f32>
    %s = tile.reduce add %v [0, 1, 2] : !tile.tile<b0=4 x b1=2 x b2=4 x f32>
    %c = tile.full 1.0 : !tile.tile<b0=4 x b2=4 x f32>
    %id = tile.id %j : !tile.range<b1=2>
    %n = tile.begin %i : !tile.range<b0=4>
    %zero = arith.constant 0 : index
    %none = arith.muli %id, %zero : index
    {lines}
  }}
  func.return
}}
"""
ARRAY, WHOLE, ROWS = "memref<8x6x4xf32>", "!tile.tile<b0=4 x b1=2 x b2=4 x f32>", "!tile.tile<b0=4 x b2=4 x f32>"


def found(lines: str) -> list[set[int]]:
    """The dimensions of each store that is found, in the order of the text."""
    grid = only(parse(TEXT.format(lines=lines)), GridOp)
    return [set(dims) for dims in overwriting(grid).values()]


def store(value: str, entries: str, type: str) -> str:
    """A store into ``%o``."""
    return f"tile.store %{value}, %o[{entries}] : {type}, {ARRAY}\n"


@pytest.mark.parametrize(
    "lines, dims",
    [
        (store("v", "%i, %j, %one", WHOLE), []),
        (store("r", "%i, 0, %one", ROWS), [{1}]),
        (store("r", "%i, %id, %one", ROWS), []),
        (store("r", "%i, %none, %one", ROWS), [{1}]),
        (store("c", "%i, 0, %one", ROWS), []),
        (store("s", "0, 0, 0", "!tile.tile<f32>"), [{0, 1}]),
        (store("s", "%n, 0, 0", "!tile.tile<f32>"), [{1}]),
        (store("s", "0, %id, 0", "!tile.tile<f32>"), [{0}]),
        (store("r", "%i, 0, %one", ROWS) + store("s", "0, 1, 0", "!tile.tile<f32>"), [{1}, {0, 1}]),
        (f"tile.when first(%j) {{\n{store('r', '%i, 0, %one', ROWS)}}}", []),
        (f"tile.for %k: b3=2 in (0, 6) {{\n{store('r', '%i, 0, %one', ROWS)}}}", [{1}]),
        (store("r", "%i, 0, %one", ROWS) + f"%w = tile.load %o[%i, 3, %one] : {ARRAY} -> {ROWS}\n", []),
        (store("r", "%i, 0, %one", ROWS) + f"atomic.rmw add %c, %o[%i, 3, %one] : {ROWS}, {ARRAY}\n", []),
        ("", []),
    ],
)
def test_values_that_change_where_places_do_not(lines: str, dims: list[set[int]]) -> None:
    """Dimension 2 has one cell, so that nothing changes along it."""
    assert found(lines) == dims


def test_values_change_through_loops_and_their_bounds() -> None:
    carried = """
    %z = tile.full 0.0 : !tile.tile<b0=4 x b2=4 x f32>
    %sum = tile.for %k: b3=2 in ({}, 6) iter(%a = %z) -> (!tile.tile<b0=4 x b2=4 x f32>) {{
      %next = tile.add %a, %{} : !tile.tile<b0=4 x b2=4 x f32>
      tile.yield %next : !tile.tile<b0=4 x b2=4 x f32>
    }}
    """
    stored = store("sum", "%i, 0, %one", ROWS)
    assert found(carried.format("0", "c") + stored) == []
    assert found(carried.format("0", "r") + stored) == [{1}]
    assert found(carried.format("%id", "c") + stored) == [{1}]
