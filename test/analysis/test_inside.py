"""Which accesses and picks are known to stay inside: of arrays of known and of open extents, and of blocks."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.inside import doubtful, doubtful_picks
from kopt.dialects.tile import LoadOp
from test.named import only

TEXT = """
func.func @f(%x: memref<{extent}x8xf32>, %y: memref<?x8xf32>, %n: index, %rows: memref<8xi32>) {{
  %m = tile.dim %y 0 : memref<?x8xf32>
  tile.grid (%i: b0=4) in ({limit}) {{
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %below = arith.constant -1 : index
    %begin = tile.begin %i : !tile.range<b0=4>
    %end = tile.end %i : !tile.range<b0=4>
    %later = tile.shift %i by %c1 : !tile.range<b0=4>
    %later_begin = tile.begin %later : !tile.range<b0=4>
    %later_end = tile.end %later : !tile.range<b0=4>
    %lanes = tile.index %i : !tile.range<b0=4>
    {body}
  }}
  func.return
}}
"""


def function(body: str, limit: str | int = 10, extent: int = 10) -> FuncOp:
    """A function of one grid."""
    return only(parse(TEXT.format(body=body, limit=limit, extent=extent)), FuncOp)


def load(array: str, entry: str, tag: str = "b0=4", extent: int = 10) -> str:
    """A load of rows."""
    rows = "?" if array == "y" else extent
    tile = f"!tile.tile<{tag + ' x ' if tag else ''}8 x f32>"
    return f"%v = tile.load %{array}[{entry}, :] : memref<{rows}x8xf32> -> {tile}"


def loop(bounds: str, *body: str, name: str = "k", tag: str = "b1=2") -> str:
    """A loop around accesses."""
    return f"tile.for %{name}: {tag} in ({bounds}) {{\n" + "\n".join(body) + "\n}"


#: Rows of an array of ten, of a grid that walks ten.
KNOWN = [
    (load("x", "%i"), True),
    (load("x", "9", ""), True),
    (load("x", "%c9", ""), True),
    (load("x", "%c10", ""), False),
    (load("x", "%below", ""), False),
    (load("x", "%n", ""), False),
    (load("x", "%later"), False),
    (load("x", "%lanes"), True),
    (loop("%begin, %end", load("x", "%k", "b1=2")), True),
    (loop("%begin, %end", loop("%b, %e", load("x", "%l", "b2=1"), name="l", tag="b2=1").replace(
        "tile.for %l", "%b = tile.begin %k : !tile.range<b1=2>\n%e = tile.end %k : !tile.range<b1=2>\ntile.for %l"
    )), True),
    (loop("%later_begin, %later_end", load("x", "%k", "b1=2")), False),
    (loop("0, 10", load("x", "%k", "b1=2")), True),
    (loop("9, 10", load("x", "%k", "b1=2")), True),
    (loop("0, 11", load("x", "%k", "b1=2")), False),
    (loop("-1, 10", load("x", "%k", "b1=2")), False),
    (loop("0, %n", load("x", "%k", "b1=2")), False),
]  # fmt: skip


@pytest.mark.parametrize(("body", "inside"), KNOWN)
def test_arrays_of_known_extents(body: str, inside: bool) -> None:
    assert (not doubtful(function(body))) is inside


@pytest.mark.parametrize(("limit", "inside"), [(9, True), (10, True), (11, False)])
def test_a_limit_beyond_the_array(limit: int, inside: bool) -> None:
    assert (not doubtful(function(load("x", "%i"), limit))) is inside


def test_each_index_counts_and_each_access() -> None:
    square = "%s = tile.load %x[%i, %begin] : memref<10x8xf32> -> !tile.tile<b0=4 x f32>"
    func = function("\n".join([load("x", "%i"), square, load("x", "%n", "").replace("%v", "%w")]))
    assert [op.result.name_hint for op in doubtful(func) if isinstance(op, LoadOp)] == ["s", "w"]


#: Rows of an array of an open extent, of a grid up to a limit.
OPEN = [
    ("%m", load("y", "%i"), True),
    ("%m", load("y", "%begin", ""), True),
    ("%m", load("y", "%end", ""), False),
    ("%m", load("y", "%later"), False),
    ("%m", load("y", "%later_begin", ""), False),
    ("%m", load("y", "%c1", ""), False),
    ("10", load("y", "%i"), False),
    ("%n", load("y", "%i"), False),
    ("%m", loop("%begin, %end", load("y", "%k", "b1=2")), True),
    ("%n", loop("%begin, %end", load("y", "%k", "b1=2")), False),
    ("%m", loop("%begin, %m", load("y", "%k", "b1=2")), True),
    ("%m", loop("0, %m", load("y", "%k", "b1=2")), True),
    ("%m", loop("%n, %m", load("y", "%k", "b1=2")), False),
    ("%m", loop("0, %n", load("y", "%k", "b1=2")), False),
    ("%m", load("x", "%i"), False),
]


@pytest.mark.parametrize(("limit", "body", "inside"), OPEN)
def test_arrays_of_open_extents(limit: str, body: str, inside: bool) -> None:
    assert (not doubtful(function(body, limit))) is inside


#: Numbers of lanes that are picked from a block of eight.
PICKS = [
    ("%q = tile.full 0 : !tile.tile<b0=4 x 2 x i32>", True),
    ("%q = tile.full 7 : !tile.tile<b0=4 x 2 x i32>", True),
    ("%q = tile.full 8 : !tile.tile<b0=4 x 2 x i32>", False),
    ("%q = tile.full -1 : !tile.tile<b0=4 x 2 x i32>", False),
]


@pytest.mark.parametrize(("numbers", "inside"), PICKS)
def test_lanes_that_are_picked(numbers: str, inside: bool) -> None:
    pick = "%p = tile.take_along %v, %q dim 1 : !tile.tile<b0=4 x 8 x f32>, !tile.tile<b0=4 x 2 x i32>"
    assert (not doubtful_picks(function("\n".join([load("x", "%i"), numbers, pick])))) is inside
