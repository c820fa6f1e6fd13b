"""What decides which elements a function touches: which ops are in a slice, and which are not."""

from __future__ import annotations

import pytest
from xdsl.dialects import scf
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.index_slice import IndexSlice, IndexSlicer, sliceable, writers
from kopt.dialects.tile import Access, GridOp, StoreOp, TakeAlongOp
from test.named import named, only


def function(body: str, args: str = "%x: memref<100xf32>, %rows: memref<100xi32>, %n: index, %go: i1") -> str:
    return f"func.func @f({args}) {{\n{body}\n  func.return\n}}\n"


class Sliced:
    """A function's slice for its accesses named ``located``."""

    def __init__(self, body: str):
        self.module = parse(function(body))
        self.func = only(self.module, FuncOp)
        self.values = named(self.module)
        self.slicer = IndexSlicer(writers(self.func))

    def access(self, name: str) -> Access:
        op = self.values[name].owner
        assert isinstance(op, Access)
        return op

    def runs(self) -> set[str]:
        """The names of the results of what runs, and the kinds of what gives none."""
        found = self.slicer.result().run
        return {value.name_hint or "" for op in found for value in op.results} | {
            op.name for op in found if not op.results
        }


GATHER = """
  tile.grid (%i: b0=4) in (100) {
    %r = tile.load %rows[%i] : memref<100xi32> -> !tile.tile<b0=4 x i32>
    %one = tile.full 1 : !tile.tile<b0=4 x i32>
    %at = tile.add %r, %one : !tile.tile<b0=4 x i32>
    %m = tile.lt %r, %one : !tile.tile<b0=4 x i32>
    %v = tile.load %x[%at] mask %m : memref<100xf32> -> !tile.tile<b0=4 x f32>
    %w = tile.exp %v : !tile.tile<b0=4 x f32>
    tile.store %w, %x[%i] : !tile.tile<b0=4 x f32>, memref<100xf32>
  }"""


def test_indices_and_masks_run_and_what_is_moved_does_not() -> None:
    sliced = Sliced(GATHER)
    sliced.slicer.locate(sliced.access("v"))
    assert sliced.runs() == {"r", "one", "at", "m", "tile.grid"}
    found = sliced.slicer.result()
    assert found.located == {sliced.access("v")}
    assert found.held == {sliced.values["rows"]} and found.assumed == frozenset()


def test_blocks_need_their_loops_alone() -> None:
    sliced = Sliced(GATHER)
    sliced.slicer.locate(only(sliced.module, StoreOp))
    assert sliced.runs() == {"tile.grid"}
    assert sliced.slicer.result().held == frozenset()


def test_assumed_indices_are_not_followed() -> None:
    sliced = Sliced(GATHER)
    sliced.slicer.locate(sliced.access("v"), [sliced.values["at"]])
    assert sliced.runs() == {"r", "one", "m", "tile.grid"}  # of the mask
    assert sliced.slicer.result().assumed == {sliced.values["at"]}


def test_a_store_that_is_added_runs_with_its_value() -> None:
    """The value is loaded, so that all elements of the array count: but nothing of ``rows`` other than its indices."""
    sliced = Sliced(GATHER)
    sliced.slicer.store(only(sliced.module, StoreOp))
    assert sliced.runs() == {"r", "one", "at", "m", "v", "w", "tile.grid", "tile.store"}
    assert sliced.slicer.result().held == {sliced.values["x"], sliced.values["rows"]}


def test_nothing_is_needed_for_nothing() -> None:
    assert Sliced(GATHER).slicer.result() == IndexSlice()


def test_what_writes_an_array_of_indices_runs() -> None:
    """Through a view as well, and with what decides how often; other arrays' writers do not."""
    sliced = Sliced("""
  %view = host.reshape %rows : memref<100xi32> to memref<10x10xi32>
  tile.grid (%a: b0=1) in (10) {
    %nine = tile.full 9 : !tile.tile<10 x i32>
    %block = tile.broadcast %nine dims [1] : !tile.tile<10 x i32> to !tile.tile<b0=1 x 10 x i32>
    tile.store %block, %view[%a, :] : !tile.tile<b0=1 x 10 x i32>, memref<10x10xi32>
  }
  tile.grid (%c: b2=4) in (100) {
    %zero = tile.full 0.0 : !tile.tile<b2=4 x f32>
    tile.store %zero, %x[%c] : !tile.tile<b2=4 x f32>, memref<100xf32>
  }
  tile.grid (%i: b1=4) in (100) {
    %r = tile.load %rows[%i] : memref<100xi32> -> !tile.tile<b1=4 x i32>
    %v = tile.load %x[%r] : memref<100xf32> -> !tile.tile<b1=4 x f32>
  }""")
    sliced.slicer.locate(sliced.access("v"))
    first, second, third = [op for op in sliced.module.walk() if isinstance(op, GridOp)]
    run = sliced.slicer.result().run
    assert first in run and third in run and second not in run
    assert sliced.runs() == {"nine", "block", "r", "tile.grid", "tile.store"}


