"""Gathers as shapes: parts of index lists, and which memory elements are best picked from."""

from __future__ import annotations

from math import prod

import pytest
from xdsl.ir import SSAValue

import kopt
from kopt import parse
from kopt.analysis.values.form import GatherForm, Part, element_bits, flattened
from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import LoadOp, array_type, tile_type
from test.named import named

TEXT = """
func.func @f(%x: memref<8x30x200xf32>) {{
  tile.grid (%i: b0=4) in (8) {{
    %k = arith.constant 2 : index
    %r = tile.full 3 : !tile.tile<16 x i32>
    %s = tile.full 3 : !tile.tile<4 x 5 x i32>
    {line}
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("%v = tile.load %x[3, %r, :] : memref<8x30x200xf32> -> !tile.tile<16 x 200 x f32>", (None, (16,), 200)),
        ("%v = tile.load %x[%k, %s, 7] : memref<8x30x200xf32> -> !tile.tile<4 x 5 x f32>", (None, (4, 5), None)),
        ("%v = tile.load %x[%i, 1, 0:200:2] : memref<8x30x200xf32> -> !tile.tile<b0=4 x 100 x f32>", (4, None, 100)),
        ("%v = tile.load %x[%k, 1, :] : memref<8x30x200xf32> -> !tile.tile<200 x f32>", ((1,), None, 200)),
    ],
)
def test_parts(line: str, parts: tuple[Part, ...]) -> None:
    """A number, lanes of a block, a tile of numbers; where there is no tile, a computed number is one of one."""
    op = named(parse(TEXT.format(line=line)))["v"].owner
    assert isinstance(op, LoadOp)
    assert GatherForm.of(op.memory, op.entries) == GatherForm((8, 30, 200), parts, 32)
    assert GatherForm.of(op.memory, op.entries, picks=True).picks


def form(shape: tuple[int, ...], *parts: Part, bits: int = 32, picks: bool = False) -> GatherForm:
    return GatherForm(shape, parts, bits, picks)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (form((1024,), (16,)), True),
        (form((1025,), (16,)), False),  # more than are taken whole
        (form((1024,), (1024,)), True),  # 1024 by 1024 comparisons at most
        (form((1024,), (1025,)), False),
        (form((1024,), (32, 32)), True),
        (form((8, 1000), None, (16,)), False),  # elements of a row, not of a column
        (form((1000, 8), (16,), None), True),
        (form((8, 1000), 8, (16,)), False),  # of a block of rows
        (form((8, 8, 1000), None, (4,), (16,)), False),  # two of the numbers are tiles
    ],
)
def test_picks_from_whole(found: GatherForm, wanted: bool) -> None:
    assert found.picks_from_whole is wanted


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (form((100, 64), (16,), 64), True),
        (form((100, 64), (4, 4), 64), False),  # by an index of one dimension
        (form((100, 64), (4, 4), 64, picks=True), True),
        (form((100, 64), (16,), 64, bits=64), False),
        (form((100, 64), (16,), None), False),  # no row
        (form((100, 64), 100, 64), False),
        (form((64,), (16,)), False),
        (form((7, 100, 64), None, (16,), 64), True),
        (form((7, 100, 64), 7, (16,), 64), False),  # of several matrices
        (form((8192, 64), (16,), 64, picks=True), True),
        (form((8193, 64), (16,), 64, picks=True), False),  # 128 by 8192 words are 4 MiB
        (form((100, 64), (16385,), 64, picks=True), False),
    ],
)
def test_takes_rows(found: GatherForm, wanted: bool) -> None:
    assert found.takes_rows is wanted


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (form((100, 64), (16,), 64), 100 * 64 * 4),
        (form((7, 100, 64), None, (16,), 64, bits=16), 100 * 64 * 2),
    ],
)
def test_table_bytes(found: GatherForm, wanted: int) -> None:
    assert found.table_bytes == wanted


def test_gathers() -> None:
    found = form((8, 30, 200), None, (16,), 200)
    assert [found.gathers(n) for n in range(3)] == [False, True, False]


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (form((100, 64), (16,), (16,)), form((100, 64), (16,), 64, picks=True)),
        (form((100, 64), (16,), None), form((100, 64), (16,), 64, picks=True)),
        (form((1000,), (16,)), form((8, 128), (16,), 128, picks=True)),  # rows of 128, the last one not full
        (form((100, 64), (16,), 64), form((100, 64), (16,), 64)),  # whole rows already
        (form((100, 64), None, None), form((100, 64), None, None)),
    ],
)
def test_by_rows(found: GatherForm, wanted: GatherForm) -> None:
    assert found.by_rows(None) == wanted


LAUNCH = """
func.func @f(%m: memref<{shape}xf32>, %flat: memref<640xf32>, %out: memref<64xf32>) -> (memref<64xf32>) {{
  %view = host.reshape %m : memref<{shape}xf32> to memref<{view}xf32>
  %new = host.launch @l (%a = %view, %b = %flat, %o = %out) writes [2]
    : (memref<{view}xf32>, memref<640xf32>, memref<64xf32>) -> memref<64xf32> {{
    tile.grid (%i: b0=64) in (64) {{
      %v = tile.load %b[%i] : memref<640xf32> -> !tile.tile<b0=64 x f32>
      tile.store %v, %o[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
    }}
  }}
  func.return %new : memref<64xf32>
}}
"""


def launch(*shape: int, view: tuple[int, ...] = ()) -> tuple[LaunchOp, SSAValue, SSAValue]:
    module = kopt.parse(LAUNCH.format(shape="x".join(map(str, shape)), view="x".join(map(str, view or [prod(shape)]))))
    (op,) = [op for op in module.walk() if isinstance(op, LaunchOp)]
    flat, other, _ = op.body.block.args
    return op, flat, other


def test_flattened_matrices() -> None:
    op, flat, other = launch(10, 64)
    view = flattened(flat, op)
    assert isinstance(view, ReshapeOp) and view.source_type.get_shape() == (10, 64)
    assert flattened(other, op) is None
    found = form((640,), (16,))
    assert found.flattens(view) and not found.flattens(None)
    assert found.by_rows(view) == form((10, 64), (16,), 64, picks=True)


@pytest.mark.parametrize(
    ("shape", "view"), [((640,), (640,)), ((5, 2, 64), (640,)), ((1, 10, 64), (640,)), ((10, 64), (20, 32))]
)
def test_other_views_flatten_no_matrix(shape: tuple[int, ...], view: tuple[int, ...]) -> None:
    op, flat, _ = launch(*shape, view=view)
    assert flattened(flat, op) is None


@pytest.mark.parametrize(("count", "bits", "wanted"), [(256, 32, True), (257, 32, False), (32, 16, True),
                                                       (33, 16, False), (8, 8, True), (9, 8, False)])  # fmt: skip
def test_long_rows_are_not_picked_from(count: int, bits: int, wanted: bool) -> None:
    """4096 words of 256 rows are the most; of 16 and 8 bits 8 and 32 rows come together."""
    op, flat, _ = launch(4, 4096)
    view = flattened(flat, op)
    found = form((4 * 4096,), (count,), bits=bits)
    assert found.flattens(view) is wanted
    assert found.by_rows(view).shape == ((4, 4096) if wanted else (128, 128))


def test_types() -> None:
    values = named(
        parse(TEXT.format(line="%v = tile.load %x[3, %r, :] : memref<8x30x200xf32> -> !tile.tile<16 x 200 x f32>"))
    )
    assert array_type(values["x"]).get_shape() == (8, 30, 200) and tile_type(values["v"]).shape == (16, 200)
    with pytest.raises(AssertionError):
        array_type(values["v"])
    with pytest.raises(AssertionError):
        tile_type(values["x"])


@pytest.mark.parametrize(("type", "bits"), [("f32", 32), ("bf16", 16), ("i8", 8), ("i64", 64), ("i1", 8)])
def test_bits_in_memory(type: str, bits: int) -> None:
    """Truth values take a byte."""
    assert element_bits(named(parse(f"func.func @f(%x: memref<4x{type}>) {{\nfunc.return\n}}"))["x"]) == bits
