"""Which arrays XLA does not lay out row by row, and which of those launches may take so."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.compact_layouts import reordered
from kopt.dialects.tile import array_type
from kopt.targets.tiling import compact_order
from test.analysis.launches import prepared

#: Shapes, and the order that libtpu 0.0.42 gives arrays of f32, bf16 and i8 alike: the outermost dimension first.
ORDERS = {
    (1000, 1024): (0, 1),
    (1024, 1000): (1, 0),
    (100, 100): (0, 1),
    (8, 100): (0, 1),
    (100, 8): (1, 0),
    (999, 1001): (0, 1),
    (1001, 999): (1, 0),
    (4096, 64): (1, 0),
    (4096, 1): (1, 0),
    (1, 4096): (0, 1),
    (12, 4096): (0, 1),
    (768, 50257): (1, 0),
    (50257, 768): (0, 1),
    (3, 5, 7): (1, 0, 2),
    (16, 1024, 1000): (0, 2, 1),
    (4096, 5, 100): (1, 2, 0),
    (2, 3, 4096, 64): (0, 1, 3, 2),
    (4096,): (0,),
    (): (),
}
KERNEL = """
func.func @rows(%x: memref<{shape}xf32>, %out: memref<{shape}xf32>) -> memref<{shape}xf32> {{
  tile.grid (%i: b0={block}) in ({rows}) {{
    %v = tile.load %x[%i, :] : memref<{shape}xf32> -> !tile.tile<b0={block} x {columns} x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0={block} x {columns} x f32>, memref<{shape}xf32>
  }}
  func.return %out : memref<{shape}xf32>
}}
"""


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("shape", ORDERS)
def test_the_order_is_libtpus(shape: tuple[int, ...], bits: int) -> None:
    assert compact_order(shape, bits) == ORDERS[shape]


@pytest.mark.parametrize("shape", [(4096, 0), (0, 64), (4096, 0, 64), (0, 5, 100), (3, 4096, 0, 7)])
def test_what_has_no_elements_stays_as_it_is(shape: tuple[int, ...]) -> None:
    """All orders take as much memory."""
    assert compact_order(shape, 32) == (*range(len(shape)),)


@pytest.mark.parametrize(
    ("access", "taken"),
    [
        ("%w = tile.load %x[:, :] : memref<4096x64xf32> -> !tile.tile<4096 x 64 x f32>", [0, 1]),
        ("%w = tile.load %x[%n, :] : memref<4096x64xf32> -> !tile.tile<64 x f32>", [1]),
        ("%w = tile.load %x[%i, 3] : memref<4096x64xf32> -> !tile.tile<b0=256 x f32>", [1]),
        ("%w = tile.load %x[%i, 8:16] : memref<4096x64xf32> -> !tile.tile<b0=256 x 8 x f32>", [1]),
        ("tile.store %v, %x[%i, :] mask %m : !tile.tile<b0=256 x 64 x f32>, memref<4096x64xf32>", [1]),
    ],
)
def test_all_accesses_are_of_whole_tiles(access: str, taken: list[int]) -> None:
    """Beside a load that is: single rows and columns, a part of them, lanes under a mask."""
    text = KERNEL.format(shape="4096x64", rows=4096, columns=64, block=256)
    before = "%n = tile.begin %i : !tile.range<b0=256>\n%m = tile.full 1 : !tile.tile<b0=256 x 64 x i1>\n"
    text = text.replace("    tile.store", f"    {before}    {access}\n    tile.store")
    found = reordered(prepared(parse(text), ["functionalise-host"]))
    assert [number for _, number in found] == taken


@pytest.mark.parametrize(
    ("rows", "columns", "block", "taken"),
    [
        (4096, 64, 256, [0, 1]),  # whole tiles of the transposed array
        (4096, 64, 64, []),  # half of one
        (4096, 128, 256, []),  # row by row already
        (4000, 2571, 128, [0, 1]),  # the last block is short
        (100, 8, 100, [0, 1]),  # all rows
    ],
)
def test_blocks_are_whole_tiles(rows: int, columns: int, block: int, taken: list[int]) -> None:
    text = KERNEL.format(shape=f"{rows}x{columns}", rows=rows, columns=columns, block=block)
    found = reordered(prepared(parse(text), ["functionalise-host"]))
    assert [number for _, number in found] == taken
    assert all(array_type(launch.body.block.args[number]).get_shape() == (rows, columns) for launch, number in found)


@pytest.mark.parametrize(
    ("shape", "index", "block", "order"),
    [
        ("4x513x256", "[:, %i, :]", "4 x b0=64 x 256", (1, 0, 2)),
        ("4x513x256", "[0:2, %i, :]", "2 x b0=64 x 256", None),  # half of a tile's rows
        ("4x513x256", "[3, %i, :]", "b0=64 x 256", None),  # one of them
        ("4x513x256", "[:, %i, 0:128]", "4 x b0=64 x 128", None),  # a part of the lanes
        ("4x512x256", "[:, %i, :]", "4 x b0=64 x 256", None),  # row by row already
        ("4096x5x100", "[%i, :, :]", "b0=64 x 5 x 100", None),  # what Mosaic does not transpose
        ("3x4x513x256", "[2, :, %i, :]", "4 x b0=64 x 256", (0, 2, 1, 3)),
    ],
)
def test_rows_change_places_with_dimensions_further_out(shape, index, block, order) -> None:
    text = f"""
