"""The element types that a TPU kernel is given arrays in."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerType, MemRefType, Signedness, bf16, f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Attribute

from kopt.analysis.storage import is_narrow_integer, stored_bits, stored_element, wide

I16, UI8, UI32 = IntegerType(16), IntegerType(8, Signedness.UNSIGNED), IntegerType(32, Signedness.UNSIGNED)


@pytest.mark.parametrize(
    "element, array, scalar",
    [
        (f32, f32, f32),
        (bf16, bf16, f32),
        (f16, f32, f32),
        (f64, f64, f64),
        (i1, i8, i32),
        (i8, i8, i32),
        (UI8, UI8, i32),
        (I16, I16, i32),
        (i32, i32, i32),
        (UI32, UI32, UI32),
        (i64, i32, i32),
    ],
)
def test_arrays_and_scalars(element: Attribute, array: Attribute, scalar: Attribute) -> None:
    for shape, wanted in (((8, 128), array), ((0,), array), ((), scalar)):
        type = MemRefType(element, shape)
        assert stored_element(type) == wanted
        assert stored_bits(type) == getattr(wanted, "bitwidth", None)


@pytest.mark.parametrize(
    "element, wanted",
    [(bf16, f32), (f16, f32), (f32, f32), (f64, f64), (i1, i32), (i8, i32), (UI8, i32), (I16, i32), (i32, i32),
     (UI32, UI32), (i64, i64)],
)  # fmt: skip
def test_what_is_narrower_than_32_bits_is_widened(element: Attribute, wanted: Attribute) -> None:
    assert wide(element) == wanted


@pytest.mark.parametrize("element", [f32, bf16, i1, i8, UI8, I16, i32, UI32, i64])
def test_narrow_integers_have_8_or_16_bits(element: Attribute) -> None:
    assert is_narrow_integer(element) is (element in (i8, UI8, I16))
