"""Forms of SSA values: names, ranges, chains of any length, and how long they take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import SSAValue

import kopt
from kopt.dialects.tile import Access, GridOp
from kopt.ir.atoms import Element, Symbol
from kopt.ir.choices import maximum
from kopt.ir.from_access import relation_of
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import number, symbol
from kopt.ir.value_range import ValueRange
from test.counting import calls
from test.ir.kernels import kernels

TEXT = """
func.func @f(%x: memref<1000xi32>) {
  tile.grid (%i: b0=128) in (1000) {
    %begin = tile.begin %i : !tile.range<b0=128>
    %end = tile.end %i : !tile.range<b0=128>
    %id = tile.id %i : !tile.range<b0=128>
    %count = tile.count %i : !tile.range<b0=128>
    %length = arith.subi %end, %begin : index
    %valid = tile.valid_count %i : !tile.range<b0=128>
    %two = arith.constant 2 : index
    %hundred = arith.constant 100 : index
    %twice = arith.muli %begin, %two : index
    %apart = arith.subi %twice, %end : index
    %near = arith.minsi %twice, %end : index
    %v = tile.load %x[%id] : memref<1000xi32> -> !tile.tile<i32>
    %loaded = tile.extract %v : !tile.tile<i32> to index
    %moved = arith.addi %begin, %loaded : index
    %quotient = arith.floordivsi %id, %two : index
    %whole = arith.muli %quotient, %two : index
    %rest = arith.subi %id, %whole : index
    %remainder = arith.remsi %begin, %two : index
    %least = arith.maxsi %moved, %two : index
    %clamped = arith.minsi %least, %hundred : index
    %before = arith.subi %begin, %two : index
    %truncated = arith.divsi %before, %two : index
    %rounded = arith.ceildivsi %end, %hundred : index
    tile.for %k: b1=8 in (%begin, %end) {
      %inner = tile.begin %k : !tile.range<b1=8>
      %from = arith.subi %inner, %begin : index
      %numbers = tile.index %k : !tile.range<b1=8>
      %seven = tile.full 7 : !tile.tile<b1=8 x i32>
      %low = tile.and %numbers, %seven : !tile.tile<b1=8 x i32>
      %inside = tile.valid %k : !tile.range<b1=8>
    }
    tile.for %l: b2=8 in (%loaded, 1000) {
      %unknown = tile.begin %l : !tile.range<b2=8>
      %back = arith.subi %unknown, %loaded : index
    }
  }
  func.return
}
"""
RANGES = {
    "begin": ValueRange(0, 896, 128),
    "end": ValueRange(128, 1000, 8),
    "id": ValueRange(0, 7),
    "count": ValueRange.exactly(8),
    "length": ValueRange(104, 128, 8),
    "valid": ValueRange(104, 128, 8),
    "twice": ValueRange(0, 1792, 256),
    "apart": ValueRange(-128, 792, 8),
    "near": ValueRange(0, 1000, 8),
    "loaded": ValueRange(-(2**31), 2**31 - 1),
    "moved": ValueRange(-(2**31), 2**31 + 895),
    "quotient": ValueRange(0, 3),
    "rest": ValueRange(0, 1),
    "remainder": ValueRange.exactly(0),
    "least": ValueRange(2, 2**31 + 895),
    "clamped": ValueRange(2, 100),
    "truncated": ValueRange(-1, 447),
    "rounded": ValueRange(2, 10),
    "inner": ValueRange(0, 1016, 8),
    "from": ValueRange(0, 120, 8),
    "low": ValueRange(0, 7),
    "unknown": ValueRange(-(2**31), 2**32 + 991),
    "back": ValueRange(0, 2**31 + 992, 8),
}


def values() -> Iterator[SSAValue]:
    """The values of the kernel."""
    return (value for op in kopt.parse(TEXT).walk() for value in op.results)


@pytest.mark.parametrize("name", RANGES)
def test_ranges(name: str) -> None:
    value = next(value for value in values() if value.name_hint == name)
    found = IndexAnalysis().range(value)
    assert found == RANGES[name], str(found)


SIGNED = """
func.func @f(%x: memref<1000xi32>) {
  tile.grid (%i: b0=128) in (1000) {
    %begin = tile.begin %i : !tile.range<b0=128>
    %one = arith.constant 1 : index
    %before = arith.subi %begin, %one : index
    %clipped = arith.maxsi %before, %one : index
    %quotient = arith.floordivsi %clipped, %one : index
    %below = arith.floordivsi %before, %one : index
    %v = tile.load %x[%begin] : memref<1000xi32> -> !tile.tile<i32>
    %loaded = tile.extract %v : !tile.tile<i32> to index
    %sum = arith.addi %begin, %loaded : index
    tile.for %k: b1=8 in (%begin, 1000) {
      %inner = tile.begin %k : !tile.range<b1=8>
      tile.for %l: b2=8 in (%loaded, 1000) {
        %unknown = tile.begin %l : !tile.range<b2=8>
      }
    }
  }
  func.return
}
"""
SIGNS = {
    "begin": True,
    "one": True,
    "before": False,
    "clipped": True,
    "quotient": True,
    "below": False,
    "loaded": False,
    "sum": False,
    "inner": True,
    "unknown": False,
}


@pytest.mark.parametrize("name", SIGNS)
def test_signs(name: str) -> None:
    value = next(value for op in kopt.parse(SIGNED).walk() for value in op.results if value.name_hint == name)
    assert IndexAnalysis().range(value).is_natural == SIGNS[name]


def test_assumptions_bound_what_is_loaded() -> None:
    found = {value.name_hint: value for value in values()}
    assumed = IndexAnalysis({found["v"]: ValueRange(0, 50)})
    assert assumed.range(found["moved"]) == ValueRange(0, 946)
    assert assumed.expr(found["moved"]) - assumed.expr(found["loaded"]) == assumed.expr(found["begin"])


def test_what_is_always_so() -> None:
    found = {value.name_hint: value for value in values()}
    m = IndexAnalysis()
    assert m.expr(found["quotient"]) * 2 + m.expr(found["rest"]) == m.expr(found["id"])
    assert m.expr(found["truncated"]).range.low == -1 and m.condition(found["inside"]).known is None


def test_sums_are_written_with_values_that_there_are() -> None:
    """What is no sum of indices keeps its name, and what is known of it."""
    found = {value.name_hint: value for value in values()}
    m = IndexAnalysis(sums=True)
    assert m.expr(found["twice"]) == m.expr(found["begin"]) * 2
    assert [atom.name for atom in m.expr(found["moved"]).terms if isinstance(atom, Symbol)] == [found["loaded"]]
    assert m.expr(found["quotient"]) == symbol(found["quotient"], range=ValueRange(0, 3))


@pytest.mark.parametrize("numbered", [False, True])
def test_the_number_of_the_only_block_may_keep_its_name(numbered: bool) -> None:
    module = kopt.parse(TEXT.replace("b0=128", "b0=1024"))
    grid = next(op for op in module.walk() if isinstance(op, GridOp))
    m = IndexAnalysis(numbered=numbered)
    assert m.begin(grid.ranges[0]).range.number == 0
    assert m.begin(grid.ranges[0]).is_constant is not numbered


OPERATIONS = {
    "addi": arith.AddiOp,
    "muli": arith.MuliOp,
    "minsi": arith.MinSIOp,
    "remsi": arith.RemSIOp,
    "floordivsi": arith.FloorDivSIOp,
    "xori": arith.XOrIOp,
}


def chain(ops: int, operation: str) -> tuple[SSAValue, SSAValue]:
    """A block's number, and the last of many operations on it, one after the other: every third with 3."""
    id = next(value for value in values() if value.name_hint == "id")
    three, value = arith.ConstantOp(IntegerAttr(3, IndexType())).result, id
    for n in range(ops):
        value = OPERATIONS[operation](value, id if n % 3 else three).result
    return id, value