LOOPS = {
    "what a loop carries to an index, from its start on": (
        """
  %first = tile.full 0 : !tile.tile<i32>
  %other = tile.full 0.0 : !tile.tile<f32>
  %r, %s = tile.for %k: b1=4 in (0, %n) iter(%a = %first, %b = %other) -> (!tile.tile<i32>, !tile.tile<f32>) {
    %one = tile.full 1 : !tile.tile<i32>
    %next = tile.add %a, %one : !tile.tile<i32>
    %float = tile.exp %b : !tile.tile<f32>
    tile.yield %next, %float : !tile.tile<i32>, !tile.tile<f32>
  }
  %at = tile.extract %r : !tile.tile<i32> to index
  %v = tile.load %x[%at] : memref<100xf32> -> !tile.tile<f32>""",
        {"first", "r", "s", "one", "next", "at"},
    ),
    "what is carried where the index is inside": (
        """
  %first = tile.full 0 : !tile.tile<i32>
  %r = tile.for %k: b1=4 in (0, %n) iter(%a = %first) -> (!tile.tile<i32>) {
    %at = tile.extract %a : !tile.tile<i32> to index
    %v = tile.load %x[%at] : memref<100xf32> -> !tile.tile<f32>
    %one = tile.full 1 : !tile.tile<i32>
    %next = tile.add %a, %one : !tile.tile<i32>
    tile.yield %next : !tile.tile<i32>
  }
  %unused = tile.add %r, %r : !tile.tile<i32>""",
        {"first", "r", "one", "next", "at"},
    ),
    "what is carried as it is": (
        """
  %first = tile.full 0 : !tile.tile<i32>
  %r = tile.for %k: b1=4 in (0, %n) iter(%a = %first) -> (!tile.tile<i32>) {
    %at = tile.extract %a : !tile.tile<i32> to index
    %v = tile.load %x[%at] : memref<100xf32> -> !tile.tile<f32>
    tile.yield %a : !tile.tile<i32>
  }""",
        {"first", "r", "at"},
    ),
    "what changes places": (
        """
  %first = tile.full 0 : !tile.tile<i32>
  %second = tile.full 1 : !tile.tile<i32>
  %r, %s = tile.for %k: b1=4 in (0, %n) iter(%a = %first, %b = %second) -> (!tile.tile<i32>, !tile.tile<i32>) {
    tile.yield %b, %a : !tile.tile<i32>, !tile.tile<i32>
  }
  %at = tile.extract %r : !tile.tile<i32> to index
  %v = tile.load %x[%at] : memref<100xf32> -> !tile.tile<f32>""",
        {"first", "second", "r", "s", "at"},
    ),
    "whether a loop goes on": (
        """
  %first = tile.full 0 : !tile.tile<i32>
  %r = tile.while %go iter(%a = %first) -> (!tile.tile<i32>) {
    %v = tile.load %x[3] : memref<100xf32> -> !tile.tile<f32>
    %one = tile.full 1 : !tile.tile<i32>
    %next = tile.add %a, %one : !tile.tile<i32>
    %more = tile.lt %next, %one : !tile.tile<i32>
    %bit = tile.extract %more : !tile.tile<i1> to i1
    %unused = tile.exp %v : !tile.tile<f32>
    tile.yield %bit, %next : i1, !tile.tile<i32>
  }""",
        {"first", "r", "one", "next", "more", "bit"},
    ),
    "both branches of a condition": (
        """
  %c = arith.cmpi slt, %n, %n : index
  %at = scf.if %c -> (index) {
    %three = arith.constant 3 : index
    %unused = arith.constant 5 : index
    scf.yield %three : index
  } else {
    %four = arith.constant 4 : index
    scf.yield %four : index
  }
  %v = tile.load %x[%at] : memref<100xf32> -> !tile.tile<f32>""",
        {"c", "at", "three", "four"},
    ),
    "whether a branch is taken": (
        """
  %c = arith.cmpi slt, %n, %n : index
  scf.if %c {
    %unused = arith.constant 5 : index
    %v = tile.load %x[3] : memref<100xf32> -> !tile.tile<f32>
  }""",
        {"c", "scf.if"},
    ),
    "the bounds of a loop": (
        """
  %l = arith.addi %n, %n : index
  %u = arith.muli %n, %n : index
  %unused = arith.subi %n, %n : index
  tile.for %k: b1=4 in (%l, %u) {
    %v = tile.load %x[%k] : memref<100xf32> -> !tile.tile<b1=4 x f32>
  }""",
        {"l", "u", "tile.for"},
    ),
}


