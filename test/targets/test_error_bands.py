"""The bands of predicted times: around one, wider where less is known."""

import pytest

from kopt.targets.chips import CHIPS
from kopt.targets.error_bands import error_band


@pytest.mark.parametrize("chip", sorted(CHIPS))
@pytest.mark.parametrize("bound", ["HBM", "MXU", "VPU", "latency", None])
def test_a_band_holds_the_prediction(chip, bound):
    low, high = error_band(CHIPS[chip], bound)
    assert 0 < low < 1 < high < 2


@pytest.mark.parametrize("chip", sorted(CHIPS))
def test_nothing_known_of_the_bound_is_the_widest_band(chip):
    low, high = error_band(CHIPS[chip])
    for bound in ("HBM", "MXU", "VPU"):
        assert low <= error_band(CHIPS[chip], bound)[0] and error_band(CHIPS[chip], bound)[1] <= high


def test_constants_that_are_not_fitted_have_wider_bands():
    assert error_band(CHIPS["v4"])[1] > error_band(CHIPS["v5e"], "MXU")[1]
    assert error_band(CHIPS["sm90"])[1] > error_band(CHIPS["v4"])[1]
