"""Where blocks may begin in a TPU's memory, and which loops begin at an element where none may."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerType, MemRefType, bf16, f32, f64, i8, i64
from xdsl.ir import Attribute

from kopt import parse
from kopt.analysis.alignment import AlignedWalk, copied_multiple, multiple, walk_to_align
from kopt.dialects.tile import ForOp
from kopt.ir.from_ssa import IndexAnalysis
from test.named import named, only


@pytest.mark.parametrize(
    ("element", "shape", "wanted"),
    [
        # Words of 32 bits: tiles of 8 rows and 128 lanes. Half as wide, twice as many rows.
        (f32, (4, 100, 300), (1, 8, 128)),
        (bf16, (4, 100, 300), (1, 16, 128)),
        (i8, (100, 300), (32, 128)),
        (IntegerType(1), (100, 300), (32, 128)),  # a boolean takes a byte
        (f64, (100, 300), (8, 128)),
        # One dimension: 128 words.
        (f32, (1000,), (128,)),
        (bf16, (1000,), (256,)),
        (i8, (1000,), (512,)),
        (i64, (1000,), (128,)),
    ],
)
def test_blocks_begin_at_multiples_of_tiles(
    element: Attribute, shape: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    type = MemRefType(element, shape)
    assert tuple(multiple(type, dim) for dim in range(len(shape))) == wanted


@pytest.mark.parametrize(
    ("lanes", "wanted"), [(-1, (1, 16, 128)), (2, (1, 16, 128)), (-2, (16, 128, 1)), (1, (16, 128, 1))]
)
def test_a_layout_says_which_dimension_is_along_the_lanes(lanes: int, wanted: tuple[int, ...]) -> None:
    """The one before it is along the rows; the last one then begins anywhere."""
    type = MemRefType(bf16, (4, 100, 300))
    assert tuple(multiple(type, dim, lanes) for dim in range(3)) == wanted


@pytest.mark.parametrize(
    ("element", "shape", "wanted"),
    [
        (f32, (4, 100, 300), (1, 8, 128)),
        (bf16, (4, 100, 300), (1, 16, 128)),
        (i8, (100, 300), (32, 128)),
        (f32, (1000,), (128,)),
        (bf16, (1000,), (256,)),
    ],
)
def test_blocks_that_are_copied_are_whole_tiles(
    element: Attribute, shape: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    type = MemRefType(element, shape)
    assert tuple(copied_multiple(type, dim) for dim in range(len(shape))) == wanted


#: A loop from a loaded row, over blocks of 16 rows.
TEXT = """
func.func @f(%x: memref<100x256x{element}>, %y: memref<90x256x{element}>,
             %bounds: memref<2xi32>, %out: memref<256x{element}>) {{
  tile.grid (%i: b0=1) in (1) {{
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %e = tile.load %bounds[1] : memref<2xi32> -> !tile.tile<i32>
    %lo = tile.extract %s : !tile.tile<i32> to index
    %hi = tile.extract %e : !tile.tile<i32> to index
    %eight = arith.constant 8 : index
    %aligned = arith.muli %lo, %eight : index
    %z = tile.full 0 : !tile.tile<256 x {element}>
    %r = tile.for %k: b1={size} in ({begin}, %hi) iter(%a = %z) -> (!tile.tile<256 x {element}>) {{
      {body}
      %t = tile.reduce add %v [0] : !tile.tile<b1={size} x 256 x {element}>
      %n = tile.add %a, %t : !tile.tile<256 x {element}>
      tile.yield %n : !tile.tile<256 x {element}>
    }}
    tile.store %r, %out[:] : !tile.tile<256 x {element}>, memref<256x{element}>
  }}
  func.return
}}
"""
X = "tile.load %x[{entry}, :]{mask} : memref<100x256x{element}> -> !tile.tile<b1={size} x 256 x {element}>"
SHIFT = "%row = tile.shift %k by %lo : !tile.range<b1={size}>"


def found(
    body: str = f"%v = {X}", begin: str = "%lo", size: int = 16, element: str = "f32", entry: str = "%k", mask: str = ""
):
    body = body.format(size=size, element=element, entry=entry, mask=mask)
    module = parse(TEXT.format(body=body, begin=begin, size=size, element=element))
    values = named(module)
    return walk_to_align(only(module, ForOp), IndexAnalysis()), values


@pytest.mark.parametrize(
    ("size", "element", "unit", "extent"),
    [(16, "f32", 8, 104), (32, "f32", 8, 104), (128, "f32", 8, 128), (16, "i16", 16, 112)],
)
def test_a_loop_from_any_row_walks_from_an_aligned_one(size: int, element: str, unit: int, extent: int) -> None:
    """Arrays reach to 100 rows, rounded up, and to a block at least; one that is only read is padded."""
    walk, values = found(size=size, element=element)
    load = values["v"].owner
    assert walk == AlignedWalk(unit, extent, None, frozenset([values["k"]]), ((load, 0),))


def test_arrays_reach_to_the_shortest_rounded_up() -> None:
    """90 rows round up to 96, so that 100 are enough."""
    y = X.replace("%x", "%y").replace("100", "90")
    walk, values = found(f"%u = {X}\n %w = {y}\n %v = tile.add %u, %w : !tile.tile<b1=16 x 256 x f32>")
    assert walk is not None and (walk.extent, walk.short) == (96, ((values["w"].owner, 0),))


def test_what_every_access_adds_is_its_shift() -> None:
    walk, values = found(f"{SHIFT}\n %v = {X}", begin="0", entry="%row")
    assert walk is not None and walk.shift is values["lo"] and walk.entries == {values["row"]}


REFUSED = {
    "begins at a multiple": {"begin": "%aligned"},
    "begins at zero": {"begin": "0"},
    "blocks are no multiple": {"size": 4},
    "is masked": {"body": f"%m = tile.full true : !tile.tile<b1=16 x 256 x i1>\n %v = {X}", "mask": " mask %m"},
    "asks where blocks begin": {"body": f"%b = tile.begin %k : !tile.range<b1=16>\n %v = {X}"},
    "asks for the number of a block": {"body": f"%b = tile.id %k : !tile.range<b1=16>\n %v = {X}"},
    "orders lanes": {"body": f"%u = {X}\n %v = tile.scan add %u dim 0 : !tile.tile<b1=16 x 256 x f32>"},
    "accesses begin at different elements": {
        "body": f"{SHIFT}\n %u = {X}\n %w = {X.replace('{entry}', '%row')}\n"
        " %v = tile.add %u, %w : !tile.tile<b1=16 x 256 x f32>"
    },
    "adds two numbers one after another": {
        "body": f"{SHIFT}\n %again = tile.shift %row by %aligned : !tile.range<b1=16>\n %v = {X}",
        "begin": "0",
        "entry": "%again",
    },
    "accesses no block": {"body": "%v = tile.full 0.0 : !tile.tile<b1=16 x 256 x f32>"},
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_other_loops_stay(options: dict) -> None:
    assert found(**options)[0] is None