@pytest.mark.parametrize(("body", "wanted"), LOOPS.values(), ids=LOOPS)
def test_control_runs_with_what_decides_it(body: str, wanted: set[str]) -> None:
    sliced = Sliced(body)
    sliced.slicer.locate(sliced.access("v"))
    assert sliced.runs() == wanted


def test_lanes_that_are_picked_by_number() -> None:
    sliced = Sliced("""
  tile.grid (%i: b0=4) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=4 x f32>
    %r = tile.load %rows[%i] : memref<100xi32> -> !tile.tile<b0=4 x i32>
    %p = tile.take_along %v, %r dim 0 : !tile.tile<b0=4 x f32>, !tile.tile<b0=4 x i32>
  }""")
    op = only(sliced.module, TakeAlongOp)
    sliced.slicer.pick(op)
    assert sliced.runs() == {"r", "tile.grid"} and sliced.slicer.result().located == {op}


def test_an_op_that_is_executed_needs_all_operands() -> None:
    sliced = Sliced(GATHER)
    exp = sliced.values["w"].owner
    sliced.slicer.execute(exp)  # pyright: ignore
    assert sliced.runs() == {"r", "one", "at", "m", "v", "w", "tile.grid", "tile.store"}  # x is read: its store counts


def test_a_value_and_whether_its_user_runs() -> None:
    sliced = Sliced("""
  %c = arith.cmpi slt, %n, %n : index
  %u = arith.addi %n, %n : index
  scf.if %c {
    %w = arith.addi %u, %n : index
  }""")
    user = sliced.values["w"].owner
    sliced.slicer.value(sliced.values["u"], user)  # pyright: ignore
    assert sliced.runs() == {"u", "c", "scf.if"}
    assert user not in sliced.slicer.result().run and only(sliced.module, scf.IfOp) in sliced.slicer.result().run


def test_slices_join() -> None:
    first, second = Sliced(GATHER), Sliced(GATHER)
    second.slicer = IndexSlicer(writers(first.func))
    first.slicer.locate(first.access("v"), [first.values["at"]])
    second.slicer.store(only(first.module, StoreOp))
    a, b = first.slicer.result(), second.slicer.result()
    joined = a | b
    assert joined == b | a and joined | a == joined
    assert joined.run == a.run | b.run and joined.located == a.located and joined.held == b.held
    assert joined.assumed == {first.values["at"]}


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("", True),
        ("  tile.grid (%i: b0=4) in (100) {\n  }", True),
        ("  host.launch @g (%y = %x) writes [] : (memref<100xf32>) -> () {\n  }", False),
        ("  func.call @f(%x, %rows, %n, %go) : (memref<100xf32>, memref<100xi32>, index, i1) -> ()", False),
    ],
)
def test_functions_without_launches_and_calls_can_be_sliced(body: str, wanted: bool) -> None:
    assert sliceable(only(parse(function(body)), FuncOp)) is wanted


def test_writers_by_the_array_that_they_write() -> None:
    module = parse(
        function("""
  %view = host.reshape %rows : memref<100xi32> to memref<10x10xi32>
  %ones = tile.full 1 : !tile.tile<i32>
  tile.store %ones, %view[0, 0] : !tile.tile<i32>, memref<10x10xi32>
  tile.store %ones, %rows[0] : !tile.tile<i32>, memref<100xi32>
  %v = tile.load %x[3] : memref<100xf32> -> !tile.tile<f32>""")
    )
    stores = [op for op in module.walk() if isinstance(op, StoreOp)]
    assert writers(only(module, FuncOp)) == {named(module)["rows"]: stores}
