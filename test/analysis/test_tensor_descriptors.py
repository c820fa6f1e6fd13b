"""Accesses that a tensor descriptor serves: the block in the array's dimensions, and why another has none."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.tensor_descriptors import _why_no_block, block_shape, takes_descriptor, why_no_descriptor
from kopt.dialects.tile import LoadOp, StoreOp
from kopt.targets.chips import GPU_CHIPS
from kopt.walk import walk

TEXT = """
func.func @f(%x: memref<4x64x128x{type}>) {{
  tile.grid (%b: b0=1, %i: b1=32) in (4, 64) {{
    %n = tile.begin %b : !tile.range<b0=1>
    %v = tile.load %x[{at}]{rest} : memref<4x64x128x{type}> -> !tile.tile<{dims} x {type}>
    {use}
  }}
  func.return
}}
"""
DOT = """
    %w = tile.full 1.0 : !tile.tile<128 x 64 x bf16>
    %d = tile.dot %v, %w : !tile.tile<b1=32 x 128 x bf16>, !tile.tile<128 x 64 x bf16> -> !tile.tile<b1=32 x 64 x f32>
"""


def load(at: str = "%n, %i, :", dims: str = "b1=32 x 128", type: str = "bf16", rest: str = "", use: str = "") -> LoadOp:
    return walk(parse(TEXT.format(at=at, dims=dims, type=type, rest=rest, use=use)), LoadOp)[0]


def test_blocks_have_the_dimensions_of_the_array() -> None:
    assert block_shape(load()) == (1, 32, 128)
    assert block_shape(load("%n, %i, 64:128", "b1=32 x 64")) == (1, 32, 64)
    assert block_shape(load("%n, %i, 0:128:2", "b1=32 x 64")) is None


def test_a_product_takes_the_block_where_the_chip_has_descriptors() -> None:
    assert takes_descriptor(load(use=DOT), GPU_CHIPS["sm90"])
    assert not takes_descriptor(load(use=DOT), GPU_CHIPS["sm80"])
    assert not takes_descriptor(load(), GPU_CHIPS["sm90"])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, None),
        ({"type": "f64"}, "elements of 8, 16 or 32 bits"),
        ({"type": "i1"}, "elements of 8, 16 or 32 bits"),
        ({"type": "i8"}, None),
        ({"at": "%n, %i, 3", "dims": "b1=32"}, "rows of 16 bytes"),
        ({"at": "%n, %i, 0:96", "dims": "b1=32 x 96"}, "powers of two"),
        ({"rest": " pad 1.0"}, "are zeros"),
        ({"rest": " pad 0.0"}, None),
    ],
)
def test_why_there_is_none(given: dict, reason: str | None) -> None:
    found = why_no_descriptor(load(**given))
    assert found is None if reason is None else reason in (found or "")


KINDS, BLOCKS, PLACES, ROWS = "8, 16 or 32 bits", "powers of two", "one block of a plain array", "multiples of 16 bytes"


@pytest.mark.parametrize(
    ("array", "at", "tile", "reason"),
    [
        ("512x512xbf16", "0:256, 0:256", "256 x 256 x bf16", None),
        ("512x512xbf16", ":, 0:256", "512 x 256 x bf16", BLOCKS),
        ("512x512xbf16", "0:256, :", "256 x 512 x bf16", BLOCKS),
        ("512x512xbf16", "0:48, 0:64", "48 x 64 x bf16", BLOCKS),
        ("512x512xbf16", "0:64, 0:8", "64 x 8 x bf16", None),
        ("512x512xbf16", "0:64, 0:4", "64 x 4 x bf16", BLOCKS),
        ("512x512xf32", "0:64, 0:4", "64 x 4 x f32", None),
        ("512x512xf32", "0:64, 0:2", "64 x 2 x f32", BLOCKS),
        ("512x512xi8", "0:64, 0:16", "64 x 16 x i8", None),
        ("512x512xi8", "0:64, 0:8", "64 x 8 x i8", BLOCKS),
        ("512x512xi64", "0:64, 0:16", "64 x 16 x i64", KINDS),
        ("16xbf16", ":", "16 x bf16", None),
        ("2x2x2x2x16xbf16", ":, :, :, :, :", "2 x 2 x 2 x 2 x 16 x bf16", None),
        ("2x2x2x2x2x16xbf16", ":, :, :, :, :, :", "2 x 2 x 2 x 2 x 2 x 16 x bf16", "at most 5 dimensions"),
        ("2147483647x16xbf16", "0:64, :", "64 x 16 x bf16", None),
        ("2147483648x16xbf16", "0:64, :", "64 x 16 x bf16", "at most 5 dimensions"),
        ("512x12xbf16", "0:64, 0:8", "64 x 8 x bf16", ROWS),
        ("512x12xf32", "0:64, 0:8", "64 x 8 x f32", None),
        ("64x64xbf16, strided<[72, 1]>", ":, :", "64 x 64 x bf16", None),
        ("64x64xbf16, strided<[68, 1]>", ":, :", "64 x 64 x bf16", ROWS),
        ("64x64xbf16, strided<[0, 1]>", ":, :", "64 x 64 x bf16", ROWS),
        ("64x64xbf16, strided<[128, 2]>", ":, :", "64 x 64 x bf16", ROWS),
        ("64x64xbf16, strided<[1, 64]>", ":, :", "64 x 64 x bf16", ROWS),
        ("2x64x64xbf16, strided<[68, 136, 1]>", "0, :, :", "64 x 64 x bf16", ROWS),
        ("64x64xbf16, strided<[?, 1]>", ":, :", "64 x 64 x bf16", PLACES),
        ("64x64xbf16", "0:64:1, 0:64:2", "64 x 32 x bf16", PLACES),
        ("64x64xbf16", "%i, :", "16 x 64 x bf16", PLACES),
    ],
)
def test_blocks_that_a_descriptor_describes(array: str, at: str, tile: str, reason: str | None) -> None:
    """At the ends of what there is, and beyond."""
    module = parse(f"""
    func.func @f(%x: memref<{array}>, %i: !tile.tile<16 x i32>) {{
      %v = tile.load %x[{at}] : memref<{array}> -> !tile.tile<{tile}>
      func.return
    }}""")
    found = _why_no_block(walk(module, LoadOp)[0])
    assert found is None if reason is None else reason in (found or "")


@pytest.mark.parametrize(
    ("end", "rest", "type", "reason"),
    [
        (60, "", "bf16", None),
        (60, " pad 0.0", "bf16", None),
        (60, " pad -0.0", "bf16", "are zeros"),
        (60, " pad 0", "i8", None),
        (60, " pad 1", "i8", "are zeros"),
        (40, "", "bf16", None),
        (40, " pad 0.0", "bf16", "are zeros"),
        (60, " mask %m", "bf16", "are zeros"),
    ],
)
def test_lanes_that_are_not_there_are_zeros(end: int, rest: str, type: str, reason: str | None) -> None:
    """Where what is there ends with the array."""
    module = parse(f"""
    func.func @f(%x: memref<60x128x{type}>) {{
      tile.grid (%i: b1=32) in ({end}) {{
        %m = tile.full true : !tile.tile<b1=32 x 128 x i1>
        %v = tile.load %x[%i, :]{rest} : memref<60x128x{type}> -> !tile.tile<b1=32 x 128 x {type}>
      }}
      func.return
    }}""")
    found = why_no_descriptor(walk(module, LoadOp)[0])
    assert found is None if reason is None else reason in (found or "")


def test_blocks_that_are_shifted_are_no_plain_ones() -> None:
    module = parse("""
    func.func @f(%x: memref<60x128xbf16>, %n: index) {
      tile.grid (%i: b1=32) in (60) {
        %s = tile.shift %i by %n : !tile.range<b1=32>
        %v = tile.load %x[%i, :] : memref<60x128xbf16> -> !tile.tile<b1=32 x 128 x bf16>
        %w = tile.load %x[%s, :] : memref<60x128xbf16> -> !tile.tile<b1=32 x 128 x bf16>
        %u = tile.load %x[%n, :] : memref<60x128xbf16> -> !tile.tile<128 x bf16>
      }
      func.return
    }""")
    assert [block_shape(one) for one in walk(module, LoadOp)] == [(32, 128), None, (1, 128)]


@pytest.mark.parametrize(("written", "wanted"), [("%x", False), ("%y", True)])
@pytest.mark.parametrize("inside", [True, False], ids=["in the loop", "behind both"])
def test_what_a_launch_writes_has_none(written: str, wanted: bool, inside: bool) -> None:
    """Wherever the store is."""
    store = f"tile.store %one, {written}[%i, :] : !tile.tile<b1=32 x 128 x bf16>, memref<64x128xbf16>"
    module = parse(f"""
    func.func @f(%x: memref<64x128xbf16>, %y: memref<64x128xbf16>) {{
      tile.grid (%i: b1=32) in (64) {{
        %one = tile.full 1.0 : !tile.tile<b1=32 x 128 x bf16>
        tile.for %k: b2=1 in (0, 4) {{
          tile.for %l: b3=1 in (0, 4) {{
            %v = tile.load %x[%i, :] : memref<64x128xbf16> -> !tile.tile<b1=32 x 128 x bf16>
            {store if inside else ""}
          }}
        }}
        {"" if inside else store}
      }}
      func.return
    }}""")
    assert (why_no_descriptor(walk(module, LoadOp)[0]) is None) == wanted


@pytest.mark.parametrize(
    ("array", "end", "rest", "reason"),
    [
        ("host.alloc : memref<60x128xf32>", 60, "", None),
        ("host.alloc : memref<60x128xf32>", 40, "", "all lanes are stored"),
        (
            "host.alloc : memref<60x128xf32>",
            60,
            "%r = tile.load %o[0, 0] : memref<60x128xf32> -> !tile.tile<f32>",
            "makes",
        ),
        ("host.slice %x [0, 0] [60, 128] [1, 1] : memref<64x128xf32> to memref<60x128xf32>", 60, "", "makes the array"),
    ],
)
def test_what_is_stored_by_one(array: str, end: int, rest: str, reason: str | None) -> None:
    """An array of the function's own, to its end, that nothing else touches; by itself where there is a product."""
    store = walk(
        parse(f"""
    func.func @f(%x: memref<64x128xf32>) {{
      %o = {array}
      tile.grid (%i: b1=32) in ({end}) {{
        %v = tile.full 1.0 : !tile.tile<b1=32 x 128 x bf16>
        %w = tile.full 1.0 : !tile.tile<128 x 128 x bf16>
        %d = tile.dot %v, %w : !tile.tile<b1=32 x 128 x bf16>, !tile.tile<128 x 128 x bf16> ->
          !tile.tile<b1=32 x 128 x f32>
        tile.store %d, %o[%i, :] : !tile.tile<b1=32 x 128 x f32>, memref<60x128xf32>
        {rest}
      }}
      func.return
    }}"""),
        StoreOp,
    )[0]
    found = why_no_descriptor(store)
    assert found is None if reason is None else reason in (found or "")
    assert takes_descriptor(store, GPU_CHIPS["sm90"]) == (reason is None)


