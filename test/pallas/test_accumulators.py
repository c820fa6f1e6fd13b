"""Atomic updates of every type, kind and number of splits: what runs on a TPU computes what the reference does."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp

import kopt
from kopt.dtypes import from_ir
from kopt.interpreter import run
from kopt.runtime.pallas_interpret import PallasRunner
from kopt.runtime.pallas_strict import StrictRunner
from kopt.runtime.tolerance import mismatch
from kopt.runtime.wire import from_reference, unpack
from kopt.targets.target import parse_target
from test.pallas.support import random_array
from test.rotating import rotating

#: Element type, kind of update, number of updates of each element.
SPLITS = [("f32", "add", 1), ("f32", "max", 5), ("bf16", "add", 4), ("bf16", "min", 3), ("f16", "add", 2)]
SPLITS += [("i32", "add", 64), ("i32", "xor", 3), ("i16", "add", 2), ("i8", "max", 4)]
#: What a fresh target holds.
START = {"add": 0, "max": -3, "min": 3, "and": -1, "or": 0, "xor": 0}


def split(dtype: str, kind: str, splits: int, fresh: bool) -> str:
    """``out[i, j] = kind over s of x[s, i] + y[s, j]``, in blocks of 2 of ``s``: one update a block."""
    m, n, k = 20, 130, 2 * splits
    wide = "i32" if dtype.startswith("i") else "f32"
    target = f"memref<{m}x{n}x{dtype}>"
    block, narrow = (f"!tile.tile<b0=8 x b1=128 x {type}>" for type in (wide, dtype))
    rows, columns = (f"!tile.tile<b2=2 x {dim} x {wide}>" for dim in ("b0=8", "b1=128"))
    both = f"!tile.tile<b2=2 x b0=8 x b1=128 x {wide}>"
    cast = "" if dtype == wide else f"%c = tile.cast %a : {block} to {narrow}"
    argument = "" if fresh else f", %out: {target}"
    alloc = f"%out = host.alloc fill {START[kind]} : {target}" if fresh else ""
    return f"""
    func.func @split(%x: memref<{k}x{m}x{wide}>, %y: memref<{k}x{n}x{wide}>{argument}) -> {target} {{
      {alloc}
      tile.grid (%s: b2=2, %i: b0=8, %j: b1=128) in ({k}, {m}, {n}) {{
        %l = tile.load %x[%s, %i] : memref<{k}x{m}x{wide}> -> {rows}
        %r = tile.load %y[%s, %j] : memref<{k}x{n}x{wide}> -> {columns}
        %lw = tile.broadcast %l dims [0, 1] : {rows} to {both}
        %rw = tile.broadcast %r dims [0, 2] : {columns} to {both}
        %t = tile.add %lw, %rw : {both}
        %a = tile.reduce {kind} %t [0] : {both}
        {cast}
        atomic.rmw {kind} %{"c" if cast else "a"}, %out[%i, %j] : {narrow}, {target}
      }}
      func.return %out : {target}
    }}
    """


def matmul(dtype: str, splits: int, size: tuple[int, int, int] = (256, 256, 512)) -> str:
    """``c + x @ y`` in bf16, the product in parts along its inner dimension, each added to ``c`` in memory."""
    m, n, k = size
    step = k // splits
    x, y, c = f"memref<{m}x{k}xbf16>", f"memref<{k}x{n}xbf16>", f"memref<{m}x{n}x{dtype}>"
    l, r, d = f"b0=128 x b2={step} x bf16", f"b2={step} x b1=128 x bf16", "b0=128 x b1=128"
    return f"""
    func.func @matmul(%x: {x}, %y: {y}, %c: {c}) -> {c} {{
      tile.grid (%i: b0=128, %j: b1=128, %k: b2={step}) in ({m}, {n}, {k}) {{
        %l = tile.load %x[%i, %k] : {x} -> !tile.tile<{l}>
        %r = tile.load %y[%k, %j] : {y} -> !tile.tile<{r}>
        %d = tile.dot %l, %r : !tile.tile<{l}>, !tile.tile<{r}> -> !tile.tile<{d} x f32>
        %e = tile.cast %d : !tile.tile<{d} x f32> to !tile.tile<{d} x {dtype}>
        atomic.rmw add %e, %c[%i, %j] : !tile.tile<{d} x {dtype}>, {c}
      }}
      func.return %c : {c}
    }}
    """


def function(text: str) -> FuncOp:
    return next(op for op in kopt.parse(text).body.block.ops if isinstance(op, FuncOp))


def arguments(text: str) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [random_array(type, rng) for type in function(text).function_type.inputs]


def compute(text: str, target: str, values: list[np.ndarray]) -> np.ndarray:
    """The first result of the emitted module."""
    pytest.importorskip("jax")
    low = kopt.lower_module(kopt.parse(text), target=target)
    func = function(text)
    types = [from_ir(type.element_type) for type in func.function_type.inputs if isinstance(type, MemRefType)]
    packed = [from_reference(a, d) for a, d in zip(values, types, strict=True) if d is not None]
    if target.startswith("pallas:strict"):
        runner = StrictRunner(low.source, func.sym_name.data, parse_target(target), False, 64, 120.0)
        return np.asarray(unpack(runner.run(packed)[0], "numpy"))
    arrays = [unpack(array, "jax") for array in packed]
    return np.asarray(PallasRunner(low.source, func.sym_name.data, parse_target(target), False).run(arrays)[0])


def check(text: str, target: str) -> None:
    """The emitted module against the reference."""
    (wanted,) = run(kopt.parse(text), function(text).sym_name.data, arguments(text))
    dtype = from_ir(function(text).function_type.outputs.data[0].element_type)  # pyright: ignore
    assert dtype is not None
    problem = mismatch(compute(text, target, arguments(text)), np.asarray(wanted), dtype, 1000)
    assert problem is None, problem


@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "given"])
@pytest.mark.parametrize(("dtype", "kind", "splits"), SPLITS)
def test_interpreted(dtype: str, kind: str, splits: int, fresh: bool) -> None:
    check(split(dtype, kind, splits, fresh), "pallas:interpret")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "kind", "splits"), [("f32", "add", 3), ("f32", "max", 4), ("bf16", "add", 2), ("i32", "add", 5)]
)
def test_strict(dtype: str, kind: str, splits: int) -> None:
    """On two cores, with races watched and memory full of NaN."""
    check(split(dtype, kind, splits, fresh=False), "pallas:strict")


@pytest.mark.parametrize("target", ["pallas:interpret", pytest.param("pallas:strict", marks=pytest.mark.slow)])
@pytest.mark.parametrize("splits", [1, 4])
def test_bf16_is_rounded_once(splits: int, target: str) -> None:
    """Rounding on each visit would be off by 0.75."""
    text = matmul("bf16", splits)
    values = arguments(text)
    values[2] *= 8
    exact = values[2].astype(np.float64) + values[0].astype(np.float64) @ values[1].astype(np.float64)
    assert np.abs(compute(text, target, values).astype(np.float64) - exact).max() <= 0.25


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "chip"), rotating(["f32", "bf16", "f16", "i8"], "v6e", ("v5e", "tpu7x")))
def test_compiles(dtype: str, chip: str) -> None:
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    text = split("i8", "max", 4, fresh=False) if dtype == "i8" else matmul(dtype, 4)
    report = kopt.lower_module(kopt.parse(text), target=f"pallas:{chip}").report(estimates=False)
    assert report["legal"], report["reason"]
