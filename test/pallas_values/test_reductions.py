"""Ops that combine lanes against the reference interpreter, and compiled for chips."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Attribute

from kopt.dialects.tile import COMBINERS, ArgReduceOp, DotOp, ReduceOp, ScanOp, TileType, neutral
from kopt.interpreter.reductions import COMBINE, combine
from test.pallas_values.support import assert_same, chips_for, compile_for_chips, run

SHAPES = [(16, 256), (5, 100), (70,), (3, 8, 128)]
ELEMENTS = {"f32": f32, "i32": i32, "i1": i1}
FLOAT_KINDS = ("add", "mul", "max", "min")
KINDS = [(e, k) for e in ELEMENTS for k in COMBINERS if e != "f32" or k in FLOAT_KINDS]


def _values(shape: tuple[int, ...], element: Attribute, kind: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    if element == i1:
        return rng.random(shape) < 0.5
    if element == i32:
        return rng.integers(-(2**20), 2**20, shape, dtype=np.int32)
    return (1 + rng.standard_normal(shape) * (0.01 if kind == "mul" else 1)).astype(np.float32)


def _dims(rank: int) -> list[tuple[int, ...]]:
    return [dims for n in range(1, rank + 1) for dims in itertools.combinations(range(rank), n)]


def _kinds(element: str) -> list[str]:
    return [kind for name, kind in KINDS if name == element]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("element", ELEMENTS)
def test_reduce(element: str, shape: tuple[int, ...]) -> None:
    """Every combination of every set of dimensions."""
    cases = [(number, kind, d) for number, kind in enumerate(_kinds(element)) for d in _dims(len(shape))]
    arrays = [_values(shape, ELEMENTS[element], kind) for kind in _kinds(element)]
    builds = [lambda *inputs, n=n, kind=kind, d=d: [ReduceOp(kind, inputs[n], d)] for n, kind, d in cases]
    found = run([TileType(shape, ELEMENTS[element])] * len(arrays), arrays, *builds)
    for value, (number, kind, d) in zip(found, cases, strict=True):
        with np.errstate(over="ignore"):
            expected = combine(kind, arrays[number], d, neutral(kind, ELEMENTS[element]))
        assert_same(value, expected, rtol=1e-4, atol=1e-3 if element == "f32" else 0)


def _reduce(kind: str, dims: tuple[int, ...]):
    return lambda v: [ReduceOp(kind, v, dims)]


@pytest.mark.parametrize("kind", ["max", "min"])
def test_nan_wins(kind: str) -> None:
    """Maxima, minima and their numbers propagate NaN; infinities are ordinary values."""
    array = np.zeros((16, 256), np.float32)
    array[3, 7] = np.nan
    array[5], array[6] = -np.inf, np.inf
    found = run(
        [TileType((16, 256), f32)], [array], lambda v: [ReduceOp(kind, v, [1])], lambda v: [ArgReduceOp(kind, v, 1)]
    )
    best = (np.max if kind == "max" else np.min)(array, axis=1)
    number = (np.argmax if kind == "max" else np.argmin)(array, axis=1)
    np.testing.assert_array_equal(found[0], best)
    np.testing.assert_array_equal(found[1], number)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("element", ["f32", "i32"])
@pytest.mark.parametrize("kind", ["max", "min"])
def test_argreduce(kind: str, element: str, shape: tuple[int, ...]) -> None:
    """The first of equals."""
    array = _values(shape, ELEMENTS[element], kind).round(0)
    builds = [lambda v, d=d: [ArgReduceOp(kind, v, d)] for d in range(len(shape))]
    for d, found in enumerate(run([TileType(shape, ELEMENTS[element])], [array], *builds)):
        np.testing.assert_array_equal(found, (np.argmax if kind == "max" else np.argmin)(array, axis=d))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("element", ["f32", "i32"])
def test_scan(element: str, shape: tuple[int, ...]) -> None:
    """Running combinations along each dimension."""
    cases = [(number, kind, d) for number, kind in enumerate(_kinds(element)) for d in range(len(shape))]
    arrays = [_values(shape, ELEMENTS[element], kind) for kind in _kinds(element)]
    builds = [lambda *inputs, n=n, kind=kind, d=d: [ScanOp(kind, inputs[n], d)] for n, kind, d in cases]
    found = run([TileType(shape, ELEMENTS[element])] * len(arrays), arrays, *builds)
    for value, (number, kind, d) in zip(found, cases, strict=True):
        with np.errstate(over="ignore"):
            expected = COMBINE[kind].accumulate(arrays[number], axis=d, dtype=arrays[number].dtype)
        assert_same(value, expected, rtol=1e-4, atol=1e-3 if element == "f32" else 0)


@pytest.mark.parametrize("precision", [None, "ieee", "tf32", "bf16", "tf32x3", "bf16x3"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_dot(batch: tuple[int, ...], precision: str | None) -> None:
    """Products with and without batch dimensions, added to an accumulator."""
    rng = np.random.default_rng(5)
    shapes = [(*batch, 16, 72), (*batch, 72, 100), (*batch, 16, 100)]
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    build = lambda a, b, c: [DotOp(a, b, c, precision=precision)]  # noqa: E731
    (found,) = run([TileType(shape, f32) for shape in shapes], arrays, build)
    assert_same(found, arrays[0] @ arrays[1] + arrays[2], rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "shape"), list(enumerate(SHAPES)))
@pytest.mark.parametrize("element", ELEMENTS)
def test_compiles(element: str, number: int, shape: tuple[int, ...]) -> None:
    """Every combination compiles."""
    kinds = [kind for e, kind in KINDS if e == element and (element != "i1" or kind != "xor")]
    builds = [_reduce(kind, dims) for kind in kinds for dims in _dims(len(shape))]
    if element != "i1":
        builds += [lambda v, d=d, k=k: [ScanOp(k, v, d)] for k in kinds for d in range(len(shape))]
        builds += [lambda v, d=d: [ArgReduceOp("max", v, d)] for d in range(len(shape))]
    assert not compile_for_chips([TileType(shape, ELEMENTS[element])], builds, chips_for(number))


@pytest.mark.slow
@pytest.mark.parametrize("precision", [None, "ieee", "tf32", "bf16", "tf32x3", "bf16x3"])
@pytest.mark.parametrize(("number", "shapes"), list(enumerate([((16, 72), (72, 100)), ((3, 16, 128), (3, 128, 256))])))
def test_dot_compiles(number: int, shapes: tuple[tuple[int, ...], ...], precision: str | None) -> None:
    """f32 products of every precision compile."""
    build = lambda a, b: [DotOp(a, b, element_type=f32, precision=precision)]  # noqa: E731
    assert not compile_for_chips([TileType(shape, f32) for shape in shapes], [build], chips_for(number))