func.func @rows(%x: memref<{shape}xf32>, %out: memref<{shape}xf32>) -> memref<{shape}xf32> {{
  tile.grid (%i: b0=64) in (512) {{
    %v = tile.load %x{index} : memref<{shape}xf32> -> !tile.tile<{block} x f32>
    tile.store %v, %out{index} : !tile.tile<{block} x f32>, memref<{shape}xf32>
  }}
  func.return %out : memref<{shape}xf32>
}}
"""
    assert [*reordered(prepared(parse(text), ["functionalise-host"])).values()] == ([order] * 2 if order else [])


@pytest.mark.parametrize(
    ("element", "block", "taken"),
    [("f32", 8, True), ("f32", 4, False), ("bf16", 16, True), ("bf16", 8, False), ("i8", 32, True), ("i8", 16, False)],
)
def test_rows_of_a_tile_are_more_where_elements_are_packed(element: str, block: int, taken: bool) -> None:
    """Of the transposed array a tile has 8 rows of words."""
    type = f"tile.tile<b0={block} x 100 x 256 x {element}>"
    text = f"""
func.func @rows(%x: memref<128x100x256x{element}>, %out: memref<128x100x256x{element}>) {{
  tile.grid (%i: b0={block}) in (128) {{
    %v = tile.load %x[%i, :, :] : memref<128x100x256x{element}> -> !{type}
    tile.store %v, %out[%i, :, :] : !{type}, memref<128x100x256x{element}>
  }}
  func.return
}}
"""
    assert bool(reordered(prepared(parse(text), ["functionalise-host"]))) == taken


@pytest.mark.parametrize(
    ("shape", "more", "order"),
    [
        ("32x16", "", (1, 0)),
        ("16x32", "", None),  # row by row already
        ("32x4096", "", None),  # the same
        ("65536x16", "", None),  # too large for scalar memory
        ("32x16", "%r = tile.load %t[%i, :] : memref<32x16xi32> -> !tile.tile<b0=1 x 16 x i32>", None),  # a row, too
    ],
)
def test_what_elements_are_loaded_from_has_no_tiles(shape: str, more: str, order: tuple[int, ...] | None) -> None:
    """Scalar memory is read an element at a time, in any order of the dimensions."""
    text = f"""
func.func @picks(%t: memref<{shape}xi32>, %out: memref<32xi32>) -> memref<32xi32> {{
  tile.grid (%i: b0=1) in (32) {{
    %n = tile.begin %i : !tile.range<b0=1>
    %five = arith.constant 5 : index
    %v = tile.load %t[%n, %five] : memref<{shape}xi32> -> !tile.tile<i32>
    {more}
    tile.store %v, %out[%n] : !tile.tile<i32>, memref<32xi32>
  }}
  func.return %out : memref<32xi32>
}}
"""
    assert [*reordered(prepared(parse(text), ["functionalise-host"])).values()] == ([order] if order else [])
