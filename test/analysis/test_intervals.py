"""The interval that a call must find an argument's integers in, and whose numbers an array has."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.intervals import argument_of, intervals
from test.named import named, only


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ("", {}),
        ("%x: memref<4xi64>", {}),
        ("%x: memref<4xi64> {kopt.interval = array<i64: -5, 7>}", {0: (-5, 7)}),
        (
            "%x: memref<4xi64> {kopt.interval = array<i64: 0, 9>}, %y: memref<4xf32> {kopt.other = 1 : i64}, "
            "%z: memref<4xi64> {kopt.interval = array<i64: -2147483647, 2147483647>}",
            {0: (0, 9), 2: (-(2**31) + 1, 2**31 - 1)},
        ),
    ],
)
def test_intervals_by_position(args: str, wanted: dict[int, tuple[int, int]]) -> None:
    assert intervals(only(parse(f"func.func @f({args}) {{\n  func.return\n}}"), FuncOp)) == wanted


TEXT = """
func.func @f(%x: memref<8xi64>, %y: memref<8xi64>) {
  %view = host.reshape %x : memref<8xi64> to memref<2x4xi64>
  %padded = host.call "aten.constant_pad_nd.default"(%view) args [unit, [0 : i64, 1 : i64], 0 : i64] : (memref<2x4xi64>) -> (memref<2x5xi64>)
  %twice = host.call "aten.constant_pad_nd.default"(%padded) args [unit, [0 : i64, 1 : i64], 0 : i64] : (memref<2x5xi64>) -> (memref<2x6xi64>)
  %sum = host.call "aten.add.Tensor"(%x, %y) args [unit, unit] : (memref<8xi64>, memref<8xi64>) -> (memref<8xi64>)
  %alloc = host.alloc fill 0 : memref<8xi64>
  %big = host.call "aten.constant_pad_nd.default"(%alloc) args [unit, [0 : i64, 1 : i64], 0 : i64] : (memref<8xi64>) -> (memref<9xi64>)
  host.launch @g (%inner = %y) writes [] : (memref<8xi64>) -> () {
  }
  func.return
}
"""  # noqa: E501


@pytest.mark.parametrize(
    ("array", "wanted"),
    [
        ("x", "x"),
        ("y", "y"),
        ("padded", "x"),  # of a view of it
        ("twice", "x"),
        ("sum", None),
        ("alloc", None),
        ("big", None),
        ("inner", None),  # an argument of a launch, not of the function
    ],
)
def test_the_argument_whose_numbers_an_array_has(array: str, wanted: str | None) -> None:
    values = named(parse(TEXT))
    found = argument_of(values[array])
    assert found is (None if wanted is None else values[wanted])
