"""Constants and rearrangements of lanes against NumPy, and compiled for chips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from xdsl.dialects.builtin import IndexType, bf16, f32, i1, i8, i32
from xdsl.ir import Attribute

from kopt.dialects.tile import (
    ArangeOp,
    BroadcastOp,
    ConcatOp,
    ExtractOp,
    FullOp,
    ReshapeOp,
    SliceOp,
    SplatOp,
    TakeAlongOp,
    TileType,
    TransposeOp,
)
from test.pallas_values.support import CHIPS, Build, compile_for_chips, run


@dataclass(frozen=True)
class Case:
    """An input's shape, the op made from it, and what NumPy makes of it."""

    shape: tuple[int, ...]
    build: Callable[..., list]
    expected: Callable[[np.ndarray], np.ndarray]


def _broadcast(source: tuple[int, ...], target: tuple[int, ...], dims: tuple[int, ...]) -> Case:
    def expected(array: np.ndarray) -> np.ndarray:
        shape = [1] * len(target)
        for size, dim in zip(source, dims, strict=True):
            shape[dim] = size
        return np.broadcast_to(array.reshape(shape), target)

    return Case(source, lambda v: [BroadcastOp(v, dims, v.type.with_dims(target))], expected)


def _reshape(source: tuple[int, ...], target: tuple[int, ...]) -> Case:
    return Case(source, lambda v: [ReshapeOp(v, v.type.with_dims(target))], lambda array: array.reshape(target))


def _transpose(source: tuple[int, ...], order: tuple[int, ...]) -> Case:
    return Case(source, lambda v: [TransposeOp(v, order)], lambda array: np.transpose(array, order))


def _slice(source: tuple[int, ...], *bounds: tuple[int, int, int]) -> Case:
    offsets, sizes, strides = zip(*bounds, strict=True)
    places = tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in bounds)
    return Case(source, lambda v: [SliceOp(v, offsets, sizes, strides)], lambda array: array[places])


def _concat(source: tuple[int, ...], dim: int) -> Case:
    return Case(source, lambda v: [ConcatOp([v, v, v], dim)], lambda array: np.concatenate([array] * 3, dim))


def _take_along(source: tuple[int, ...], dim: int, lanes: tuple[int, ...]) -> Case:
    shape = [1] * len(source)
    shape[dim] = len(lanes)
    target = list(source)
    target[dim] = len(lanes)
    numbers = np.array(lanes).reshape(shape)

    def build(v):
        parts = [
            FullOp(lane, TileType([1 if n == dim else size for n, size in enumerate(source)], i32)) for lane in lanes
        ]
        wanted = ConcatOp(parts, dim)
        return [*parts, wanted, TakeAlongOp(v, wanted, dim)]

    return Case(source, build, lambda array: np.take_along_axis(array, np.broadcast_to(numbers, target), dim))


def _take_rows(source: tuple[int, ...], step: int, count: int) -> Case:
    def build(v):
        row = ArangeOp(1, step, TileType([count], i32))
        wanted = BroadcastOp(row, [0], TileType([count, source[1]], i32))
        return [row, wanted, TakeAlongOp(v, wanted, 0)]

    return Case(source, build, lambda array: array[1 : 1 + step * count : step])


