"""Figures of what libtpu compiled: from facts by hand, and of kernels whose lengths are given."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.analysis.call_loops import CountedLoop
from kopt.errors import ArgumentError
from kopt.runtime.figures import FIGURES, Floor, KnownKernel, KnownModule, bundle_cycles, with_figures
from kopt.targets.costs import TPU_COSTS

tpu = pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu is not installed")
V6E = TPU_COSTS["v6e"]
LOOPS = [{"depth": 0, "bundles": 10}, {"depth": 1, "bundles": 20}, {"depth": 2, "bundles": 30}]
COUNTED = [CountedLoop(1, 4), CountedLoop(2, 12)]
SKIPPING = {"depth": 1, "bundles": 200, "skipped": (64, 30)}
#: One MiB takes 1,119 cycles of v6e.
MIB = 2**20
KNOWN = KnownKernel("f", COUNTED, 1.0, 2 * MIB, 0, Floor(MIB, {"bf16": 0}), {"MXU": 1.0, "VPU": 3.0, "latency": 2.0})


@pytest.mark.parametrize(
    ("found", "counted", "wanted"),
    [
        (LOOPS, COUNTED, 10 + 20 * 4 + 30 * 12),
        (LOOPS[:2], COUNTED[:1], 10 + 20 * 4),
        (LOOPS[:1], [CountedLoop(1, 1)], 10),
        (LOOPS[:2], [CountedLoop(1, 1)], 10 + 20),  # a grid of one cell may be a loop
        (LOOPS[:2], [CountedLoop(1, 1), CountedLoop(2, 12)], 10 + 20 * 12),
        (LOOPS, [CountedLoop(1, 1), CountedLoop(2, 12)], 10 + 20 + 30 * 12),
        ([*LOOPS, LOOPS[2]], COUNTED, None),
        (LOOPS[:2], COUNTED, None),
        (LOOPS, COUNTED[:1], None),
        ([*LOOPS, {"depth": 2, "bundles": 5, "trips": 8}], COUNTED, 10 + 20 * 4 + 30 * 12 + 5 * 8 * 4),
        ([*LOOPS[:2], {"depth": 2, "bundles": 5, "trips": 8}, LOOPS[2]], COUNTED, 10 + 20 * 4 + 30 * 12 + 5 * 8 * 4),
        (
            [*LOOPS[:2], {"depth": 2, "bundles": 30, "trips": 3}],
            [COUNTED[0], CountedLoop(2, 6, 3)],
            10 + 20 * 4 + 30 * 6,
        ),
        ([*LOOPS, {"depth": 3, "bundles": 5, "trips": 8}], COUNTED, 10 + 20 * 4 + 30 * 12 + 5 * 8 * 12),
        ([*LOOPS, {"depth": 3, "bundles": 5, "trips": None}], COUNTED, None),
        ([], COUNTED, None),
        # What first and last visits alone do runs in one cell of four, where it is all that branches skip.
        ([LOOPS[0], SKIPPING], [CountedLoop(1, 4, None, (1, 2))], 10 + 200 * 4 - 64 * 3 - 30 * 2),
        ([LOOPS[0], SKIPPING], [CountedLoop(1, 4, None, (1,))], 10 + 200 * 4),
        ([LOOPS[0], SKIPPING], [CountedLoop(1, 4, None, (0, 4))], 10 + 200 * 4 - 64 * 4),
        ([LOOPS[0], SKIPPING], [CountedLoop(1, 1, None, (1, 1))], 10 + 200),
    ],
)
def test_bundles_times_trips(found: list[dict[str, int]], counted: list[CountedLoop], wanted: int | None) -> None:
    assert bundle_cycles(found, counted) == wanted


def facts(*kernels: dict[str, Any], **others: Any) -> dict[str, Any]:
    """What libtpu says of a module."""
    return {"legal": True, "hlo_ops": [], "hlo_cycles": 0, "hlo_uncounted": [], "kernels": kernels, **others}


def kernel(name: str = "f.1", libtpu: int | None = None, times: int = 1) -> dict[str, Any]:
    """A kernel whose bundles in loops come ``times`` as many."""
    loops = [{**loop, "bundles": loop["bundles"] * times} for loop in LOOPS]
    return {"kernel": name, "loops": loops, "libtpu_cycles": libtpu}


def of(known: KnownKernel, kernel: dict[str, Any], **others: Any) -> dict[str, Any]:
    """The figures of a module of one kernel."""
    return with_figures(facts(kernel, **others), KnownModule([known], known.floor), V6E)


@pytest.mark.parametrize(
    ("known", "compiled", "cycles", "bound"),
    [
        (KNOWN, kernel(), 2238, "HBM"),
        (KNOWN, kernel(times=10), 4500, "VPU"),
        (replace(KNOWN, items={}), kernel(times=10), 4500, None),
        (replace(KNOWN, exposed_bytes=MIB), kernel(times=10), 5619, "VPU"),
        (replace(KNOWN, share=0.5), kernel(times=10), 2250, "VPU"),
        (replace(KNOWN, share=0.5), kernel(libtpu=3000, times=10), 3000, "VPU"),
        (KNOWN, kernel(libtpu=9000), 9000, "VPU"),
        (KNOWN, kernel(libtpu=1000), 2238, "HBM"),
        (replace(KNOWN, floor=Floor(MIB, {"bf16": 2 * 4096**3})), kernel(), 262144, "MXU"),
    ],
)
def test_cycles_and_what_bounds_them(
    known: KnownKernel, compiled: dict[str, Any], cycles: int, bound: str | None
) -> None:
    found = of(known, compiled)
    assert (found["cycles"], found["bound"]) == (cycles, bound)
    assert found["estimated_cycles"] == cycles and found["cycles_reason"] is None
    assert found["share"] == found["floor_cycles"] / cycles <= 1
    assert tuple(found["kernels"][0])[-len(FIGURES) + 1 :] == tuple(key for key in FIGURES if key != "libtpu_cycles")


@pytest.mark.parametrize(
    ("known", "compiled", "reason"),
    [
        (replace(KNOWN, loops=None, reason="trips depend on what 'n' holds"), kernel(), "what 'n' holds"),
        (replace(KNOWN, hbm_bytes=None, reason="bytes depend on what 'n' holds"), kernel(libtpu=7), "what 'n' holds"),
        (replace(KNOWN, loops=COUNTED[:1]), kernel(), "other loops"),
        (KNOWN, {**kernel(), "loops": []}, "does not say the kernel's bundles"),
        (replace(KNOWN, name="g"), kernel(libtpu=7), "not known here"),
    ],
)
def test_what_is_not_known_is_none(known: KnownKernel, compiled: dict[str, Any], reason: str) -> None:
    """And says why; what libtpu says stays."""
    found = of(known, compiled)
    assert found["cycles"] is found["estimated_cycles"] is found["bound"] is found["share"] is None
    assert reason in found["cycles_reason"] and found["libtpu_cycles"] == compiled["libtpu_cycles"]


def test_nothing_takes_no_cycles() -> None:
    found = of(
        replace(KNOWN, loops=[CountedLoop(1, 1)], hbm_bytes=0, floor=Floor(0, {})),
        {**kernel(), "loops": [{"depth": 0, "bundles": 0}]},
    )
    assert found["cycles"] is None and found["floor_cycles"] is None


def test_a_whole_module() -> None:
    """Kernels go by their names, one after the other, and XLA's own operations with them."""
    other = replace(KNOWN, name="g", items={"MXU": 2.0, "VPU": 1.0})
    module = KnownModule([KNOWN, other], Floor(3 * MIB, {"bf16": 0}))
    compiled = (kernel("g.5", times=100), kernel("f.2", libtpu=100))
    found = with_figures(facts(*compiled, hlo_cycles=5), module, V6E)
    assert [one["cycles"] for one in found["kernels"]] == [45_000, 2238]
    assert found["cycles"] == 45_000 + 2238 + 5 and found["bound"] == "MXU"
    assert found["hbm_bytes"] == 4 * MIB and found["least_hbm_bytes"] == 3 * MIB
    assert found["libtpu_cycles"] is None
    uncounted = with_figures(facts(*compiled, hlo_uncounted=["while"]), module, V6E)
    assert uncounted["cycles"] is None and "'while'" in uncounted["cycles_reason"]


