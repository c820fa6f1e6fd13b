"""Numbers that each call gives: what Python computes with them, and what asks for the number itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import UnsupportedError
from kopt.open_extents import NeedsConstant
from kopt.runtime.run_time_scalars import RunTimeScalar, ScalarArgument

from .support import imported, seen, seen_before

FLOAT, INT = RunTimeScalar("float"), RunTimeScalar("int")
F, I = ("argument", ("given", 0)), ("argument", ("given", 1))
X = torch.randn(8, 16)


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        (lambda f, n: f, (F, float)),
        (lambda f, n: n, (I, int)),
        (lambda f, n: f + 1, (("add", F, 1), float)),
        (lambda f, n: 1 - n, (("sub", 1, I), int)),
        (lambda f, n: n - 1, (("sub", I, 1), int)),
        (lambda f, n: n * 2.0, (("mul", I, 2.0), float)),
        (lambda f, n: f * n, (("mul", F, I), float)),
        (lambda f, n: n // 2, (("floordiv", I, 2), int)),
        (lambda f, n: n / 2, (("truediv", I, 2), float)),
        (lambda f, n: 2 / f, (("truediv", 2, F), float)),
        (lambda f, n: 7 % n, (("mod", 7, I), int)),
        (lambda f, n: f**2, (("pow", F, 2), float)),
        (lambda f, n: 2.0**n, (("pow", 2.0, I), float)),
        (lambda f, n: -n, (("neg", I), int)),
        (lambda f, n: +f, (("pos", F), float)),
        (lambda f, n: abs(n), (("abs", I), int)),
        (lambda f, n: True + n, (("add", True, I), int)),
        (lambda f, n: math.sqrt(n), (("sqrt", I), float)),
        (lambda f, n: math.exp(f - 1), (("exp", ("sub", F, 1)), float)),
    ],
    ids=range(19),
)
def test_what_python_computes(of: Callable[..., Any], wanted: tuple[object, type]) -> None:
    found = seen_before(of, FLOAT, INT)
    assert (found.expression, found.kind) == wanted


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        (lambda f, n: (type(f), type(n)), (float, int)),
        (lambda f, n: (isinstance(f, float), isinstance(n, int), isinstance(n, float)), (True, True, False)),
    ],
    ids=["type", "isinstance"],
)
def test_what_python_knows(of: Callable[..., object], wanted: object) -> None:
    assert seen_before(of, FLOAT, INT) == wanted


@pytest.mark.parametrize(
    "of",
    [
        lambda f, n: n**2,
        lambda f, n: 2**n,
        lambda f, n: f > 0,
        lambda f, n: 0 == n,
        lambda f, n: bool(f),
        lambda f, n: int(f),
        lambda f, n: float(n),
        lambda f, n: f"{f}",
        lambda f, n: str(n),
        lambda f, n: [1, 2][n],
        lambda f, n: {f: 1},
        lambda f, n: round(f),
        lambda f, n: math.ceil(f),
        lambda f, n: math.atan2(f, 1),
        lambda f, n: divmod(n, 2),
        lambda f, n: torch.exp(f),
        lambda f, n: torch.ones(3) * f,
        lambda f, n: torch.add(torch.ones(3), other=n),
        lambda f, n: torch.empty([n]),
        lambda f, n: torch.ones(3).sum(dim=[n]),
    ],
    ids=range(20),
)
def test_what_needs_the_number(of: Callable[..., object]) -> None:
    with pytest.raises(NeedsConstant, match=r"the value of 'given\.[01]', which differs from call to call, is needed"):
        seen_before(of, FLOAT, INT)


def test_words_are_no_numbers() -> None:
    for of in (lambda f: f + "a", lambda f: None * f):
        with pytest.raises(UnsupportedError, match="TypeError"):
            seen_before(of, FLOAT)


def test_what_all_numbers_are_named_for() -> None:
    with pytest.raises(NeedsConstant, match=r"the value of 'given\.0', 'given\.1', which"):
        seen_before(lambda f, n: bool(f * n), FLOAT, INT)


@pytest.mark.parametrize(
    ("of", "dtype"),
    [
        (lambda x, v, t, f, n: v * f, torch.float32),
        (lambda x, v, t, f, n: f + v.half(), torch.float16),
        (lambda x, v, t, f, n: v.int() * n, torch.int32),
        (lambda x, v, t, f, n: v.int() * f, torch.float32),
        (lambda x, v, t, f, n: n - v.long(), torch.int64),
        (lambda x, v, t, f, n: next(map(torch.add, [f], [v])), torch.float32),
        (lambda x, v, t, f, n: next(map(torch.add, [v], [f])), torch.float32),
        (lambda x, v, t, f, n: torch.add(v, other=f), torch.float32),
    ],
    ids=range(8),
)
def test_what_devices_compute(of: Callable[..., Any], dtype: torch.dtype) -> None:
    assert seen(of, X, FLOAT, INT).dtype == dtype


def test_devices_have_no_small_integers_of_a_call() -> None:
    with pytest.raises(NeedsConstant):
        seen(lambda x, v, t, n: v.to(torch.int8) * n, X, INT)


def test_what_it_is_called() -> None:
    for number, name in ((FLOAT, "a float that each call gives"), (INT, "an int that each call gives")):
        with pytest.raises(UnsupportedError, match=f"found {name}"):
            seen(lambda x, v, t, n: hl.jagged_tile(n), X, number)


ROW = torch.arange(16.0)


def written(x, by, out):
    for i in hl.tile(x.size(0), block_size=4):
        v = x[i, :] * ROW[:] * by
        out[i, :] = v + (by + 1) * v * by


def test_arguments_that_hold_numbers() -> None:
    """One for each number that is computed, behind the tensors and before hidden ones."""
    found = imported(written, X, FLOAT, X.clone())
    by = ("argument", ("by",))
    assert [(param.name, param.path) for param in found.params] == [
        ("x", ("x",)),
        ("out", ("out",)),
        ("by", ScalarArgument(by, "f32")),
        ("by_2", ScalarArgument(("add", by, 1), "f32")),
        ("hidden_0", ()),
    ]
    assert found.mutated == [1] and found.hidden == [ROW]


def bounded(x, low):
    out, counts = torch.empty_like(x), torch.zeros([8])
    for i in hl.tile(x.size(0), block_size=4):
        out[i, :] = torch.clamp(x[i, :], min=low)
        hl.atomic_add(counts, [i], low)
    return out, counts


@pytest.mark.parametrize("low", [0.25, 0.0, -0.0, -1.5])
def test_values_of_calls(low: float) -> None:
    kernel = kopt.kernel(bounded, dynamic=["low"]).on("reference")
    for number in (low, 0.5):
        out, counts = kernel(X, number)
        torch.testing.assert_close(out, X.clamp(min=number), atol=0, rtol=0)
        torch.testing.assert_close(counts, torch.full([8], number), atol=0, rtol=0)


@pytest.mark.parametrize(("number", "dtype"), [(INT, torch.int32), (INT, torch.float32), (FLOAT, torch.float32)])
def test_updates_by_numbers_of_calls(number: RunTimeScalar, dtype: torch.dtype) -> None:
    def kernel(out, n):
        for i in hl.tile(8, block_size=4):
            hl.atomic_add(out, [i], n)

    held = "f32" if dtype.is_floating_point else "i32"
    found = imported(kernel, torch.zeros(8, dtype=dtype), number)
    assert [param.path for param in found.params[1:]] == [ScalarArgument(("argument", ("n",)), held)]


@pytest.mark.parametrize(("number", "dtype"), [(FLOAT, torch.int32), (INT, torch.bool), (FLOAT, torch.bool)])
def test_updates_that_need_the_number(number: RunTimeScalar, dtype: torch.dtype) -> None:
    def kernel(out, n):
        for i in hl.tile(8, block_size=4):
            hl.atomic_xchg(out, [i], n)

    with pytest.raises(NeedsConstant):
        imported(kernel, torch.zeros(8, dtype=dtype), number)
