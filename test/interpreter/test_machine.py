"""The machine itself: limits on what it goes through, what it holds, and what arrays it takes."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.errors import ArgumentError, UnsupportedError
from kopt.interpreter import HANDLERS, loops, machine, run
from kopt.interpreter.machine import Machine, check_arguments
from test.interpreter.support import run_text

LOOP = """
func.func @f(%x: memref<64xf32>) {
  tile.grid (%i: b0=64) in (64) {
    tile.for %k: b1=1 in (0, 10) {
      %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=64 x f32>
      tile.store %v, %x[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
    }
  }
  func.return
}
"""


def x() -> np.ndarray:
    return np.arange(64, dtype=np.float32)


def test_operations_are_counted_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    module = kopt.parse(LOOP)
    counting = Machine(module, HANDLERS)
    counting.call(counting.functions["f"], [x()])
    assert counting.executed >= 1 + 1 + 10 * 2  # the grid, the loop, and two in each visit
    monkeypatch.setattr(machine, "OPERATIONS", counting.executed)
    run_text(LOOP, x())
    monkeypatch.setattr(machine, "OPERATIONS", counting.executed - 1)
    with pytest.raises(UnsupportedError, match=f"at most {counting.executed - 1} operations") as error:
        run_text(LOOP, x())
    assert error.value.location is not None


def test_visits_are_counted_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "VISITS", 10)
    run_text(LOOP, x())
    monkeypatch.setattr(machine, "VISITS", 9)
    with pytest.raises(UnsupportedError, match="at most 9 blocks, found 10") as error:
        run_text(LOOP, x())
    assert error.value.location is not None and error.value.location.line == 4


def test_elements_are_counted_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = "%w = tile.broadcast %v dims [1] : !tile.tile<b0=64 x f32> to !tile.tile<3 x b0=64 x f32>\n"
    wide = LOOP.replace("tile.store", copies + "tile.store")
    monkeypatch.setattr(machine, "ELEMENTS", 192)
    run_text(wide, x())
    monkeypatch.setattr(machine, "ELEMENTS", 191)
    with pytest.raises(UnsupportedError, match="at most 191 elements, found .*3 x b0=64"):
        run_text(wide, x())


def test_operations_that_no_handler_is_for_are_named() -> None:
    module = kopt.parse(LOOP)
    few = {kind: handler for kind, handler in HANDLERS.items() if kind.name != "tile.load"}
    with pytest.raises(UnsupportedError, match="does not run 'tile.load'") as error:
        (one := Machine(module, few)).call(one.functions["f"], [x()])
    assert error.value.location is not None and error.value.location.line == 5


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([], "takes 2 arrays, found 0"),
        ([np.zeros(64, np.float32)] * 3, "takes 2 arrays, found 3"),
        ([np.zeros(63, np.float32), np.zeros((2, 3), np.int32)], r"argument 0 of 'f' is .*found shape \(63,\)"),
        ([np.zeros((64, 1), np.float32), np.zeros((2, 3), np.int32)], r"argument 0 .*found shape \(64, 1\)"),
        ([np.zeros(64, np.float32), np.zeros((3, 2), np.int32)], r"argument 1 .*found shape \(3, 2\)"),
        ([np.zeros(64, np.float64), np.zeros((2, 3), np.int32)], "argument 0 .*held in float32, found float64"),
        ([np.zeros(64, np.float32), np.zeros((2, 3), np.int64)], "argument 1 .*held in int32, found int64"),
    ],
)
def test_arrays_have_to_fit(arrays: list[np.ndarray], message: str) -> None:
    module = kopt.parse("func.func @f(%x: memref<64xf32>, %y: memref<2x3xi32>) {\n  func.return\n}")
    function = Machine(module, HANDLERS).functions["f"]
    with pytest.raises(ArgumentError, match=message):
        check_arguments(function, arrays)
    with pytest.raises(ArgumentError, match=message):
        run(module, "f", arrays)
    check_arguments(function, [np.zeros(64, np.float32), np.zeros((2, 3), np.int32)])


SCALARS = """
func.func @double(%n: index) -> (index, index) {
  %two = arith.muli %n, %n : index
  func.return %n, %two : index, index
}
func.func @last(%n: index) -> index {
  %one = arith.constant 1 : index
  %next = arith.addi %n, %one : index
  func.return %next : index
}
func.func @nothing(%n: index) {
  func.return
}
func.func @f(%out: memref<6xi32>) {
  %lb = arith.constant 2 : index
  %ub = arith.constant 11 : index
  %step = arith.constant 3 : index
  %zero = arith.constant 0 : index
  %sum = scf.for %k = %lb to %ub step %step iter_args(%a = %zero) -> (index) {
    %s = arith.addi %a, %k : index
    scf.yield %s : index
  }
  %first, %second = scf.for %k = %lb to %ub step %step iter_args(%a = %zero, %b = %lb) -> (index, index) {
    %s = arith.addi %b, %k : index
    scf.yield %k, %s : index, index
  }
  %same, %square = func.call @double(%ub) : (index) -> (index, index)
  %next = func.call @last(%square) : (index) -> index
  func.call @nothing(%next) : (index) -> ()
  {stores}
  func.return
}
"""


def test_scalar_loops_and_calls() -> None:
    names = ("sum", "first", "second", "same", "square", "next")
    stores = "\n".join(
        f"%i{n} = arith.index_cast %{name} : index to i32\n%t{n} = tile.splat %i{n} : i32 to !tile.tile<1 x i32>\n"
        f"tile.store %t{n}, %out[{n}:{n + 1}] : !tile.tile<1 x i32>, memref<6xi32>"
        for n, name in enumerate(names)
    )
    text = SCALARS.replace("{stores}", f"tile.grid (%g: b0=1) in (1) {{\n{stores}\n}}")
    out = np.zeros(6, np.int32)
    run(kopt.parse(text), "f", [out])
    assert out.tolist() == [2 + 5 + 8, 8, 2 + 2 + 5 + 8, 11, 121, 122]


UNTIL = """
func.func @f(%out: memref<4xf32>) {
  tile.grid (%i: b0=4) in (4) {
    %go = arith.constant true
    %z = tile.full 0.0 : !tile.tile<4 x f32>
    %one = tile.full 1.0 : !tile.tile<4 x f32>
    %limit = tile.full 40.0 : !tile.tile<f32>
    %r = tile.while %go iter(%a = %z) -> (!tile.tile<4 x f32>) {
      %b = tile.add %a, %one : !tile.tile<4 x f32>
      %s = tile.reduce add %b [0] : !tile.tile<4 x f32>
      %c = tile.lt %s, %limit : !tile.tile<f32>
      %more = tile.extract %c : !tile.tile<i1> to i1
      tile.yield %more, %b : i1, !tile.tile<4 x f32>
    }
    tile.store %r, %out[:] : !tile.tile<4 x f32>, memref<4xf32>
  }
  func.return
}
"""


def test_loops_end_within_some_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(4, np.float32)
    monkeypatch.setattr(loops, "VISITS", 10)
    run_text(UNTIL, out)
    assert out.tolist() == [10.0] * 4
    monkeypatch.setattr(loops, "VISITS", 9)
    with pytest.raises(UnsupportedError, match="the loop does not end within 9 visits") as error:
        run_text(UNTIL, out)
    assert error.value.location is not None and error.value.location.line == 8
