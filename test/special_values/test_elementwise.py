"""Every elementwise function of the frontend at special values, on every target, beside torch."""

from __future__ import annotations

import pytest

from kopt.frontend.ops.elementwise import TABLE
from test.special_values.kernels import results
from test.special_values.table import BOOLEAN, FLOAT, INTEGER, WITHOUT_CALLS, names_of
from test.special_values.values import Flushing, difference, keeps_signs_of_zeros, pairs, torch_dtype, value

TARGETS = ("reference", "pallas:interpret", "triton:interpret")
CALLS = {
    **dict.fromkeys(("f32", "bf16", "f16", "f64"), FLOAT),
    **dict.fromkeys(("i32", "i16", "i8", "ui8", "i64"), INTEGER),
    "bool": BOOLEAN,
}
#: Only some 64-bit integers can be held by a TPU, and no f64: see `test_wide_integers`.
ABSENT = {("pallas:interpret", "f64"), ("pallas:interpret", "i64")}
CASES = [(spec, target) for target in TARGETS for spec in CALLS if (target, spec) not in ABSENT]


def test_every_function_is_called() -> None:
    """A new entry of the frontend's table needs a call."""
    called = {name for call in (*FLOAT, *INTEGER, *BOOLEAN) for name in names_of(call)}
    assert set(TABLE) - called - set(WITHOUT_CALLS) == set()
    assert not set(WITHOUT_CALLS) - set(TABLE)


@pytest.mark.parametrize(("spec", "target"), CASES)
def test_special_values(spec: str, target: str, tmp_path) -> None:
    """Zeros of both signs, infinities, NaN, the largest and smallest numbers: every pair of them."""
    on_tpu = target.startswith("pallas")
    calls = [call for call in CALLS[spec] if not on_tpu or "float_power" not in call]  # which is f64
    operands = pairs(torch_dtype(spec))
    dtypes = [value(call, operands).dtype for call in calls]
    found = results(calls, dtypes, operands, target, tmp_path)
    flushing = Flushing() if on_tpu else None
    signs = not target.startswith("triton") or keeps_signs_of_zeros()
    checked = [difference(call, operands, got, flushing, signs) for call, got in zip(calls, found, strict=True)]
    assert not any(checked), "\n".join(filter(None, checked))
