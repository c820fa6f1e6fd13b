"""What the judge makes of functions whose results torch leaves undefined, or computes wrongly in whole vectors."""

from __future__ import annotations

import math

import pytest
import torch

from test.property.noise import Noise

#: As many runs as the judge makes at most.
RUNS = 60
LARGE = [3e38, -3e38, 1e4, -1.0, 5.5, -5.5, 0.0, math.inf] * 4
DIVISORS = [0.57, 0.57, 1e-37, -1e-40, 2.0, 2.0, 3.0, 3.0] * 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("name", ["fmod", "remainder", "%", "of a number"])
def test_remainders_of_large_quotients_are_numbers(name: str, dtype: torch.dtype) -> None:
    """As Python's: torch's vectors of contiguous floats give NaN where the quotient overflows."""
    x, y = torch.tensor(LARGE, dtype=torch.float64).to(dtype), torch.tensor(DIVISORS, dtype=torch.float64).to(dtype)
    functions = {"%": lambda x, y: x % y, "of a number": lambda x, y: 3e38 % y}
    x = torch.full_like(y, 3e38) if name == "of a number" else x
    with Noise(None):
        found = functions.get(name, getattr(torch, name, None))(x, y)
    wanted = [_remainder(name, *pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]
    assert found.tolist() == pytest.approx(wanted, rel=2 * torch.finfo(dtype).eps, abs=0, nan_ok=True)


def _remainder(name: str, x: float, y: float) -> float:
    if math.isinf(x):
        return math.nan
    rest = math.fmod(x, y)
    return rest + y if name != "fmod" and rest and (rest < 0) != (y < 0) else rest


def test_one_undefined_integer_may_be_0_and_the_next_one_an_end() -> None:
    """A cast of 0 / 0, and one of the quotient by that: in some run the first is 0, and the second is not."""
    found = set()
    for seed in range(RUNS):
        with Noise(torch.Generator().manual_seed(seed)):
            first = (torch.zeros(4) / torch.zeros(4)).to(torch.int8)
            second = (torch.ones(4) / first).to(torch.int8)
        if not first.any():
            found.update(second.tolist())
    assert {-128, 0, 127} <= found


def test_integers_that_are_defined_stay() -> None:
    """Beside others that are not."""
    for seed in range(RUNS):
        with Noise(torch.Generator().manual_seed(seed)):
            found = torch.tensor([1.0, math.nan, -128.9, 127.9, 300.0]).to(torch.int8)
        assert found[[0, 2, 3]].tolist() == [1, -128, 127]


@pytest.mark.parametrize("name", ["prod", "cumprod"])
@pytest.mark.parametrize(
    ("terms", "other"), [([1e3, 6e-3, 2e-36, 1e-3], 0.0), ([1e-3, 6e3, 2e36, 1e3], math.nan)], ids=["small", "large"]
)
def test_products_are_those_of_any_order(name: str, terms: list[float], other: float) -> None:
    """The last two terms make a subnormal number, or one that is too large: all four may be 0, or no number."""
    x, found = torch.tensor([terms, [2.0, 3.0, 4.0, 5.0]]), []
    for seed in range(4):
        with Noise(torch.Generator().manual_seed(seed)):
            products = getattr(torch, name)(x, 1).reshape(2, -1)
        found.append(products[0, -1].item())
        assert products[1, -1].item() == pytest.approx(120, rel=1e-6)
        assert products[0, :-1][:2].tolist() == pytest.approx([terms[0], 6][: products.shape[1] - 1], rel=1e-6)
    assert str(other) in map(str, found)
