"""Every elementwise row computes what torch computes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kopt.dialects.tile import TABLE
from kopt.dialects.tile.elementwise import BITS, FLOAT, INTEGER, PREDICATE
from kopt.interpreter.elementwise import compute

ROWS = {row.name: row for row in TABLE}
#: torch's function for the rows whose name it does not share.
TORCH = {
    "truncdiv": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "floordiv": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "mod": torch.remainder,
    "rem": torch.fmod,
    "fma": lambda a, b, c: (a.double() * b.double() + c.double()).to(a.dtype),
    "not": torch.bitwise_not,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "shl": torch.bitwise_left_shift,
    "shr": torch.bitwise_right_shift,
}
FLOAT_EDGES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, -7.0, 1e-30, 1e30, 88.8, -104.0]
SPECIAL = [float("inf"), float("-inf"), float("nan")]
INTEGER_EDGES = [0, 1, -1, 2, -2, 3, -3, 7, -7, 100, -100, 2**31 - 1, -(2**31)]


def function(name: str):
    """torch's function for a row."""
    return TORCH.get(name) or getattr(torch, name)


def grids(values: list, arity: int) -> list[np.ndarray]:
    """Every combination of the values, one array an operand."""
    return [array.reshape(-1) for array in np.meshgrid(*[np.asarray(values)] * arity)]


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.rule not in (INTEGER, BITS)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats(name: str, dtype) -> None:
    """Edge cases crossed with each other."""
    arrays = [array.astype(dtype) for array in grids(FLOAT_EDGES + SPECIAL, ROWS[name].arity)]
    with np.errstate(all="ignore"):
        found = compute(name, *arrays).astype(bool if ROWS[name].rule.gives else dtype)
    # torch's vectorised f32 remainders miss some infinite operands, its sinh and cosh overflow early without AVX-512;
    # its f64 ones are exact.
    exact = [array.astype(np.float64) for array in arrays] if name in ("mod", "rem", "sinh", "cosh") else arrays
    with np.errstate(over="ignore"):
        expected = function(name)(*(torch.from_numpy(array) for array in exact)).numpy().astype(found.dtype)
    tolerance = 3e-6 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=0 if name != "tan" else 1e-5)


DIVISIONS = ("floordiv", "truncdiv", "mod", "rem")


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.rule not in (FLOAT, PREDICATE)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.int8])
def test_integers(name: str, dtype) -> None:
    """Wrapping, negative operands, powers; not division by zero, which torch refuses."""
    values = [value for value in INTEGER_EDGES if np.iinfo(dtype).min <= value <= np.iinfo(dtype).max]
    arrays = [array.astype(dtype) for array in grids(values, ROWS[name].arity)]
    if name in DIVISIONS:
        fine = (arrays[1] != 0) & ~((arrays[1] == -1) & (arrays[0] == np.iinfo(dtype).min))
        arrays = [array[fine] for array in arrays]
    if name in ("shl", "shr", "pow"):
        few = (arrays[1] >= (-3 if name == "pow" else 0)) & (arrays[1] < 8)
        arrays = [array[few] for array in arrays]
    found = compute(name, *arrays)
    expected = function(name)(*(torch.from_numpy(array) for array in arrays)).numpy()
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def test_booleans() -> None:
    """Logic on i1 is logic."""
    a, b = np.array([True, True, False]), np.array([True, False, False])
    assert compute("not", a).tolist() == [False, False, True]
    assert compute("xor", a, b).tolist() == [False, True, False]
    assert compute("lt", b, a).tolist() == [False, True, False]
