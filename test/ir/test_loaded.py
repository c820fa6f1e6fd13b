"""Loads at computed places, as elements by their index: the numbers of NumPy, equal where the indices are."""

from __future__ import annotations

import numpy as np
import pytest

from kopt import parse
from kopt.dialects.tile import LoadOp
from kopt.ir.atoms import Element
from kopt.ir.evaluation import evaluate
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.loaded import loaded
from test.named import named

TEXT = """
func.func @f(%x: memref<64xi32>, %y: memref<8x6xi32>, %z: memref<64xf32>) {{
  tile.grid (%i: b0=16) in (64) {{
    %n = tile.index %i : !tile.range<b0=16>
    %two = tile.full 2 : !tile.tile<b0=16 x i32>
    %half = tile.floordiv %n, %two : !tile.tile<b0=16 x i32>
    %six = tile.full 6 : !tile.tile<b0=16 x i32>
    %column = tile.mod %n, %six : !tile.tile<b0=16 x i32>
    %wide = tile.broadcast %n dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 4 x i32>
    %m = tile.lt %n, %six : !tile.tile<b0=16 x i32>
    {line}
  }}
  func.return
}}
"""
ROW = "memref<64xi32> -> !tile.tile<b0=16 x i32>"


def found(line: str, **options: bool) -> IndexExpr | None:
    op = named(parse(TEXT.format(line=line)))["v"].owner
    assert isinstance(op, LoadOp)
    return loaded(IndexAnalysis(**options), op)


@pytest.mark.parametrize(
    "line",
    [
        f"%v = tile.load %x[%half] : {ROW}",
        f"%v = tile.load %x[%column] : {ROW}",
        "%v = tile.load %x[%wide] : memref<64xi32> -> !tile.tile<b0=16 x 4 x i32>",
        "%v = tile.load %y[3, %column] : memref<8x6xi32> -> !tile.tile<b0=16 x i32>",
        "%v = tile.load %y[%half, :] : memref<8x6xi32> -> !tile.tile<b0=16 x 6 x i32>",
    ],
)
def test_indices_that_may_repeat(line: str) -> None:
    expr = found(line)
    assert expr is not None and isinstance(expr.atom, Element) and expr.atom.by


@pytest.mark.parametrize(
    "line",
    [
        f"%v = tile.load %x[%n] : {ROW}",
        f"%v = tile.load %x[%i] : {ROW}",
        f"%v = tile.load %x[%half] mask %m : {ROW}",
        f"%v = tile.load %x[%half] mask %m pad 0 : {ROW}",
        "%v = tile.load %z[%half] : memref<64xf32> -> !tile.tile<b0=16 x f32>",
    ],
    ids=["every lane its own", "a range", "masked", "padded", "floats"],
)
def test_others_are_none(line: str) -> None:
    assert found(line) is None


def test_what_is_written_with_values_keeps_its_name() -> None:
    assert found(f"%v = tile.load %x[%half] : {ROW}", sums=True) is None


@pytest.mark.parametrize(("names", "is_element"), [(0, True), (8, True), (16, False), (40, False)])
def test_long_index_lists_keep_the_name(names: int, is_element: bool) -> None:
    """Chains of loads stay cheap: an index of more than 16 atoms, here sums of names, is none to keep."""
    lines = ["%s0 = tile.add %half, %two : !tile.tile<b0=16 x i32>"]
    for n in range(names):
        lines.append(f"%a{n} = tile.load %x[%i] : {ROW}")
        lines.append(f"%s{n + 1} = tile.add %s{n}, %a{n} : !tile.tile<b0=16 x i32>")
    expr = found("\n".join([*lines, f"%v = tile.load %x[%s{names}] : {ROW}"]))
    assert (expr is not None) is is_element


@pytest.mark.parametrize("block", [0, 1, 3])
def test_numbers_are_numpys(block: int) -> None:
    """An element stands at a lane of what was loaded: evaluated, it is the loaded tile itself."""
    values = named(parse(TEXT.format(line=f"%v = tile.load %x[%half] : {ROW}")))
    op = values["v"].owner
    assert isinstance(op, LoadOp)
    expr = loaded(IndexAnalysis(), op)
    assert expr is not None
    tile = (np.arange(64) * 37 % 11)[(np.arange(16) + 16 * block) // 2]
    assert (evaluate(expr, {values["v"]: tile, values["i"]: block}, (16,)) == tile).all()


def test_lanes_of_one_index_are_one_expression() -> None:
    """Of a block of rows that repeat along columns, every column is the first one."""
    expr = found("%v = tile.load %x[%wide] : memref<64xi32> -> !tile.tile<b0=16 x 4 x i32>")
    assert expr is not None and expr.along == {0}