@pytest.mark.parametrize("operation", OPERATIONS)
def test_long_chains_take_linear_time(operation: str) -> None:
    """Four times as many operations, no more than five times as many calls."""
    short, long = (calls(partial(IndexAnalysis().expr, chain(length, operation)[1])) for length in (500, 2000))
    assert long < 5 * short


def test_chains_of_loads_stay_cheap() -> None:
    """Numbers that are loaded by long lists keep their name alone."""
    lines = ["%n0 = tile.index %i : !tile.range<b0=16>", "%two = tile.full 2 : !tile.tile<b0=16 x i32>"]
    for n in range(40):
        lines.append(f"%q{n} = tile.floordiv %n{n}, %two : !tile.tile<b0=16 x i32>")
        lines.append(f"%n{n + 1} = tile.load %x[%q{n}] : memref<1000xi32> -> !tile.tile<b0=16 x i32>")
    text = "\n".join(["func.func @f(%x: memref<1000xi32>) {", "tile.grid (%i: b0=16) in (64) {", *lines, "}"])
    found = {value.name_hint: value for op in kopt.parse(text + "\nfunc.return\n}").walk() for value in op.results}
    m = IndexAnalysis()
    assert all(m.expr(found[f"n{n}"]).weight <= 64 for n in range(41))
    assert isinstance(m.expr(found["n1"]).atom, Element) and m.expr(found["n2"]).along == {0}


