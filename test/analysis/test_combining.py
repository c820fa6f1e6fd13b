"""Which operands an op combines lanes of, and that the value named for it changes no combination."""

from __future__ import annotations

import math

import numpy as np
import pytest
from xdsl.ir import Operation

from kopt import parse
from kopt.analysis.combining import ORDERING_OPS, combined_lanes, combined_operands, summed_tags
from kopt.dialects.tile import GridOp, ReduceOp
from test.named import only

TEXT = """
func.func @f(%x: memref<100x8xf32>, %v: !tile.tile<4 x 8 x f32>, %k: !tile.tile<4 x 8 x i32>,
             %l: !tile.tile<3 x 4 x 8 x i8>, %r: !tile.tile<3 x 8 x 2 x i8>, %s: !tile.tile<f32>) {{
  tile.grid (%i: b0=16) in (100) {{
    %t = tile.load %x[%i, :] : memref<100x8xf32> -> !tile.tile<b0=16 x 8 x f32>
    %u = tile.load %x[:, :] : memref<100x8xf32> -> !tile.tile<100 x 8 x f32>
    %w = tile.transpose %t [1, 0] : !tile.tile<b0=16 x 8 x f32>
    {op}
  }}
  func.return
}}
"""


def op_of(line: str) -> Operation:
    """The op of a line, which stands behind the three that make its operands."""
    return list(only(parse(TEXT.format(op=line)), GridOp).body.block.ops)[3]


ASSOCIATIVE = """%a = tile.associative_reduce %v dim 0 : !tile.tile<4 x 8 x f32> {
  ^bb0(%p: !tile.tile<f32>, %q: !tile.tile<f32>):
    %c = tile.mul %p, %q : !tile.tile<f32>
    tile.yield %c : !tile.tile<f32>
  }"""
INLINE = """triton.inline "g"(%v, %s) functions = {g = "(x, y):\\n    pass"}
  : (!tile.tile<4 x 8 x f32>, !tile.tile<f32>) -> ()"""
TAGGED = "!tile.tile<b0=16 x 8 x f32>"
F32, I32 = "!tile.tile<4 x 8 x f32>", "!tile.tile<4 x 8 x i32>"
DOT = "!tile.tile<3 x 4 x 8 x i8>, !tile.tile<3 x 8 x 2 x i8> -> !tile.tile<3 x 4 x 2 x i32>"


@pytest.mark.parametrize(
    "line, wanted",
    [
        (f"%a = tile.reduce add %v [1] : {F32}", [(0, (1,), 0.0)]),
        (f"%a = tile.reduce mul %v [0, 1] : {F32}", [(0, (0, 1), 1.0)]),
        (f"%a = tile.reduce max %v [0] : {F32}", [(0, (0,), -math.inf)]),
        (f"%a = tile.reduce min %k [0] : {I32}", [(0, (0,), 2**31 - 1)]),
        (f"%a = tile.argreduce max %k dim 1 : {I32}", [(0, (1,), -(2**31))]),
        (f"%a = tile.argreduce min %v dim 0 : {F32}", [(0, (0,), math.inf)]),
        (f"%a = tile.scan mul %v dim 1 reverse : {F32}", [(0, (1,), 1.0)]),
        (f"%a = tile.scan add %k dim 0 : {I32}", []),
        (f"%a, %b = tile.sort %k dim 1 : {I32}", [(0, (1,), 2**31 - 1)]),
        (f"%a, %b = tile.sort %k dim 0 descending : {I32}", [(0, (0,), -(2**31))]),
        (f"%a, %b = tile.sort %v dim 1 descending : {F32}", [(0, (1,), -math.inf)]),
        (f"%a = tile.dot %l, %r : {DOT}", [(0, (2,), 0), (1, (1,), 0)]),
        (INLINE, [(0, (0, 1), 0), (1, (), 0)]),
        (ASSOCIATIVE, []),
        (f"%a = tile.add %v, %v : {F32}", []),
        (f"%a = tile.transpose %v [1, 0] : {F32}", []),
    ],
)
def test_combined_operands(line: str, wanted: list) -> None:
    op = op_of(line)
    assert combined_operands(op) == wanted
    if "scan add" not in line:
        assert combined_lanes(op) == wanted


