"""Which tiles hold numbers of bf16, and which scans are products."""

from __future__ import annotations

import pytest

from kopt.analysis.running_sums import Bf16Numbers, is_product, totals_of
from kopt.dialects.tile import ScanOp, StoreOp
from kopt.parsing import parse_module
from kopt.walk import walk

TILE = "!tile.tile<b0=16 x 32 x f32>"
#: What is added up: ``%f`` is cast from bf16, ``%g`` from bytes, ``%x`` is f32.
CASES = {
    "cast from bf16": ("", "%f", True),
    "bytes": ("", "%g", True),
    "f32": ("", "%x", False),
    "masked by zeros": (f"%v = tile.mask %f in (%i, _) else 0.0 : {TILE}", "%v", True),
    "masked by others": (f"%v = tile.mask %f in (%i, _) else 0.3 : {TILE}", "%v", False),
    "a choice": (f"%v = tile.select %p, %f, %g : {TILE}", "%v", True),
    "a choice of f32": (f"%v = tile.select %p, %f, %x : {TILE}", "%v", False),
    "sums, which have more digits": (f"%v = tile.add %f, %f : {TILE}", "%v", False),
}


@pytest.mark.parametrize(("step", "name", "wanted"), CASES.values(), ids=CASES)
def test_numbers_of_bf16(step: str, name: str, wanted: bool) -> None:
    module = parse_module(f"""
func.func @f(%n: memref<64x32xbf16>, %m: memref<64x32xi8>, %w: memref<64x32xf32>) {{
  tile.grid (%i: b0=16) in (64) {{
    %a = tile.load %n[%i, :] : memref<64x32xbf16> -> !tile.tile<b0=16 x 32 x bf16>
    %b = tile.load %m[%i, :] : memref<64x32xi8> -> !tile.tile<b0=16 x 32 x i8>
    %x = tile.load %w[%i, :] : memref<64x32xf32> -> {TILE}
    %f = tile.cast %a : !tile.tile<b0=16 x 32 x bf16> to {TILE}
    %g = tile.cast %b : !tile.tile<b0=16 x 32 x i8> to {TILE}
    %p = tile.lt %x, %f : {TILE}
    {step}
    tile.store {name}, %w[%i, :] : {TILE}, memref<64x32xf32>
  }}
  func.return
}}""")
    (store,) = walk(module, StoreOp)
    assert Bf16Numbers().has(store.value) is wanted


@pytest.mark.parametrize(
    ("kind", "lanes", "dim", "element", "wanted"),
    [
        ("add", 128, 1, "f32", True),
        ("add", 128, 1, "bf16", True),
        ("add", 128, 1, "i32", False),
        ("add", 128, 0, "f32", False),
        ("max", 128, 1, "f32", False),
        ("add", 8, 1, "f32", False),
        ("add", 8192, 1, "f32", False),
    ],
)
def test_sums_of_floats_along_lanes_are_products(kind: str, lanes: int, dim: int, element: str, wanted: bool) -> None:
    tile, memory = f"!tile.tile<b0=16 x {lanes} x {element}>", f"memref<16x{lanes}x{element}>"
    module = parse_module(f"""
func.func @f(%x: {memory}) {{
  tile.grid (%i: b0=16) in (16) {{
    %v = tile.load %x[%i, :] : {memory} -> {tile}
    %s = tile.scan {kind} %v dim {dim} : {tile}
    tile.store %s, %x[%i, :] : {tile}, {memory}
  }}
  func.return
}}""")
    (scan,) = walk(module, ScanOp)
    assert is_product(scan) is wanted


def test_totals_are_sums_of_the_same_lanes_in_the_same_block() -> None:
    tile, row = "!tile.tile<b0=16 x 32 x f32>", "!tile.tile<b0=16 x f32>"
    module = parse_module(f"""
func.func @f(%x: memref<16x32xf32>, %y: memref<16xf32>, %c: i1) {{
  tile.grid (%i: b0=16) in (16) {{
    %v = tile.load %x[%i, :] : memref<16x32xf32> -> {tile}
    %before = tile.reduce add %v [1] : {tile}
    %s = tile.scan add %v dim 1 : {tile}
    %most = tile.reduce max %v [1] : {tile}
    %columns = tile.reduce add %v [0] : {tile}
    %of_sums = tile.reduce add %s [1] : {tile}
    %behind = tile.reduce add %v [1] : {tile}
    scf.if %c {{
      %inside = tile.reduce add %v [1] : {tile}
      tile.store %inside, %y[%i] : {row}, memref<16xf32>
    }}
    tile.store %s, %x[%i, :] : {tile}, memref<16x32xf32>
  }}
  func.return
}}""")
    (scan,) = walk(module, ScanOp)
    assert [total.result.name_hint for total in totals_of(scan)] == ["before", "behind"]
