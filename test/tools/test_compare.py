"""The tolerances of ``kopt run --check``."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.dtypes import BY_SPEC, DTYPES
from kopt.tools.compare import EPSILONS, ULPS, compare

F32, BF16, I32 = BY_SPEC["f32"], BY_SPEC["bf16"], BY_SPEC["i32"]


def test_every_float_dtype_has_a_tolerance() -> None:
    """A dtype that is added needs one too."""
    floats = {dtype.spec for dtype in DTYPES if dtype.is_float}
    assert set(ULPS) == set(EPSILONS) == floats


def test_another_order_of_adding_is_the_same() -> None:
    """A long f32 sum forwards and backwards."""
    x = np.random.default_rng(0).standard_normal((64, 4096)).astype(np.float32)
    forwards = np.cumsum(x, axis=1, dtype=np.float32)[:, -1]
    backwards = np.cumsum(x[:, ::-1], axis=1, dtype=np.float32)[:, -1]
    assert compare(forwards, backwards, F32).same


@pytest.mark.parametrize(
    ("dtype", "got", "wanted"),
    [
        (F32, [1.0, 2.0], [1.0, 2.001]),
        (F32, [np.nan], [1.0]),
        (F32, [1.0], [np.nan]),
        (F32, [np.inf], [-np.inf]),
        (BF16, [1.0], [1.1]),
        (I32, [3], [4]),
    ],
)
def test_wrong_is_wrong(dtype, got, wanted) -> None:
    """Also where only the kind of a special value differs."""
    found = compare(np.array(got, dtype.numpy), np.array(wanted, dtype.numpy), dtype)
    assert not found.same and found.worst == (len(got) - 1,)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0])
def test_the_same_is_the_same(value: float) -> None:
    """NaN equals NaN here."""
    array = np.array([value, 1.0], np.float32)
    assert compare(array, array.copy(), F32).same


def test_empty_and_scalar_arrays() -> None:
    """No element, and no axis."""
    assert compare(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), F32).same
    assert not compare(np.float32(1), np.float32(2), F32).same
