"""Constants come back from times that a chip with other ones would take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.planning.calibration import Sample, costs_of, errors, fitted, with_costs
from kopt.planning.items import Cost
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS
from kopt.targets.costs import gpu_costs, tpu_costs


def launch(bytes_moved, cycles, steps):
    """A launch that takes the greater of its copies and its products, and something for each step."""

    def costs(chip):
        own = costs_of(chip)
        moved = bytes_moved / (own.hbm_share * own.bytes_per_second)
        computed = cycles / (own.mxu_share * own.clock_hz)
        return [Cost(seconds=np.maximum(moved, computed) + steps * own.step_seconds)]

    return costs


LAUNCHES = [launch(bytes, cycles, steps) for bytes in (1e8, 1e9) for cycles in (1e5, 1e7) for steps in (10, 1000)]


def test_constants_are_of_the_chips_family():
    assert costs_of(TPU_CHIPS["v5e"]) == tpu_costs(TPU_CHIPS["v5e"])
    assert costs_of(GPU_CHIPS["sm90"]) == gpu_costs(GPU_CHIPS["sm90"])


def test_constants_come_back_from_the_times_of_another_chip():
    chip = TPU_CHIPS["v5e"]
    true = with_costs(chip, replace(costs_of(chip), hbm_share=0.6, mxu_share=0.7, step_seconds=8e-7))
    samples = [Sample(one, float(one(true)[0].seconds)) for one in LAUNCHES]
    found = fitted(samples, chip, ("vector_share", "host_share", "store_cycles"))
    assert np.abs(found.before).max() > 0.2
    assert np.abs(found.after).max() < 0.05
    assert found.fitted["hbm_share"] == pytest.approx(0.6, rel=0.05)
    assert found.fitted.keys() == {"hbm_share", "mxu_share", "step_seconds"}
    assert found.costs.fitted and found.costs.mxu_size == costs_of(chip).mxu_size


def test_what_is_not_known_has_no_error():
    samples = [Sample(lambda chip: [Cost()], 1.0)]
    assert np.isnan(errors(samples, TPU_CHIPS["v6e"])).all()
