"""Casts are torch's, bit for bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from kopt.dtypes import BY_SPEC, DTYPES, to_ir
from kopt.interpreter.rounding import bitcast, bitcast_rows, cast
from kopt.runtime.wire import pack, to_reference

FLOATS = [dtype.spec for dtype in DTYPES if dtype.is_float]
SMALL = ["bf16", "f16", "f8E4M3FN", "f8E5M2"]
INTEGERS = ["i8", "i16", "i32", "i64", "ui8", "i1"]
EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    447.9,
    448.0,
    456.0,
    464.0,
    465.0,
    480.0,
    1e4,
    57344.0,
    61439.0,
    61440.0,
    65504.0,
    65519.9,
]
EDGES += [65520.0, 1e5, 3.3e38, 3.39e38, 3.4e38, float("inf"), float("-inf"), float("nan"), 1 + 2**-8, 1 + 3 * 2**-8]
EDGES += [2.0**-9, 2.0**-10, 1.01 * 2**-10, 2.0**-16, 2.0**-17, 1.01 * 2**-17, 2.0**-24, 2.0**-25, 2.0**-133, 2.0**-134]


def floats(spec: str) -> torch.Tensor:
    """Edge cases and random numbers of every size, as a tensor of the type."""
    random = torch.from_numpy(np.random.default_rng(0).standard_normal(4000))
    numbers = torch.cat(
        [torch.tensor(EDGES, dtype=torch.float64), random * 2.0 ** torch.arange(-60, 60).repeat(34)[:4000]]
    )
    return numbers.to(torch.float32).to(getattr(torch, BY_SPEC[spec].torch))


def assert_cast(value: torch.Tensor, source: str, target: str) -> None:
    """The cast of our copy is our copy of torch's cast."""
    expected = to_reference(pack(value.to(getattr(torch, BY_SPEC[target].torch))))
    found = cast(to_reference(pack(value)), to_ir(BY_SPEC[source]), to_ir(BY_SPEC[target]))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    if BY_SPEC[target].is_float:
        finite = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[finite], np.signbit(expected)[finite])


@pytest.mark.parametrize("source,target", list(itertools.product(FLOATS, FLOATS)))
def test_float_to_float(source: str, target: str) -> None:
    """Nearest even, subnormals, overflow and NaN."""
    assert_cast(floats(source), source, target)


def test_f64_rounds_by_way_of_f32() -> None:
    """torch rounds twice on the way to narrow types."""
    assert_cast(torch.tensor([1 + 2**-8 + 2**-40, 1 + 2**-11 + 2**-40], dtype=torch.float64), "f64", "bf16")
    assert_cast(torch.tensor([1 + 2**-11 + 2**-40], dtype=torch.float64), "f64", "f16")


@pytest.mark.parametrize("source,target", list(itertools.product(["f64", "f32", *SMALL], INTEGERS)))
def test_float_to_integer(source: str, target: str) -> None:
    """Truncated; i1 is whether it is not zero, NaN included."""
    limit = 127 if target == "i8" else 30000
    value = floats(source)
    fits = value.double().abs() < limit
    fits &= (value.double() >= 0) | (target != "ui8")
    assert_cast(value if target == "i1" else value[fits], source, target)


@pytest.mark.parametrize("source,target", list(itertools.product(INTEGERS, [*FLOATS, *INTEGERS])))
def test_from_integers(source: str, target: str) -> None:
    """Integers wrap to narrower integers and round to floats."""
    numbers = torch.tensor([0, 1, 2, -1, 127, 128, 255, 256, 300, 2**24 + 1, -(2**31), 2**31 - 1, 2**53 + 1, -(2**63)])
    assert_cast(numbers.to(getattr(torch, BY_SPEC[source].torch)), source, target)


@pytest.mark.parametrize("spec,integer", [("bf16", "i16"), ("f16", "i16"), ("f32", "i32"), ("f8E5M2", "i8")])
def test_bitcast_goes_and_comes_back(spec: str, integer: str) -> None:
    """Bits are torch's, and back again they are the value."""
    value = floats(spec)
    value = value[~value.float().isnan()]
    held = to_reference(pack(value))
    bits = bitcast(held, to_ir(BY_SPEC[spec]), to_ir(BY_SPEC[integer]))
    np.testing.assert_array_equal(bits, value.view(getattr(torch, BY_SPEC[integer].torch)).numpy())
    np.testing.assert_array_equal(bitcast(bits, to_ir(BY_SPEC[integer]), to_ir(BY_SPEC[spec])), held)


@pytest.mark.parametrize("spec", ["bf16", "f16", "i16", "ui8", "f8E5M2"])
def test_rows_of_words_are_rows_of_narrower_numbers(spec: str) -> None:
    """Row 0 of the words has the lowest bits in row 0, the next in row 1."""
    words = np.array([[[0x41424344, 0x3C3D3E3F], [0x51525354, 0x38393A3B], [1, 2]]], np.int32)
    found = bitcast_rows(words, to_ir(BY_SPEC[spec]))
    narrow = torch.from_numpy(words).view(getattr(torch, BY_SPEC[spec].torch)).reshape(1, 3, 2, -1)
    each = narrow.shape[-1]
    wanted = torch.stack([narrow[0, row // each, :, row % each] for row in range(3 * each)])[None]
    np.testing.assert_array_equal(found, to_reference(pack(wanted.contiguous())))
