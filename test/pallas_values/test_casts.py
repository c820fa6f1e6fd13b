"""Casts, bitcasts and select against the reference interpreter, and compiled for chips."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import Float8E4M3FNType, Float8E5M2Type, IntegerType, Signedness, bf16, f32, i1, i8, i16, i32
from xdsl.ir import Attribute

from kopt.dialects.tile import BitcastOp, CastOp, SelectOp, TileType, is_float
from kopt.interpreter.rounding import cast, numpy_type, rounded
from test.pallas_values.support import compile_for_chips, run

ELEMENTS: dict[str, Attribute] = {
    "f32": f32,
    "bf16": bf16,
    "e4m3": Float8E4M3FNType(),
    "e5m2": Float8E5M2Type(),
    "i32": i32,
    "i16": i16,
    "i8": i8,
    "ui8": IntegerType(8, Signedness.UNSIGNED),
    "i1": i1,
}
SHAPE = (32, 128)
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, -2.7, 3.5, 100.4, 126.9, 1.00390625, 0.0078125, 240.0]
INTEGERS = [0, 1, -1, 5, -100, 127, 99]


def _values(element: Attribute) -> np.ndarray:
    """Values that every type holds, or nearly."""
    dtype = numpy_type(element)
    source = FLOATS if np.issubdtype(dtype, np.floating) else INTEGERS
    array = np.resize(np.array(source), SHAPE)
    return array != 0 if element == i1 else rounded(array.astype(np.float32 if source is FLOATS else np.int64), element)


@pytest.mark.parametrize("before", ELEMENTS)
def test_casts(before: str) -> None:
    """As the reference converts: floats round to even or truncate, integers wrap, i1 is ``!= 0``."""
    source = ELEMENTS[before]
    array = np.abs(_values(source)) if is_float(source) else _values(source)
    targets = [target for target in ELEMENTS.values() if target != source]
    results = run([TileType(SHAPE, source)], [array], *[lambda v, t=t: [CastOp(v, t)] for t in targets])
    for target, found in zip(targets, results, strict=True):
        np.testing.assert_array_equal(found, cast(array, source, target).astype(found.dtype))


def test_negative_floats_truncate() -> None:
    """Towards zero, in every signed type."""
    array = _values(f32)
    (found,) = run([TileType(SHAPE, f32)], [array], lambda v: [CastOp(v, i8)])
    np.testing.assert_array_equal(found, cast(array, f32, i8))


def test_bf16_rounds_to_even() -> None:
    """Halfway cases, and what overflows."""
    array = np.resize(np.array([1.00390625, 1.01171875, 3.3e38, 3.4e38, np.inf, np.nan], np.float32), SHAPE)
    (found,) = run([TileType(SHAPE, f32)], [array], lambda v: [CastOp(v, bf16)])
    np.testing.assert_array_equal(found, rounded(array, bf16))


@pytest.mark.parametrize(("before", "after"), [(f32, i32), (i32, f32), (bf16, i16)])
def test_bitcasts(before: Attribute, after: Attribute) -> None:
    """There and back is where it was."""
    array = _values(before)
    (found,) = run([TileType(SHAPE, before)], [array], lambda v: [a := BitcastOp(v, after), BitcastOp(a, before)])
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("element", ELEMENTS)
def test_select(element: str) -> None:
    """Lane by lane, for every type."""
    kind = ELEMENTS[element]
    array = _values(kind)
    condition = np.resize(np.array([True, False, False]), SHAPE)
    types = [TileType(SHAPE, i1), TileType(SHAPE, kind), TileType(SHAPE, kind)]
    other = array[::-1].copy()
    (found,) = run(types, [condition, array, other], lambda c, a, b: [SelectOp(c, a, b)])
    np.testing.assert_array_equal(found, np.where(condition, array, other))


@pytest.mark.slow
@pytest.mark.parametrize("element", ELEMENTS)
def test_compiles(element: str) -> None:
    """Casts from and selects of one type compile for each chip."""
    kind = ELEMENTS[element]
    builds = [lambda c, v, target=target: [CastOp(v, target)] for target in ELEMENTS.values() if target != kind]
    builds.append(lambda c, v: [SelectOp(c, v, v)])
    assert not compile_for_chips([TileType(SHAPE, i1), TileType(SHAPE, kind)], builds)
