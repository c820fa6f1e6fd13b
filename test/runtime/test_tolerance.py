"""Tolerances come from the dtype."""

import numpy as np
import pytest

from kopt.dtypes import BY_SPEC
from kopt.runtime.tolerance import allclose, mismatch, relative

F32, BF16, I32 = BY_SPEC["f32"], BY_SPEC["bf16"], BY_SPEC["i32"]


def test_order():
    assert relative(I32) == 0 < relative(BY_SPEC["f64"]) < relative(F32) < relative(BF16)
    assert relative(F32, 4096) > relative(F32)


def test_f32_sums_in_another_order_agree_and_wrong_sums_do_not():
    x = np.random.default_rng(0).normal(size=(50, 4096)).astype(np.float32)
    exact = x.sum(1, dtype=np.float64).astype(np.float32)
    serial = np.cumsum(x, axis=1)[:, -1]
    assert allclose(serial, exact, F32, reduction_length=4096)
    assert not allclose(x[:, 1:].sum(1), exact, F32, reduction_length=4096)


def test_special_values():
    a = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    assert allclose(a, a.copy(), F32)
    for i, wrong in ((0, 0.0), (1, -np.inf), (1, 3e38), (3, np.nan), (3, np.inf)):
        b = a.copy()
        b[i] = wrong
        assert not allclose(b, a, F32) and not allclose(a, b, F32)


def test_the_worst_element_is_named():
    a, b = np.zeros((2, 3), np.int32), np.zeros((2, 3), np.int32)
    b[1, 2] = 7
    assert mismatch(a, b, I32) == "1 of 6 elements differ; at [1, 2] 0, expected 7"
    assert mismatch(a, b[0], I32) == "shape [2, 3], expected [3]"
    assert mismatch(a[:0], b[:0], I32) is None


def test_big_integers_are_compared_exactly():
    assert not allclose(np.array([2**62]), np.array([2**62 + 1]), BY_SPEC["i64"])


@pytest.mark.parametrize("factor, agrees", [(1, True), (2, True), (4, False)])
def test_bf16_allows_two_ulp(factor, agrees):
    torch = pytest.importorskip("torch")
    x = torch.full((4,), 1.0, dtype=torch.bfloat16)
    y = x.clone()
    y[0] += factor * 2**-6
    assert allclose(y, x, BF16) is (factor * 2**-6 <= relative(BF16) * 2)
    assert allclose(y, x, BF16) is agrees