@pytest.mark.parametrize(("rows", "wanted"), [(8, False), (16, True), (64, True)])
def test_results_that_fill_no_matrix_unit_are_stored_by_pointers(rows: int, wanted: bool) -> None:
    store = walk(
        parse(f"""
    func.func @f() {{
      %o = host.alloc : memref<64x128xf32>
      tile.grid (%i: b1={rows}) in (64) {{
        %v = tile.full 1.0 : !tile.tile<b1={rows} x 128 x bf16>
        %w = tile.full 1.0 : !tile.tile<128 x 128 x bf16>
        %d = tile.dot %v, %w : !tile.tile<b1={rows} x 128 x bf16>, !tile.tile<128 x 128 x bf16> ->
          !tile.tile<b1={rows} x 128 x f32>
        tile.store %d, %o[%i, :] : !tile.tile<b1={rows} x 128 x f32>, memref<64x128xf32>
      }}
      func.return
    }}"""),
        StoreOp,
    )[0]
    assert why_no_descriptor(store) is None  # a pin may ask for one
    assert takes_descriptor(store, GPU_CHIPS["sm90"]) == wanted


PAIR = """
func.func @f(%x: memref<128x128x{type}>, %y: memref<128x128x{type}>) {{
  tile.grid (%i: b0=64, %j: b1=64) in (128, 128) {{
    %l = tile.load %x[%i, :] : memref<128x128x{type}> -> !tile.tile<b0=64 x 128 x {type}>
    {right}
    %d = tile.dot %l, %r : !tile.tile<b0=64 x 128 x {type}>, !tile.tile<128 x b1=64 x {type}>
      -> !tile.tile<b0=64 x b1=64 x {sums}>
  }}
  func.return
}}
"""
BY_ROWS = "%r = tile.load %y[:, %j] : memref<128x128x{type}> -> !tile.tile<128 x b1=64 x {type}>"
BY_COLUMNS = """%c = tile.load %y[%j, :] : memref<128x128x{type}> -> !tile.tile<b1=64 x 128 x {type}>
    %r = tile.transpose %c [1, 0] : !tile.tile<b1=64 x 128 x {type}>"""