def test_the_floors() -> None:
    """838,860,800 bytes at 1.64 TB/s, in cycles of 1.75 GHz; a product of 4096³ at 524,288 flops a cycle."""
    sides = Floor(838_860_800, {"bf16": 2 * 4096**3}).figures(V6E)
    assert sides["hbm_floor_cycles"] == sides["floor_cycles"] == 895_126 and sides["mxu_floor_cycles"] == 262_144
    assert Floor(None, {"f32": 2 * 4096**3}).figures(TPU_COSTS["v5p"])["floor_cycles"] == 6 * 524_288


@kopt.kernel
def sums(x, offsets):
    out = torch.zeros([offsets.size(0) - 1, x.size(1)], dtype=x.dtype)
    for i in hl.grid(offsets.size(0) - 1):
        acc = hl.zeros([x.size(1)], dtype=torch.float32)
        for k in hl.tile(offsets[i], offsets[i + 1]):
            acc = acc + x[k, :].sum(0)
        out[i, :] = acc
    return out


@tpu
def test_given_lengths() -> None:
    """Twice the rows take twice the cycles, or more; without offsets there is no figure, nor a floor."""
    low = sums.lower("f32[16384,256]", "i32[65]", target="pallas:v5e", config={"block_sizes": [64]})
    none, half, all = (
        low.report(values=None if rows is None else {"offsets": torch.arange(65) * rows}) for rows in (None, 128, 256)
    )
    assert none["cycles"] is none["hbm_bytes"] is none["floor_cycles"] is None
    assert none["cycles_reason"] == "trips depend on what 'offsets' holds"
    assert 1.7 * half["cycles"] < all["cycles"] < 2.2 * half["cycles"]
    assert all["hbm_bytes"] >= all["least_hbm_bytes"] >= 4 * 16384 * 256
    assert none["planned_seconds"] is None and 0 < half["planned_seconds"] < all["planned_seconds"]
    for found in (half, all):
        assert found["cycles"] >= found["floor_cycles"] > 0 and found["libtpu_cycles"] is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lengths": [1]}, "'sums' has no argument 'lengths'"),
        ({"offsets": [0, 1]}, r"values of 'offsets' are integers, of i32\[9\], found int64\[2\]"),
        ({"offsets": np.zeros(9)}, r"found float64\[9\]"),
        ({"x": np.zeros((64, 256), int)}, "values of 'x' are integers, of f32"),
    ],
)
def test_values_that_fit_no_argument(values: dict[str, Any], message: str) -> None:
    low = sums.lower("f32[64,256]", "i32[9]", target="pallas:v5e")
    with pytest.raises(ArgumentError, match=message):
        low.report(values=values)
