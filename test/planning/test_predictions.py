"""What reports predict, and what they say to try next: of kernels whose better choice is known."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from examples.gather import gather_gemv
from examples.softmax import softmax_two_pass
from kopt.lowered import Lowered
from kopt.planned import planned_launches
from kopt.planning import summary
from kopt.planning.changes import OtherChoice, chosen, with_options
from kopt.planning.cost import cost
from kopt.planning.summary import GAIN, advice, band, occupancy, percent, total_times
from kopt.plans.plan import LoopSchedule, Plan
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS
from kopt.targets.error_bands import error_band

from .predicting import predicted


@kopt.kernel
def product(x, y):
    out = torch.empty([x.size(0), y.size(1)], dtype=torch.float32)
    for m, n in hl.tile([x.size(0), y.size(1)]):
        total = hl.zeros([m, n], dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            total = hl.dot(x[m, k], y[k, n], acc=total)
        out[m, n] = total
    return out


@kopt.kernel
def sums(x, offsets):
    out = torch.zeros([offsets.size(0) - 1, x.size(1)], dtype=x.dtype)
    for i in hl.grid(offsets.size(0) - 1):
        total = hl.zeros([x.size(1)], dtype=torch.float32)
        for k in hl.tile(offsets[i], offsets[i + 1]):
            total = total + x[k, :].sum(0)
        out[i, :] = total
    return out


@kopt.kernel
def standard(x):
    mean, out = torch.zeros([x.size(1)], dtype=torch.float32), torch.empty_like(x)
    for cols in hl.tile(x.size(1)):
        mean[cols] = x[:, cols].sum(0)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] - mean[None, :]
    return out


SPECS = ("bf16[2048,2048]", "bf16[2048,2048]")


def lowered(target: str, sizes: list[int] | None = None) -> Lowered:
    return product.lower(*SPECS, target=target, config={} if sizes is None else {"block_sizes": sizes})


@pytest.mark.parametrize("target", ["pallas:v6e", "pallas:tpu7x", "triton:sm90"])
def test_small_blocks_are_advised_to_grow(target: str) -> None:
    """The advised configuration, lowered itself, is predicted to take what was said."""
    small = predicted(lowered(target, [128, 128, 128] if "pallas" in target else [32, 32, 32]))
    assert small.seconds is not None
    found = advice(small.changes, small.seconds)
    best = found["next"][0]
    assert best["gain"] < -GAIN and "blocks of" in best["change"]
    after = predicted(lowered(target, best["config"]["block_sizes"]))
    assert after.seconds is not None
    assert 1e3 * after.seconds == pytest.approx(best["predicted_ms"], rel=1e-4)
    chosen = predicted(lowered(target))
    assert chosen.seconds is not None and chosen.seconds < small.seconds


@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90"])
def test_the_runner_up_is_another_choice(target: str) -> None:
    found = predicted(lowered(target))
    assert found.seconds is not None
    second = advice(found.changes, found.seconds)["runner_up"]
    assert second["change"] and second["lost"] and second["config"]
    assert second["predicted_ms"] >= (1 - 0.1) * 1e3 * found.seconds


def test_lengths_that_nothing_tells_are_assumed_and_said() -> None:
    low = sums.lower("f32[16384,256]", "i32[65]", target="pallas:v5e", config={"block_sizes": [64]})
    found = predicted(low)
    assert found.seconds is not None and found.seconds > 0
    assert found.assumes == {"k": 16384 // 64}
    longer = predicted(low, {"b1": [512] * 64})
    assert not longer.assumes and longer.seconds is not None and longer.seconds > 1.3 * found.seconds


def test_what_is_not_to_be_dealt_out_is_predicted_as_a_whole() -> None:
    """8 items for 132 multiprocessors: dealt out unless the configuration forbids it."""
    found = {
        split: predicted(sums.lower("f32[65536,64]", "i32[9]", target="triton:sm90", config={"split_k": split})).seconds
        for split in (None, 1)
    }
    assert found[1] is not None and found[None] is not None and found[1] > 1.2 * found[None]


def test_several_launches_add_up() -> None:
    low = standard.lower("f32[4096,1024]", target="pallas:v6e")
    found = predicted(low)
    assert len(found.costs) == 2 and found.seconds == pytest.approx(sum(float(one.seconds) for one in found.costs))
    total = total_times(found.costs, TPU_CHIPS["v6e"], 1e-6)
    assert total["predicted_ms"] == pytest.approx(1e3 * (found.seconds + 1e-6), rel=1e-4)
    assert total["items_ms"]["around"] == pytest.approx(1e-3)


def test_ir_is_advised_too() -> None:
    """All loops of IR may have other sizes; a configuration lists them in their order."""
    low = lowered("pallas:v6e", [128, 128, 128])
    found = predicted(kopt.lower_module(kopt.parse(low.ir), target="pallas:v6e"))
    assert found.seconds is not None
    best = advice(found.changes, found.seconds)["next"][0]
    assert best["gain"] < -GAIN and len(best["config"]["block_sizes"]) == 3


def test_no_change_takes_away_what_the_host_does() -> None:
    """A second of a launch, and three of a copy around it: half of the launch's time is an eighth of all."""
    change = OtherChoice("x", seconds=0.5, searched=True)
    assert advice([change], 4.0, 3.0)["next"] == [{"change": "x", "config": {}, "predicted_ms": 3500.0, "gain": -0.125}]
    assert advice([OtherChoice("x", seconds=0.99)], 4.0, 3.0)["next"] == []