LOADED = """
func.func @f(%x: memref<64xi32>, %lengths: memref<64xi32>) {
  tile.grid (%i: b0=16) in (64) {
    %n = tile.index %i : !tile.range<b0=16>
    %two = tile.full 2 : !tile.tile<b0=16 x i32>
    %half = tile.floordiv %n, %two : !tile.tile<b0=16 x i32>
    %l = tile.load %lengths[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %m = tile.lt %n, %l : !tile.tile<b0=16 x i32>
    %grouped = tile.load %x[%half] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %masked = tile.load %x[%half] mask %m : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %apart = tile.load %x[%n] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    jagged.for %k: b1=8 in %l {
      %c = tile.index %k : !tile.range<b1=8>
      %w = tile.broadcast %c dims [1] : !tile.tile<b1=8 x i32> to !tile.tile<b0=16 x b1=8 x i32>
      %jagged = tile.load %x[%w] : memref<64xi32> -> !tile.tile<b0=16 x b1=8 x i32>
    }
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("name", "kind", "along"),
    [("grouped", Element, {0}), ("masked", Symbol, {0}), ("apart", Symbol, {0}), ("jagged", Symbol, {0, 1})],
)
def test_what_loaded_numbers_are(name: str, kind: type, along: set[int]) -> None:
    """Lanes with one index have one number, where all of them are loaded: no mask, nor a length, leaves some out."""
    value = next(value for op in kopt.parse(LOADED).walk() for value in op.results if value.name_hint == name)
    found = IndexAnalysis().expr(value)
    assert isinstance(found.atom, kind) and found.along == along, str(found)
    assert isinstance(IndexAnalysis(sums=True).expr(value).atom, Symbol)


def test_a_chain_of_sums_stays_a_sum() -> None:
    id, value = chain(2000, "addi")
    m, threes = IndexAnalysis(), len(range(0, 2000, 3))
    assert m.expr(value) == m.expr(id) * (2000 - threes + 1) + 3 * threes


def test_relations_are_quick() -> None:
    """A kernel of about a hundred operations on index tiles takes some milliseconds."""
    modules = [kopt.parse(text) for text in kernels(8, 5)]
    sizes = [sum(1 for _ in module.walk()) for module in modules]
    best = float("inf")
    for _ in range(3):
        start = process_time()
        for module in modules:
            m = IndexAnalysis()
            _ = [relation_of(op, m).kind for op in module.walk() if isinstance(op, Access)]
        best = min(best, process_time() - start)
    assert best / sum(sizes) < 1e-3


def test_numbers_of_blocks_may_be_bounded() -> None:
    """Where only some cells are looked at, a maximum is one of its operands."""
    module = kopt.parse(TEXT)
    (range, *_), least = next(op for op in module.walk() if isinstance(op, GridOp)).ranges, 128 * 3
    begin = IndexAnalysis({range: ValueRange(3, 5)}).begin(range)
    assert begin.range == ValueRange(least, 128 * 5, 128)
    assert maximum(begin - least, number(0)) == begin - least
    assert IndexAnalysis({range: ValueRange(3, 3)}).begin(range) == number(least)