CASES = {
    "columns": _broadcast((64,), (64, 256), (0,)),
    "rows": _broadcast((256,), (64, 256), (1,)),
    "scalar": _broadcast((), (64, 256), ()),
    "ones": _broadcast((64, 1), (64, 256), (0, 1)),
    "middle": _broadcast((4, 128), (4, 16, 128), (0, 2)),
    "leading": _broadcast((16, 128), (4, 16, 128), (1, 2)),
    "minor": _broadcast((4, 16), (4, 16, 128), (0, 1)),
    "outer": _broadcast((4,), (4, 16, 128), (0,)),
    "split major": _reshape((64, 256), (8, 8, 256)),
    "split minor": _reshape((64, 256), (64, 2, 128)),
    "split small": _reshape((64, 96), (64, 3, 32)),
    "merge": _reshape((4, 6, 256), (24, 256)),
    "flatten": _reshape((8, 128), (1024,)),
    "column": _reshape((100,), (100, 1)),
    "squeeze": _reshape((64, 1, 256), (64, 256)),
    "matrix": _transpose((64, 256), (1, 0)),
    "batched": _transpose((4, 40, 128), (0, 2, 1)),
    "outer dims": _transpose((4, 16, 256), (1, 0, 2)),
    "rotated": _transpose((16, 8, 128), (2, 0, 1)),
    "aligned slice": _slice((64, 256), (32, 32, 1), (128, 128, 1)),
    "ragged slice": _slice((64, 256), (3, 17, 1), (5, 100, 1)),
    "strided rows": _slice((64, 256), (1, 16, 4), (0, 256, 1)),
    "strided lanes": _slice((64, 256), (0, 64, 1), (1, 128, 2)),
    "one row": _slice((64, 256), (5, 1, 7), (0, 256, 1)),
    "join rows": _concat((8, 128), 0),
    "join lanes": _concat((8, 128), 1),
    "join ragged": _concat((5, 72), 1),
    "pick lanes": _take_along((8, 128), 1, (5, 0, 127)),
    "pick one lane of several registers": _take_along((16, 384), 1, (300,)),
    "pick one lane of several registers in blocks": _take_along((4, 16, 384), 2, (300,)),
    "pick rows": _take_along((16, 128), 0, (5, 0, 15)),
    "take rows": _take_rows((40, 200), 2, 16),
}
ELEMENTS = {"f32": f32, "bf16": bf16, "i32": i32, "i8": i8, "i1": i1}
#: Scalars below 32 bits exist in no kernel: they are read and computed as 32 bits.
NOT_NARROW = ("scalar",)


def _values(shape: tuple[int, ...], element: Attribute) -> np.ndarray:
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    if element == i1:
        return numbers % 3 == 0
    return (numbers % 101 - 50).astype(np.int32 if element in (i32, i8) else np.float32)


@pytest.mark.parametrize("name", CASES)
def test_rearrangements(name: str) -> None:
    """Every lane of every type lands where NumPy puts it."""
    case = CASES[name]
    arrays = [_values(case.shape, element) for element in ELEMENTS.values()]
    builds = [lambda *inputs, n=n: case.build(inputs[n]) for n in range(len(arrays))]
    results = run([TileType(case.shape, element) for element in ELEMENTS.values()], arrays, *builds)
    for array, found in zip(arrays, results, strict=True):
        np.testing.assert_array_equal(found, case.expected(array).astype(found.dtype))


def test_rows_are_taken_bit_by_bit() -> None:
    """NaN, infinities, signed zeros and large values of other rows do not leak into a taken row."""
    array = np.resize(np.array([np.nan, np.inf, -np.inf, -0.0, 3e38, 1e-45, 1.0000001], np.float32), (40, 200))
    case = CASES["take rows"]
    (found,) = run([TileType(case.shape, f32)], [array], case.build)
    np.testing.assert_array_equal(found.view(np.int32), case.expected(array).view(np.int32))


def test_constants() -> None:
    """Literals, special ones too, splats, extracted scalars and lane numbers."""
    of_f32, of_i32, of_i1 = TileType([8, 128], f32), TileType([16], i32), TileType([8, 128], i1)

    def splat(v):
        scalar = ExtractOp(v, IndexType())
        return [scalar, SplatOp(scalar, of_i32)]

    builds: list[Build] = [
        lambda v: [FullOp(float("-inf"), of_f32)],
        lambda v: [FullOp(float("nan"), of_f32)],
        lambda v: [FullOp(True, of_i1)],
        lambda v: [FullOp(-7, TileType([], i32))],
        splat,
        lambda v: [ArangeOp(3, 2, of_i32)],
    ]
    found = run([TileType([], i32)], [np.array(5, np.int32)], *builds)
    expected = [np.full((8, 128), -np.inf), np.full((8, 128), np.nan), np.full((8, 128), True), -7, np.full(16, 5)]
    for a, b in zip(found, [*expected, np.arange(3, 35, 2)], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("element", ELEMENTS)
def test_compiles(element: str) -> None:
    """Every case compiles: in f32 for each chip, in other types for the one that has the fewest operations."""
    kind = ELEMENTS[element]
    cases = [case for name, case in CASES.items() if kind in (f32, i32) or name not in NOT_NARROW]
    builds = [lambda *inputs, n=n, case=case: case.build(inputs[n]) for n, case in enumerate(cases)]
    chips = CHIPS if kind == f32 else CHIPS[-1:]
    assert not compile_for_chips([TileType(case.shape, kind) for case in cases], builds, chips)