def test_what_is_not_known_is_none() -> None:
    assert set(band(None, "HBM", TPU_CHIPS["v6e"]).values()) == {None}
    assert advice([], None) == {"runner_up": None, "next": None}
    assert advice([OtherChoice("x", seconds=None)], 1.0) == {"runner_up": None, "next": []}
    assert advice([OtherChoice("x", seconds=0.5, reason="no room", searched=True)], 1.0)["next"] == []


def test_the_band_is_that_of_the_chip() -> None:
    low, high = error_band(TPU_CHIPS["v6e"], "MXU")
    found = band(2e-3, "MXU", TPU_CHIPS["v6e"])
    assert found["predicted_ms"] == 2.0 and found["predicted_bound"] == "MXU"
    assert found["predicted_low_ms"] == pytest.approx(2 * low, rel=1e-5)
    assert found["predicted_high_ms"] == pytest.approx(2 * high, rel=1e-5)


@pytest.mark.parametrize(
    ("by", "unit"), [("tensor cores", "MXU"), ("vector units", "VPU"), ("HBM", "HBM"), (None, None)]
)
def test_the_band_is_that_of_what_bounds_a_kernel(by: str | None, unit: str | None, monkeypatch) -> None:
    """Units of GPUs have the bands of a TPU's."""
    asked = []
    monkeypatch.setattr(summary, "error_band", lambda chip, bound: asked.append(bound) or (0.5, 2.0))
    assert list(band(1e-3, by, GPU_CHIPS["sm90"]).values()) == [1.0, 0.5, 2.0, by]
    assert asked == [unit]


def test_what_was_chosen() -> None:
    """Axes of the grid by their names, loops where there are some, and options that could be others."""
    loops = {"k": LoopSchedule("resident", 4), "i": LoopSchedule("grid")}
    options = (("warps", 8), ("group", 4), ("stages", 2))
    plan = Plan(("a", "k", "b"), frozenset("a"), (), {}, loops=loops, options=options)
    assert chosen(plan, {"a": "rows", "k": "depth"}) == {
        "order": ["rows", "b"],
        "loops": {"depth": "resident unroll 4", "i": "grid"},
        "num_warps": 8,
        "num_stages": 2,
    }
    assert chosen(Plan(("a",), frozenset(), (), {}), {}) == {"order": ["a"]}


def test_changes_of_single_decisions() -> None:
    plan = Plan(("i", "j"), frozenset("ij"), (), {}, options=(("warps", 1), ("stages", 5)))
    assert [dict(one.options) for one in with_options(plan)] == [
        {"warps": 2, "stages": 5},
        {"warps": 1, "stages": 4},
    ]


@pytest.mark.parametrize(
    ("facts", "programs", "by"),
    [
        ({"registers": 32, "shared_bytes": 0}, 16, "threads"),
        ({"registers": 128, "shared_bytes": 0}, 4, "registers"),
        ({"registers": 32, "shared_bytes": 100_000}, 2, "shared memory"),
        ({"registers": None, "shared_bytes": 0}, None, None),
    ],
)
def test_occupancy(facts: dict[str, Any], programs: int | None, by: str | None) -> None:
    """sm90 holds 2,048 threads, 65,536 registers and 227 KiB: programs of four warps."""
    found = occupancy(facts, 4, GPU_CHIPS["sm90"])
    assert (found and (found["programs"], found["limited_by"])) == (programs and (programs, by))


def test_shares_as_people_read_them() -> None:
    shares = (-0.18, 0.0, 0.034, -0.001, 0.9, 2.5)
    assert [percent(share) for share in shares] == ["−18 %", "±0 %", "+3 %", "±0 %", "+90 %", "+250 %"]


def test_blocks_that_cells_keep_are_moved_once() -> None:
    """Rows that the second pass needs again stand in scratch memory, all of them."""
    low = softmax_two_pass.lower("f32[8,1048576]", target="pallas:v6e")
    ((model, plan),) = planned_launches(low)
    (kept,) = (buffer for buffer in plan.buffers if buffer.kind == "scratch")
    found, array = cost(model, {}, plan, TPU_CHIPS["v6e"]), 4 * 8 * 1048576
    assert kept.axes == ("b0",) and found.bytes_in == found.bytes_out == array
    assert found.vmem_bytes is not None and found.vmem_bytes >= array


def test_rows_that_a_single_visit_picks_are_counted() -> None:
    """Each part of the split sum is one visit of its loop: it picks as many rows as the whole sum does in it."""

    def seconds(**config: Any) -> float:
        arrays = ("i8[16,2048,2048]", "i32[2]", "bf16[2048]")
        pairs = planned_launches(gather_gemv.lower(*arrays, target="pallas:tpu7x", config=config))
        return sum(float(cost(model, {}, plan, TPU_CHIPS["tpu7x"]).seconds) for model, plan in pairs)

    whole, parts = {"block_sizes": [2, 1024, 512]}, {"block_sizes": [2, 1024, 512], "split_k": 4}
    assert seconds(**parts) > 0.9 * seconds(**whole)
