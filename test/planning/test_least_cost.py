"""The seconds of launches by their best plans, where these are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt.planning.candidates import candidates
from kopt.planning.cost import cost
from kopt.planning.least_cost import least_seconds
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS

from .launches import attention, grouped, matmul

SIZES = {"b0": 512, "b1": 512, "b2": 256}
PRODUCT, ATTENTION = (
    replace(model, sizes=SIZES) for model in (matmul(4096, 2048, 4096), attention(8, 4096, 4096, 128, False))
)
FITTED = ["tpu7x", "v5p", "v5e"]


@pytest.mark.parametrize("chip", FITTED)
@pytest.mark.parametrize("model", [PRODUCT, ATTENTION], ids=["product", "attention"])
def test_no_plan_is_cheaper(model, chip: str) -> None:
    """It is what some plan takes; none takes less."""
    found = least_seconds([model], TPU_CHIPS[chip])
    all = [float(cost(model, {}, plan, TPU_CHIPS[chip]).seconds) for plan in candidates(model)]
    assert len(set(all)) > 1 and found == min(all)


@pytest.mark.parametrize("chip", FITTED)
def test_no_launch_is_quicker_than_its_products(chip: str) -> None:
    """2 m k n flops at the published peak of all cores of a chip are fewer seconds."""
    one = TPU_CHIPS[chip]
    peak = {"tpu7x": 2307e12, "v5p": 459e12, "v5e": 197e12}[chip]
    found = least_seconds([PRODUCT], one)
    assert found is not None and 2 * 4096 * 2048 * 4096 / peak < found < 1e-2


def test_launches_follow_one_another() -> None:
    chip = TPU_CHIPS["v5p"]
    first, second = (least_seconds([model], chip) for model in (PRODUCT, ATTENTION))
    assert first and second and least_seconds([PRODUCT, ATTENTION, PRODUCT], chip) == first + second + first
    assert least_seconds([], chip) == 0


@pytest.mark.parametrize(
    "chip", [None, GPU_CHIPS["sm90"], TPU_CHIPS["v6e"], TPU_CHIPS["v4"]], ids=["none", "sm90", "v6e", "v4"]
)
def test_other_chips_are_not_known(chip) -> None:
    """None are fitted to measurements."""
    assert least_seconds([PRODUCT], chip) is None


def test_trips_that_a_launch_tells_are_not_known() -> None:
    jagged = replace(grouped(4096, 256, 512, 8), sizes={"b0": 128, "b1": 256, "b2": 64})
    assert least_seconds([jagged], TPU_CHIPS["v5p"]) is None
    assert least_seconds([PRODUCT, jagged], TPU_CHIPS["v5p"]) is None