def test_nan_is_sorted_last() -> None:
    ((number, dims, last),) = combined_operands(op_of(f"%a, %b = tile.sort %v dim 1 : {F32}"))
    assert (number, dims) == (0, (1,)) and math.isnan(last)


def test_a_scan_sees_what_stands_before() -> None:
    op = op_of(f"%a = tile.scan add %k dim 0 : {I32}")
    assert (combined_operands(op), combined_lanes(op)) == ([], [(0, (0,), 0)])


NUMPY = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
         "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}  # fmt: skip
TYPES = {
    "f32": np.array([-math.inf, -2.5, 0.0, 3.0, math.inf], np.float32),
    "i32": np.array([-(2**31), -7, 0, 5, 2**31 - 1], np.int32),
    "i8": np.array([-128, -1, 0, 127], np.int8),
    "ui8": np.array([0, 1, 200, 255], np.uint8),
    "i1": np.array([0, 1], np.uint8),
}
BITWISE = ("and", "or", "xor")
KINDS = [
    *((kind, type) for type in ("i32", "i8", "ui8") for kind in NUMPY),
    *((kind, "f32") for kind in NUMPY if kind not in BITWISE),
    *((kind, "i1") for kind in BITWISE),
]


@pytest.mark.parametrize("kind, type", KINDS)
def test_the_value_is_neutral(kind: str, type: str) -> None:
    values = TYPES[type]
    module = parse(f"""
    func.func @f(%v: !tile.tile<8 x {type}>) {{
      %a = tile.reduce {kind} %v [0] : !tile.tile<8 x {type}>
      func.return
    }}
    """)
    ((_, _, value),) = combined_operands(only(module, ReduceOp))
    number = int(value) & 1 if type == "i1" else value
    assert NUMPY[kind](values, np.array(number).astype(values.dtype)).tolist() == values.tolist()


@pytest.mark.parametrize(
    "line, tags",
    [
        ("%a = tile.reduce add %t [0] : !tile.tile<b0=16 x 8 x f32>", ["b0"]),
        ("%a = tile.reduce add %t [1] : !tile.tile<b0=16 x 8 x f32>", [""]),
        ("%a = tile.reduce max %t [0, 1] : !tile.tile<b0=16 x 8 x f32>", ["b0", ""]),
        (f"%a = tile.dot %w, %t : !tile.tile<8 x b0=16 x f32>, {TAGGED} -> !tile.tile<8 x 8 x f32>", ["b0"]),
        ("%a = tile.argreduce max %t dim 0 : !tile.tile<b0=16 x 8 x f32>", []),
        ("%a = tile.scan add %t dim 0 : !tile.tile<b0=16 x 8 x f32>", []),
        ("%a = tile.add %t, %t : !tile.tile<b0=16 x 8 x f32>", []),
    ],
)
def test_tags_that_are_summed_over(line: str, tags: list[str]) -> None:
    assert summed_tags(op_of(line)) == tags


@pytest.mark.parametrize(
    "line, orders",
    [
        (f"%a = tile.argreduce max %v dim 0 : {F32}", True),
        (f"%a = tile.scan add %v dim 0 : {F32}", True),
        (f"%a, %b = tile.sort %v dim 0 : {F32}", True),
        (ASSOCIATIVE, True),
        (f"%a = tile.reduce add %v [0] : {F32}", False),
        (f"%a = tile.dot %l, %r : {DOT}", False),
    ],
)
def test_ops_that_depend_on_the_order_of_lanes(line: str, orders: bool) -> None:
    assert isinstance(op_of(line), ORDERING_OPS) is orders
