"""Which numbers of elements come again and again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from xdsl.dialects.builtin import MemRefType, f32, i8, i32
from xdsl.ir.affine import AffineExpr

from kopt.analysis.buffer_kinds import _comes_again, _is_chunk_of_scalars
from kopt.analysis.windows import Dim
from kopt.dialects.tile import DimAttr, TileType

CELL = AffineExpr.dimension(0)


@pytest.mark.parametrize(
    ("index", "comes_again"),
    [(CELL % 1024, True), (CELL, False), (CELL // 4, False), (CELL + 3, False), (AffineExpr.constant(0), False)],
    ids=str,
)
def test_an_element_after_the_other(index: AffineExpr, comes_again: bool) -> None:
    assert _comes_again(Dim("block", 1, index)) is comes_again


ONE, ROW = TileType([], f32), TileType([DimAttr(8)], f32)
POINT, WHOLE, TURNS = Dim("point", 1), Dim("whole", 1024), Dim("block", 1, CELL % 1024)


@pytest.mark.parametrize(
    ("dims", "loaded", "element", "wanted"),
    [
        ((POINT, WHOLE), [ONE], f32, True),
        ((POINT, TURNS), [ONE, ONE], i32, True),
        ((POINT, Dim("block", 1, CELL)), [ONE], f32, False),  # each cell has its own
        ((WHOLE, WHOLE), [ONE], f32, False),  # of several rows
        ((WHOLE,), [ONE], f32, False),
        ((POINT, WHOLE), [ONE, ROW], f32, False),
        ((POINT, WHOLE), [ONE], i8, False),
    ],
)
def test_chunks_of_scalars(dims: tuple[Dim, ...], loaded: list[TileType], element: object, wanted: bool) -> None:
    """Single elements of 32 bits, of one row that many cells read."""
    loads = [SimpleNamespace(result=SimpleNamespace(type=type)) for type in loaded]
    type = MemRefType(element, [64] * (len(dims) - 1) + [1024])  # pyright: ignore
    window = SimpleNamespace(dims=dims, loads=loads, type=type)
    assert _is_chunk_of_scalars(window) is wanted  # pyright: ignore
