"""The host's ops: storage, views, launches and library calls."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.errors import ArgumentError, UnsupportedError, VerifyError
from kopt.interpreter import run
from kopt.parsing import parse_module
from test.interpreter.support import run_text


def test_views_write_through() -> None:
    """A copy into a slice of a permuted, reshaped argument changes the argument."""
    text = """
    func.func @f(%x: memref<6xf32>, %v: memref<2xbf16>) {
      %r = host.reshape %x : memref<6xf32> to memref<2x3xf32>
      %p = host.permute %r [1, 0] : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>
      %s = host.slice %p [2, 0] [1, 2] [1, 1] : memref<3x2xf32, strided<[1, 3]>>
        to memref<1x2xf32, strided<[1, 3], offset: 2>>
      %e = host.reshape %v : memref<2xbf16> to memref<1x2xbf16>
      host.copy %e to %s : memref<1x2xbf16>, memref<1x2xf32, strided<[1, 3], offset: 2>>
      func.return
    }
    """
    x = np.zeros(6, np.float32)
    run_text(text, x, np.array([1, 2], np.float32))
    assert x.tolist() == [0, 0, 1, 0, 0, 2]


def test_a_launch_leaves_its_operands_as_they_were() -> None:
    """The new version is the result."""
    text = """
    func.func @f(%x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
      %new = host.launch @k (%a = %x) writes [0] : (memref<4xf32>) -> memref<4xf32> {
        tile.grid (%i: b0=4) in (4) {
          %z = tile.full 1.0 : !tile.tile<b0=4 x f32>
          tile.store %z, %a[%i] : !tile.tile<b0=4 x f32>, memref<4xf32>
        }
      }
      %both = host.insert %x into %new [0] [4] [1] : memref<4xf32>, memref<4xf32>
      func.return %new, %both : memref<4xf32>, memref<4xf32>
    }
    """
    x = np.zeros(4, np.float32)
    new, both = run_text(text, x)
    assert (x.tolist(), new.tolist(), both.tolist()) == ([0] * 4, [1] * 4, [0] * 4)


def test_calls_compute_and_round() -> None:
    """Results have the call's types: bf16 sums are rounded, comparisons are i1."""
    text = """
    func.func @f(%x: memref<2x3xbf16>) -> (memref<2xbf16>, memref<2x3xi1>, memref<3xi64>) {
      %s = host.call "aten.sum.dim_IntList"(%x) args [unit, [1], false] : (memref<2x3xbf16>) -> (memref<2xbf16>)
      %g = host.call "aten.gt.Scalar"(%x) args [unit, 2.0 : f64] : (memref<2x3xbf16>) -> (memref<2x3xi1>)
      %a = host.call "aten.arange.start"() args [2, 5] : () -> (memref<3xi64>)
      func.return %s, %g, %a : memref<2xbf16>, memref<2x3xi1>, memref<3xi64>
    }
    """
    s, g, a = run_text(text, np.array([[256, 1, 1], [1, 2, 3]], np.float32))
    assert s.tolist() == [258, 6] and a.tolist() == [2, 3, 4]
    assert g.tolist() == [[True, False, False], [False, False, True]]


def test_an_unknown_operator_is_named() -> None:
    """With the place of the call."""
    text = """
    func.func @f(%x: memref<2xf32>) -> memref<2xf32> {
      %s = host.call "aten.unheard_of.default"(%x) args [unit] : (memref<2xf32>) -> (memref<2xf32>)
      func.return %s : memref<2xf32>
    }
    """
    with pytest.raises(VerifyError, match=r"<string>:3:12: error: .* 'aten.unheard_of.default' is no operator"):
        run_text(text, np.zeros(2, np.float32))
    with pytest.raises(UnsupportedError, match=r"<string>:3:12: error: .* 'aten.erfinv.default'"):
        run_text(text.replace("unheard_of", "erfinv"), np.zeros(2, np.float32))


def test_arguments_that_no_operator_takes_are_refused() -> None:
    """With the place of the call."""
    text = """
    func.func @f(%x: memref<2xf32>) -> memref<2xf32> {
      %s = host.call "aten.exp.default"(%x) args [unit, "spam", [3]] : (memref<2xf32>) -> (memref<2xf32>)
      func.return %s : memref<2xf32>
    }
    """
    with pytest.raises(UnsupportedError, match=r"<string>:3:12: error: 'aten.exp.default' does not take"):
        run_text(text, np.zeros(2, np.float32))


def test_fresh_memory_is_poison() -> None:
    """What nobody wrote is NaN, or a number that nothing computes."""
    text = """
    func.func @f() -> (memref<2xf32>, memref<2xi32>) {
      %a = host.alloc : memref<2xf32>
      %b = host.alloc : memref<2xi32>
      func.return %a, %b : memref<2xf32>, memref<2xi32>
    }
    """
    a, b = run_text(text)
    assert np.isnan(a).all() and (b == 0x5A5A5A5A).all()


def test_wrong_arguments() -> None:
    """A missing function, a wrong count, a wrong shape."""
    module = parse_module("func.func @f(%x: memref<2xf32>) {\n  func.return\n}")
    with pytest.raises(ArgumentError, match="no function 'g'"):
        run(module, "g", [])
    with pytest.raises(ArgumentError, match="takes 1 arrays, found 0"):
        run(module, "f", [])
    with pytest.raises(ArgumentError, match="found shape"):
        run(module, "f", [np.zeros(3, np.float32)])
    with pytest.raises(ArgumentError, match="found int32"):
        run(module, "f", [np.zeros(2, np.int32)])
