"""What lowered candidates take by the model, and schedules that would take less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from examples.histogram import histogram
from examples.registry import BY_NAME, DTYPES
from examples.softmax import softmax_backward
from kopt.config import make_config
from kopt.passes.pipelines import pipeline
from kopt.planning.cost import cost
from kopt.predictions import written_plans
from kopt.specs import as_spec, spec_of
from kopt.targets.chips import TPU_CHIPS, GpuChip
from kopt.targets.costs import gpu_costs, tpu_costs
from kopt.targets.target import parse_target
from kopt.tuning.kernel_subject import KernelSubject
from kopt.tuning.predictions import Predictions
from kopt.tuning.schedules import schedule_of
from test.tuning.kernels import product

MATRIX = "bf16[4096,4096]"


def subject(target: str, *specs: str) -> KernelSubject:
    """The product for some arguments."""
    values = {name: as_spec(spec) for name, spec in zip("xy", specs, strict=True)}
    return KernelSubject(product, values, parse_target(target))


def test_a_schedule_that_is_pinned_is_what_is_predicted() -> None:
    """And others that take clearly less are alternatives, whose pins are obeyed and take as much as was said."""
    found = subject("pallas:v6e", MATRIX, MATRIX)
    assert found.target.chip is not None
    predictions = Predictions(found, found.target.chip)
    times: list[Any] = []
    for loops in ({"b2": "prefetch"}, {"b2": "grid"}):
        config = make_config({"block_sizes": [256, 256, 256], "loops": loops})
        low = found.lower(config)
        ((_, plan),) = written_plans(low.imported, pipeline(low.target, config), found.target.chip)
        assert schedule_of(plan).loops["b2"].kind == loops["b2"]
        times.append((predictions.of(low, config), low, config))
    assert times[0][0] != times[1][0]
    slowest = max(times, key=lambda each: each[0])
    others = list(predictions.alternatives(*slowest[1:]))
    assert others
    for pins in others:
        config = make_config({"block_sizes": [256, 256, 256], **pins})
        assert predictions.of(found.lower(config), config) < 0.97 * slowest[0]


@pytest.mark.parametrize("target, ids", [("triton:sm90", {"x", "y", "out"}), ("triton:sm80", set())])
def test_pointers_are_an_alternative_to_descriptors(target: str, ids: set[str]) -> None:
    """On chips that have these; what is pinned already has none."""
    found = subject(target, MATRIX, MATRIX)
    assert found.target.chip is not None
    predictions = Predictions(found, found.target.chip)
    config = make_config({"block_sizes": [128, 128, 64]})
    low = found.lower(config)
    others = list(predictions.alternatives(low, config))
    assert [set(pins["accesses"]) for pins in others] == [ids] * bool(ids)
    for pins in others:
        pinned = make_config({"block_sizes": [128, 128, 64], **pins})
        other = found.lower(pinned)
        assert "TensorDescriptor" in low.source and "TensorDescriptor" not in other.source
        assert predictions.of(other, pinned) == predictions.of(low, config)
        assert not list(predictions.alternatives(other, pinned))


PRODUCT = {"num_warps": 8, "num_stages": 3, "group": 8, "persistent": "off"}


@pytest.mark.parametrize(
    "target, options",
    [("pallas:v6e", {}), ("triton:sm90", PRODUCT), ("triton:sm90", {**PRODUCT, "persistent": "interleaved"})],
)
def test_points_are_ranked_by_what_their_candidates_take(target: str, options: dict[str, Any]) -> None:
    """Many points at once: no more than the plan that the lowering takes, which may be another than the cheapest."""
    found = subject(target, MATRIX, MATRIX)
    assert found.target.chip is not None
    predictions = Predictions(found, found.target.chip)
    launches = predictions.launches(found.base)
    space = launches.space()
    sizes = [512, 512, 512] if "v6e" in target else [128, 128, 64]
    given = {f"block_sizes[{number}]": size for number, size in enumerate(sizes)} | options
    point = space.points([[knob.values.index(given[knob.name]) for knob in space.knobs]])
    ranked = launches.rank(space, point)
    config = make_config({"block_sizes": sizes, **options})
    low = found.lower(config)
    ms = predictions.of(low, config)
    assert ms is not None and ranked.possible.all() and np.isfinite(ranked.counted).all()
    assert 1e3 * ranked.seconds[0] <= ms * 1.001 and ms <= 1e3 * ranked.seconds[0] * 1.2


def test_updates_take_what_the_pipeline_makes_of_them() -> None:
    """1024 numbers are compared with 256 counters at once. 4096 are too many: they are counted one after the other."""
    target = parse_target("pallas:v6e")
    found = KernelSubject(histogram, {"numbers": as_spec("i32[4096]"), "bins": 256}, target)
    assert target.chip is not None
    predictions, times = Predictions(found, target.chip), []
    for rows in (1024, 4096):
        config = make_config({"block_sizes": [rows]})
        low = found.lower(config)
        ((model, plan),) = written_plans(low.imported, pipeline(low.target, low.config), target.chip)
        times.append(predictions.of(low, config))
        assert times[-1] == 1e3 * cost(model, {}, plan, target.chip).seconds
    assert 10 * times[0] < times[1]


def test_copies_share_the_bandwidth() -> None:
    """Those of windows, which go on while a step runs, and those of a pipeline in it: no more bytes than there is."""
    spec, loops = "bf16[4096,2560]", {"b1": "resident", "b2": "emit_pipeline"}
    config = {"block_sizes": [512, 512, 1280], "loops": loops}
    low = softmax_backward.lower(spec, spec, target="pallas:v6e", config=config)
    chip = TPU_CHIPS["v6e"]
    ((model, plan),) = written_plans(low.imported, pipeline(low.target, low.config), chip)
    assert {"resident", "emit_pipeline"} <= {buffer.kind for buffer in plan.buffers}
    found, costs = cost(model, {}, plan, chip), tpu_costs(chip)
    least = (found.bytes_in + found.bytes_out) / (costs.hbm_share * costs.bytes_per_second)
    assert least <= found.seconds < 1.2 * least


def test_launch_options_are_those_that_were_written() -> None:
    """Where lengths are assumed too: items that loops walk have no programs of their own to share."""
    example = BY_NAME["grouped_matmul"]
    values = example.kernel._bind(tuple(spec_of(one) for one in example.unfilled("real", DTYPES["bf16"])), {})
    found = KernelSubject(example.kernel, values, parse_target("triton:sm90"))
    assert found.target.chip is not None
    predictions = Predictions(found, found.target.chip)
    configs = [make_config({"persistent": kind, "block_sizes": [128, 64, 64]}) for kind in ("off", "interleaved")]
    lowered = [found.lower(config) for config in configs]
    assert lowered[0].source == lowered[1].source
    times = [predictions.of(low, config) for low, config in zip(lowered, configs, strict=True)]
    assert times[0] == times[1] is not None


def test_sums_in_memory_take_an_array_that_is_filled() -> None:
    """Parts that add up in memory need one launch of the host more than parts that are written beside each other."""
    x, y = as_spec("bf16[256,8192]"), as_spec("bf16[8192,512]")
    found = KernelSubject(product, {"x": x, "y": y}, parse_target("triton:sm80"))
    assert isinstance(chip := found.target.chip, GpuChip)
    times = []
    for options in ({"deterministic": True}, {}):
        config = make_config({"block_sizes": [64, 128, 64], "split_k": 8, **options})
        low = found.lower(config)
        pairs = written_plans(low.imported, pipeline(low.target, low.config), chip)
        launches = sum(cost(model, {}, plan, chip).seconds for model, plan in pairs)
        times.append(Predictions(found, chip).of(low, config) / 1e3 - launches)
    filled = 4 * 256 * 512 / (gpu_costs(chip).hbm_share * chip.hbm_bytes_per_second)
    assert times == [pytest.approx(0, abs=1e-12), pytest.approx(gpu_costs(chip).launch_seconds + filled)]
