"""How products of f32 are rounded: by every word of ``dot_precision``, on every CPU target and for chips."""

import pytest
import torch

import kopt
import kopt.language as hl

#: What an element of a product may be off by, of the sum of its terms' sizes: rounded parts, the product that is left
#: out, and f32's half digit for each of the terms that are added.
ROUNDED = {"ieee": 0.0, "tf32": 2.0**-9, "bf16": 2.0**-6, "tf32x3": 2.0**-18, "bf16x3": 2.0**-14}
DEEP = 128
CHIPS = ("sm75", "sm90", "gfx90a", "gfx942")


def product(x, y):
    out = torch.empty([x.size(0), y.size(1)], dtype=torch.float32)
    for i, j in hl.tile(out.size(), block_size=[16, 32]):
        acc = hl.full([i, j], 1.0)
        for k in hl.tile(x.size(1), block_size=64):
            acc = torch.addmm(acc, x[i, k], y[k, j])
        out[i, j] = acc
    return out


def rounded(x, y, precision, target):
    return kopt.kernel(product, target=target, config={"dot_precision": precision})(x, y)


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
@pytest.mark.parametrize("precision", ROUNDED)
def test_values(target, precision):
    """Numbers of several sizes, against f64."""
    torch.manual_seed(3)
    x, y = (torch.randn(shape) * torch.exp2(torch.randint(-8, 9, shape)) for shape in ((20, DEEP), (DEEP, 40)))
    exact, sizes = x.double() @ y.double() + 1, x.double().abs() @ y.double().abs() + 1
    off = (rounded(x, y, precision, target).double() - exact).abs() / sizes
    assert off.max() <= ROUNDED[precision] + (DEEP + 1) * 2.0**-24


@pytest.mark.parametrize("precision", ["tf32x3", "bf16x3"])
@pytest.mark.parametrize("target", ["triton:interpret", "pallas:interpret"])
def test_numbers_that_are_not_finite(target, precision):
    """Parts of an infinity are no numbers, and do not reach the sum."""
    x, y = torch.full((16, DEEP), 0.7), torch.full((DEEP, 32), 0.999)
    x[3, 5], x[4, 6], x[5, 7] = float("inf"), float("-inf"), float("nan")
    expected = x @ y + 1
    torch.testing.assert_close(rounded(x, y, precision, target), expected, rtol=2.0**-14, atol=0, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
def test_compiles(chip):
    """Each precision is one that Triton has for the chip, or an exact product in its place."""
    x, y = torch.randn(64, DEEP), torch.randn(DEEP, 64)
    for precision in ("tf32x3", "bf16x3"):
        config = {"dot_precision": precision}
        report = kopt.kernel(product, config=config).lower(x, y, target=f"triton:{chip}").report(estimates=False)
        assert report["legal"], (precision, report["reason"])
