"""What DMAs move for an access by row numbers, dimension by dimension, and the buffer that it needs."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.row_copies import Cut, MovedDim, RowCopies, row_copies
from kopt.dialects.tile import ALL, GetOp
from test.named import named

TEXT = """
func.func @f(%x: memref<{shape}x{element}>) {{
  pallas.call @f(%x) windows [<[{dims}], (d0, d1) -> ({zeros}), hbm>] semantics (parallel, parallel) aliases [] : (memref<{shape}x{element}>) -> () {{
  ^bb0(%ref: !tile.ref<{tiled} x {element}, hbm>):
    tile.grid (%i: b0=8, %j: b1={size}) in (64, 1024) {{
      %n = tile.full 3 : !tile.tile<b0=8 x i32>
      %seven = arith.constant 7 : index
      %s = tile.shift %j by %seven : !tile.range<b1={size}>
      %v = tile.get %ref[{entries}] : !tile.ref<{tiled} x {element}, hbm> -> !tile.tile<{result} x {element}>
    }}
  }}
  func.return
}}
"""  # noqa: E501


def get(shape: list[int], entries: str, result: str, element: str = "f32", size: int = 128):
    text = TEXT.format(
        shape="x".join(map(str, shape)),
        tiled=" x ".join(map(str, shape)),
        dims=", ".join(map(str, shape)),
        zeros=", ".join("0" for _ in shape),
        entries=entries,
        result=result,
        element=element,
        size=size,
    )
    values = named(parse(text))
    op = values["v"].owner
    assert isinstance(op, GetOp)
    return op, values


DIMS = {
    # columns of rows picked by number: shape, entry, result, element, block → lanes in the buffer, lanes to cut from
    "all": (256, ":", "256", "f32", 128, 256, None),
    "a block of whole tiles that divides": (256, "%j", "b1=128", "f32", 128, 128, None),
    "all as one block": (128, "%j", "b1=128", "f32", 128, 128, None),
    "a block that does not divide": (200, "%j", "b1=128", "f32", 128, 200, 256),
    "a block of no whole tiles": (256, "%j", "b1=64", "f32", 64, 256, 256),
    "a block of no whole tiles, ragged": (200, "%j", "b1=64", "f32", 64, 200, 256),
    "a block from anywhere": (256, "%s", "b1=128", "f32", 128, 256, 384),
    "a small block from anywhere": (256, "%s", "b1=64", "f32", 64, 256, 384),  # up to lane 318, in tiles
    "an aligned slice": (512, "128:384", "256", "f32", 128, 256, None),
    "a slice that begins inside a tile": (512, "64:192", "128", "f32", 128, 512, 512),
    "a slice that ends inside a tile": (512, "128:192", "64", "f32", 128, 512, 512),
    "a slice of steps": (512, "0:512:2", "256", "f32", 128, 512, 512),
}


@pytest.mark.parametrize(("extent", "entry", "result", "element", "size", "lanes", "cut"), DIMS.values(), ids=DIMS)
def test_what_each_copy_moves_of_the_lanes(extent, entry, result, element, size, lanes, cut) -> None:
    op, _ = get([500, extent], f"%n, {entry}", f"b0=8 x {result}", element, size)
    found = row_copies(op)
    row, moved = found.dims
    assert op.gathers
    assert row == MovedDim(op.entries[0], 1) and row.is_single and not moved.is_single
    assert moved.lanes == lanes
    assert moved.cut == (None if cut is None else Cut(op.entries[1], cut))
    assert moved.entry == (ALL if lanes == extent else op.entries[1])
    assert found.shape == (8, 1, lanes)


@pytest.mark.parametrize(
    ("element", "entry", "whole"),
    [
        ("f32", "8:16", True),
        ("f32", "4:12", False),
        ("bf16", "16:32", True),
        ("i8", "16:48", False),
        ("i8", "32:64", True),
    ],
)
def test_rows_move_in_whole_tiles(element: str, entry: str, whole: bool) -> None:
    """8 rows of 32 bits are one tile, and 32 of 8 bits."""
    low, high = map(int, entry.split(":"))
    op, _ = get([50, 96, 128], f"%n, {entry}, :", f"b0=8 x {high - low} x 128", element)
    moved = row_copies(op).dims[1]
    assert (moved.cut is None) is whole and moved.lanes == (high - low if whole else 96)


@pytest.mark.parametrize(
    ("shape", "entries", "result", "lanes", "buffer", "listed"),
    [
        # One element of the last two dimensions keeps a dimension; of others it has none. Places stand where the first
        # numbers do.
        ([50, 256], "%n, :", "b0=8 x 256", (1, 256), (8, 1, 256), ["place", "single", ALL]),
        ([50, 16, 256], "%n, :, :", "b0=8 x 16 x 256", (0, 16, 256), (8, 16, 256), ["place", ALL, ALL]),
        ([4, 50, 256], ":, %n, :", "4 x b0=8 x 256", (4, 1, 256), (4, 8, 1, 256), [ALL, "place", "single", ALL]),
        ([4, 50, 256], "2, %n, :", "b0=8 x 256", (0, 1, 256), (8, 1, 256), ["place", "single", ALL]),
        ([50, 4, 256], "%n, 2, :", "b0=8 x 256", (0, 1, 256), (8, 1, 256), ["place", "single", ALL]),
        ([50, 50, 256], "%n, %n, :", "b0=8 x 256", (0, 1, 256), (8, 1, 256), ["place", "single", ALL]),
        ([16, 256], ":, %n", "16 x b0=8", (16, 1), (16, 8, 1), [ALL, "place", "single"]),
    ],
)
def test_the_buffer_and_where_an_access_is_in_it(shape, entries, result, lanes, buffer, listed) -> None:
    op, values = get(shape, entries, result)
    found = row_copies(op)
    assert found.places == (8,) and tuple(dim.lanes for dim in found.dims) == lanes
    assert found.shape == buffer
    assert found.numbers == [values["n"]]  # once
    assert found.entries(["place"], "single") == listed  # pyright: ignore


def test_numbers_of_several_dimensions_have_as_many_places() -> None:
    _, values = get([50, 256], "%n, :", "b0=8 x 256")
    found = RowCopies((4, 2), (MovedDim(ALL, 16), MovedDim(values["n"], 1), MovedDim(ALL, 128)))
    assert found.shape == (16, 4, 2, 1, 128)
    assert found.entries([1, 2], 0) == [ALL, 1, 2, 0, ALL]


def test_accesses_of_blocks_are_by_no_numbers() -> None:
    assert not get([64, 256], "%i, :", "b0=8 x 256")[0].gathers
    assert not get([64, 256], "5, :", "256")[0].gathers