@pytest.mark.parametrize(
    ("type", "sums", "right", "wanted"),
    [
        ("i8", "i32", BY_ROWS, False),
        ("f8E4M3FN", "f32", BY_ROWS, False),
        ("i8", "i32", BY_COLUMNS, True),
        ("bf16", "f32", BY_ROWS, True),
    ],
)
def test_threads_copy_bytes_that_they_pack_and_what_comes_with_them(type, sums, right, wanted: bool) -> None:
    text = PAIR.format(type=type, sums=sums, right=right.format(type=type))
    found = [takes_descriptor(one, GPU_CHIPS["sm90"]) for one in walk(parse(text), LoadOp)]
    assert found == [wanted, wanted]


def test_an_operand_that_is_cast_comes_by_a_descriptor_as_the_other_does() -> None:
    """int16 numbers, which products take as bf16: two kinds of copies are waited for one after the other."""
    cast = "%r0 = tile.load %y[:, %j] : memref<128x128xi16> -> !tile.tile<128 x b1=64 x i16>\n"
    cast += "    %r = tile.cast %r0 : !tile.tile<128 x b1=64 x i16> to !tile.tile<128 x b1=64 x bf16>"
    text = PAIR.format(type="bf16", sums="f32", right=cast)
    text = text.replace("%y: memref<128x128xbf16>", "%y: memref<128x128xi16>")
    assert all(takes_descriptor(one, GPU_CHIPS["sm90"]) for one in walk(parse(text), LoadOp))
