"""Divisions of integers by 0: nothing dies of them, and all give what the reference gives; others look for nothing."""

from __future__ import annotations

import typing
from collections.abc import Callable

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import IntegerType, Signedness, i8, i16, i32
from xdsl.ir import Attribute, Operation, SSAValue

import kopt
import kopt.language as hl
from kopt.dialects.tile import ELEMENTWISE, FullOp, TileType
from kopt.dtypes import from_ir
from kopt.interpreter.elementwise import compute
from test.pallas_values.support import emit, run

DIVISIONS = ("floordiv", "truncdiv", "mod", "rem")
ELEMENTS = {
    "i8": i8,
    "i16": i16,
    "i32": i32,
    "u8": IntegerType(8, Signedness.UNSIGNED),
    "u32": IntegerType(32, Signedness.UNSIGNED),
}
#: Of torch's own functions: what each does of two vectors.
FUNCTIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "fmod": torch.fmod,
    "remainder": torch.remainder,
    "floor_divide": torch.floor_divide,
    "div trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "div floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
}
DTYPES = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)


def _constants(dividend: int, divisor: int, element: Attribute) -> list[FullOp]:
    return [FullOp(number, TileType([8], element)) for number in (dividend, divisor)]


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", DIVISIONS)
def test_constants_by_zero(name: str, element: str) -> None:
    """Constants, which XLA folds, are 0 by 0; the lowest number by -1 wraps."""
    type = ELEMENTS[element]
    dtype = from_ir(type)
    assert dtype is not None
    lowest = np.iinfo(dtype.numpy).min
    pairs = [(7, 0), (0, 0), *([(lowest, -1)] if lowest else [])]

    def build(pair: tuple[int, int]) -> Callable[[SSAValue], list[Operation]]:
        return lambda _: [*(both := _constants(*pair, type)), ELEMENTWISE[name](*both)]

    found = run([TileType([8], i32)], [np.zeros(8, np.int32)], *map(build, pairs))
    for pair, result in zip(pairs, found, strict=True):
        expected = compute(name, *(np.full(8, number, dtype.numpy) for number in pair))
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("divisor", "guarded"),
    [
        ("7", False),
        ("b", True),
        ("b % 3 + 1", False),
        ("torch.clamp(b, min=1)", False),
        ("b % 3", True),
    ],
)
def test_only_divisors_that_may_be_zero_are_looked_at(divisor: str, guarded: bool, tmp_path) -> None:
    """A divisor that is known not to be 0 costs nothing."""
    from test.special_values.kernels import compiled, source

    a = torch.ones(8, dtype=torch.int32)
    text = source([f"torch.fmod(x, {divisor.replace('b', 'y')})"], [torch.int32])
    low = kopt.kernel(compiled(text, tmp_path)).lower(a, a, a, target="pallas:interpret")
    assert ("_divided(" in low.source) == guarded


def of_constants(x, of, dividend, divisor, dtype):
    """What a function gives of two constants."""
    out = torch.empty(x.shape, dtype=dtype)
    for i in hl.tile(x.size(0)):
        out[i] = of(hl.full([i], dividend, dtype=dtype), hl.full([i], divisor, dtype=dtype))
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of", FUNCTIONS)
def test_functions_of_constants(of: str, dtype: torch.dtype) -> None:
    """A kernel that divides constants by 0 compiles, runs, and says what the reference says."""
    x = torch.zeros(8)
    on = [kopt.kernel(of_constants).on(target) for target in ("reference", "pallas:interpret")]
    expected, found = (kernel(x, FUNCTIONS[of], 7, 0, dtype) for kernel in on)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def of_scalars(x, n, out):
    """Arithmetic of loaded numbers, and of constants."""
    for i in hl.tile(x.size(0), block_size=4):
        out[i] = x[i] + n[0] // n[1] + n[0] % n[1]


def test_loaded_numbers() -> None:
    """Scalars by 0 too."""
    x, n = torch.zeros(8, dtype=torch.int32), torch.tensor([7, 0], dtype=torch.int32)
    for target in ("reference", "pallas:interpret"):
        out = torch.full((8,), 5, dtype=torch.int32)
        kopt.kernel(of_scalars).on(target)(x, n, out)
        assert out.tolist() == [0] * 8


def test_the_guard_is_short() -> None:
    """One call of a helper that is written once."""
    type = TileType([8], i32)
    text, _ = emit([type, type], [lambda a, b: [ELEMENTWISE["rem"](a, b)], lambda a, b: [ELEMENTWISE["rem"](b, a)]])
    assert text.count("def _divided(") == 1 and text.count(" = _divided(jax.lax.rem, ") == 2


def between_tensors(a, b, out, by_three, divide):
    """Divisions before the loop, by a tensor and by a number."""
    quotients, thirds = divide(a, b), divide(a, 3)
    for i in hl.tile(a.size(0)):
        out[i], by_three[i] = quotients[i], thirds[i]


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_host_tensors(name: str, dtype: torch.dtype) -> None:
    """Divisions of host tensors, also by a number, are the reference's: integers by 0 are 0."""
    a = torch.tensor([7, -7, 7, -7, 100, 0, 7, -128]).to(dtype)
    b, three = torch.tensor([3, 3, -3, -3, 7, 5, 0, -1]).to(dtype), typing.cast(torch.Tensor, 3)
    found, expected = ([torch.zeros(8, dtype=dtype) for _ in range(2)] for _ in range(2))
    kopt.kernel(between_tensors).on("pallas:interpret")(a, b, *found, FUNCTIONS[name])
    kopt.kernel(between_tensors).on("reference")(a, b, *expected, FUNCTIONS[name])
    torch.testing.assert_close(found, expected, equal_nan=True)
    torch.testing.assert_close(found[0][:6], FUNCTIONS[name](a[:6], b[:6]), equal_nan=True)
    torch.testing.assert_close(found[1], FUNCTIONS[name](a, three), equal_nan=True)
