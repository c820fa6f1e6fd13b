"""Which arrays cells may meet in, and which accesses may leave their arrays."""

from __future__ import annotations

from itertools import combinations

import pytest
from xdsl.dialects.func import FuncOp

from kopt.analysis.inside import doubtful
from kopt.analysis.shared_elements import shared_arrays
from kopt.parsing import parse_module

KERNEL = """
func.func @f(%x: memref<10x8xf32>, %y: memref<12x8xf32>) {
  tile.grid (%i: b0=4, %j: b1=8) in (10, 8) {
    %c1 = arith.constant 1 : index
    %one = tile.full 1 : !tile.tile<b0=4 x i32>
    %lanes = tile.index %i : !tile.range<b0=4>
    %next = tile.add %lanes, %one : !tile.tile<b0=4 x i32>
    %later = tile.shift %i by %c1 : !tile.range<b0=4>
    %begin = tile.begin %i : !tile.range<b0=4>
    %end = tile.end %i : !tile.range<b0=4>
    %c3 = arith.constant 3 : index
    %last = arith.addi %begin, %c3 : index
    %fifth = arith.addi %last, %c1 : index
    ACCESSES
  }
  func.return
}
"""
BLOCK = "!tile.tile<b0=4 x b1=8 x f32>"
ROW = "!tile.tile<b1=8 x f32>"


def function(*accesses: str) -> FuncOp:
    """The kernel with some accesses, each the text of a load, or of a store of what was loaded last."""
    module = parse_module(KERNEL.replace("ACCESSES", "\n    ".join(accesses)))
    return next(op for op in module.walk() if isinstance(op, FuncOp))


def load(place: str, type: str = BLOCK, array: str = "%x", name: str = "%v") -> str:
    rows = 10 if array == "%x" else 12
    return f"{name} = tile.load {array}[{place}] : memref<{rows}x8xf32> -> {type}"


def store(place: str, type: str = BLOCK, array: str = "%x") -> str:
    rows = 10 if array == "%x" else 12
    return f"tile.store %v, {array}[{place}] : {type}, memref<{rows}x8xf32>"


@pytest.mark.parametrize(
    ("accesses", "shared"),
    [
        ([load("%i, %j"), store("%i, %j")], []),
        ([load("%i, %j"), store("%i, %j", array="%y")], []),
        ([load("%i, %j", array="%y"), store("%later, %j", array="%y")], ["y"]),
        ([load("%begin, %j", ROW), store("%begin, %j", ROW)], []),
        ([load("%begin, %j", ROW), load("%i, %j", name="%w"), store("%begin, %j", ROW)], []),
        ([load("0, %j", ROW), store("0, %j", ROW)], ["x"]),
        ([load("%next, %j", array="%y"), store("%next, %j", array="%y")], []),
        ([load("0, %j", ROW), store("0, %j", ROW, "%y")], ["y"]),
        ([load("%begin, %j", ROW), store("%last, %j", ROW, "%x")], []),
        ([load("%begin, %j", ROW), store("%fifth, %j", ROW, "%x")], ["x"]),
    ],
)
def test_arrays_that_cells_share(accesses: list[str], shared: list[str]) -> None:
    """The second loop has one block, so that only rows tell cells apart."""
    assert sorted(str(memory.name_hint) for memory in shared_arrays(function(*accesses))) == shared


@pytest.mark.parametrize(
    ("access", "is_doubtful"),
    [
        (load("%i, %j"), False),
        (load("%later, %j"), True),
        (load("%later, %j", array="%y"), False),
        (load("%next, %j"), True),
        (load("%next, %j", array="%y"), False),
        (load("%begin, %j", ROW), False),
        (load("%end, %j", ROW), True),
        (load("%end, %j", ROW, "%y"), False),
    ],
)
def test_accesses_that_may_leave_their_arrays(access: str, is_doubtful: bool) -> None:
    assert bool(doubtful(function(access))) is is_doubtful


#: Accesses to one row by all cells.
KINDS = {
    "load": load("0, %j", ROW, name="%r"),
    "block": "tile.store %row, %x[0, %j] : " + ROW + ", memref<10x8xf32>",
    "rows": "tile.store %v, %x[%one, %j] : " + BLOCK + ", memref<10x8xf32>",
    "update": "atomic.rmw add %v, %x[%one, %j] : " + BLOCK + ", memref<10x8xf32>",
}
#: Which two show whose turn came first: not two of what computed rows get, which may be in any order, nor two updates.
SEEN = [{"load", "block"}, {"load", "rows"}, {"load", "update"}, {"block"}, {"rows", "update"}]


@pytest.mark.parametrize("names", [each for n in range(1, 5) for each in combinations(KINDS, n)], ids=" ".join)
def test_which_accesses_show_their_order(names: tuple[str, ...]) -> None:
    given = [load("%i, %j", array="%y"), load("0, %j", ROW, array="%y", name="%row")]
    found = shared_arrays(function(*given, *(KINDS[name] for name in names)))
    assert [memory.name_hint for memory in found] == ["x"] * any(pair <= {*names} for pair in SEEN)
