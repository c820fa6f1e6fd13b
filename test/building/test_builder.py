"""`kopt.build`: what a frontend builds is what text spells, runs on every interpreter, and errors name its source."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kopt
from kopt import build
from kopt.dialects.tile import open_blocks

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("reference", "triton:interpret", "pallas:interpret")


def scaled(b: build.OpBuilder, spec: str = "f32[37,50]") -> None:
    with b.function("scaled", {"x": spec}) as (x,):
        out = b.alloc(x.spec)
        with b.grid(x.shape[0], sizes=[16]) as (rows,):
            out[rows, :] = x[rows, :] * 2.0
        b.return_(out)


def softmax(b: build.OpBuilder) -> None:
    with b.function("softmax", {"x": "f32[37,50]"}) as (x,):
        out = b.alloc(x.spec)
        with b.grid(37) as (rows,):
            v = x[rows, :]
            e = (v - v.reduce("max", 1)).exp()
            out[rows, :] = e / e.reduce("add", 1)
        b.return_(out)


def product(b: build.OpBuilder) -> None:
    with b.function("product", {"x": "bf16[37,50]", "y": "bf16[50,20]"}) as (x, y):
        out = b.alloc("bf16[37,20]")
        with b.grid(37, 20) as (rows, columns):
            with b.loop(50, [b.fill(0, "f32", rows, columns)]) as loop:
                loop.yield_(x[rows, loop.range].dot(y[loop.range, columns], loop.carried[0]))
            out[rows, columns] = loop.results[0].cast("bf16")
        b.return_(out)


def test_what_is_built_is_what_the_text_spells():
    b = build.OpBuilder()
    scaled(b)
    text = """
    func.func @scaled(%x: memref<37x50xf32>) -> memref<37x50xf32> {
      %out = host.alloc : memref<37x50xf32>
      tile.grid (%i: b0=16) in (37) {
        %v = tile.load %x[%i, :] : memref<37x50xf32> -> !tile.tile<b0=16 x 50 x f32>
        %c = tile.full 2.0 : !tile.tile<b0=16 x 50 x f32>
        %r = tile.mul %v, %c : !tile.tile<b0=16 x 50 x f32>
        tile.store %r, %out[%i, :] : !tile.tile<b0=16 x 50 x f32>, memref<37x50xf32>
      }
      func.return %out : memref<37x50xf32>
    }"""
    assert b.module.is_structurally_equivalent(kopt.parse(text))


@pytest.mark.parametrize("target", TARGETS)
def test_a_kernel_of_whole_rows_runs(target: str):
    b = build.OpBuilder()
    softmax(b)
    x = np.random.default_rng(0).standard_normal((37, 50), np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    got = _run(b, target, x)
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)  # sums of 50 in f32


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_carries_an_accumulator(target: str):
    b = build.OpBuilder()
    product(b)
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((37, 50), (50, 20)))
    want = x @ y  # sums of small integers are exact in f32, and rounded once to 8 bits
    np.testing.assert_allclose(_run(b, target, x, y, dtype="bfloat16"), want, rtol=2**-8)


def test_sizes_are_open_unless_they_are_given():
    fixed, open_ = build.OpBuilder(), build.OpBuilder()
    scaled(fixed)
    product(open_)
    assert open_blocks(next(iter(fixed.module.ops))) == []
    assert [block.tags for block in open_blocks(next(iter(open_.module.ops)))] == [("b0",), ("b1",), ("b2",)]


def test_what_depends_on_a_size_is_told_of_the_ir():
    b = build.OpBuilder()
    with b.function("f", {"x": "f32[64,8]"}) as (x,):
        out = b.alloc("i32[8]")
        with b.grid(64, 8) as (rows, columns):
            x[rows, columns].reshape(rows.dim.size.data * columns.dim.size.data)
        with b.grid(8) as (rows,):
            out[rows] = rows.id.splat().over(rows)
        b.return_(out)
    flags = [(block.observed, block.sized) for block in open_blocks(next(iter(b.module.ops)))]
    assert flags == [(False, True), (False, True), (True, False)]


def test_atomics_conditions_shifts_and_gathers():
    b = build.OpBuilder()
    with b.function("f", {"x": "f32[40]", "n": "i32[16]"}) as (x, n):
        out, total = b.alloc("f32[16]", 0.0), b.alloc("f32[1]", 0.0)
        with b.grid(16, sizes=[8]) as (rows,):
            out[rows] = x[rows + 4] + x[n[rows]] + (rows.begin * 2 - 1).splat().cast("f32").over(rows)
            total.atomic("add", x[rows].reduce("add", rows), 0)
            with b.when(x[rows].reduce("max", rows) < 8.0):
                out[rows] = -1.0
        b.return_(out, total)
    x, n = np.arange(40, dtype=np.float32), np.arange(16, dtype=np.int32)[::-1].copy()
    got, total = (np.asarray(each) for each in kopt.lower_module(b.module, target="reference").compile()(x, n))
    rows = np.arange(16)
    begin = rows // 8 * 8 * 2 - 1
    np.testing.assert_array_equal(got, np.where(rows < 8, -1.0, x[rows + 4] + x[n[rows]] + begin))
    assert total == x[:16].sum()


def test_numbers_in_order_begin_where_they_are_told_and_go_by_steps():
    b = build.OpBuilder()
    with b.function("f", {}) as ():
        out = b.alloc("i32[4]")
        with b.grid(1):
            out[:] = b.arange(4, 3, 2)
        b.return_(out)
    assert np.asarray(kopt.lower_module(b.module, target="reference").compile()()).tolist() == [3, 5, 7, 9]


SOURCE = "one\n  two three\n"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda x, y, i, j: x[i, j] + y[i, j], "tile.add needs one element type, found f32 and i32"),
        (lambda x, y, i, j: y[i, j].exp(), "tile.exp needs f32 or f64, found i32"),
        (lambda x, y, i, j: x[i, :] + x[:, j], "tiles do not broadcast"),
        (lambda x, y, i, j: x[i], "an array of 2 dimensions has as many indices, found 1"),
        (lambda x, y, i, j: x[i, j].over(i), "has a dimension that is not among [b0=8]"),
        (lambda x, y, i, j: x[i, :].reduce("add", j), "has no dimension of the range 'b1'"),
        (lambda x, y, i, j: x[i, j].dot(x[i, j]), "tile.dot"),
        (lambda x, y, i, j: x.store(y[i, j], i, j), "the block has elements of f32, found i32"),
        (lambda x, y, i, j: x[i, j].reshape(5), "tile.reshape keeps the number of lanes"),
    ],
)
def test_mistakes_point_into_the_source_of_the_frontend(wrong, message: str):
    b = build.OpBuilder()
    b.source("mistake.toy", SOURCE)
    with pytest.raises(kopt.VerifyError) as caught, b.function("f", {"x": "f32[8,8]", "y": "i32[8,8]"}) as (x, y):
        with b.grid(8, 8, sizes=[8, 8]) as (i, j), b.location_of("mistake.toy", 2, 7):
            wrong(x, y, i, j)
    said = str(caught.value)
    assert said.startswith("mistake.toy:2:7: error: ") and message in said
    assert "\n  two three\n      ^" in said
    assert not b.module.body.block.ops.first, "what was left halfway is not in the module"


def test_a_loop_yields_what_it_carries():
    b = build.OpBuilder()
    with pytest.raises(kopt.VerifyError, match="the loop carries"), b.function("f", {"x": "f32[8]"}) as (x,):
        with b.grid(8) as (i,), b.loop(8, [x[i]]) as loop:
            loop.yield_(loop.carried[0].cast("i32"))
    with pytest.raises(kopt.VerifyError, match="carries 1 values and yields none"):
        with b.function("g", {"x": "f32[8]"}) as (x,), b.grid(8) as (i,), b.loop(8, [x[i]]):
            pass


def _run(b: build.OpBuilder, target: str, *arrays: np.ndarray, dtype: str | None = None) -> np.ndarray:
    import torch

    tensors = [torch.from_numpy(array) for array in arrays]
    if dtype is not None:
        tensors = [tensor.to(getattr(torch, dtype)) for tensor in tensors]
    return kopt.lower_module(b.module, target=target).compile()(*tensors).float().numpy()


def test_the_programs_of_the_page_run():
    page = (ROOT / "docs" / "building.md").read_text()
    names: dict = {}
    for program in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(program, names)  # the second begins where the first left off
    x = np.random.default_rng(3).standard_normal((37, 50), np.float32)
    np.testing.assert_allclose(np.asarray(names["softmax"](x)).sum(1), 1, rtol=1e-5)
    assert "tile.dot" in str(names["b"].module)
