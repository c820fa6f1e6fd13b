"""Which arrays the host pads for blocks that DMAs copy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.ir.index_expr import lane
from kopt.planning.at_sizes import AtSizes
from kopt.planning.padding import is_padded
from kopt.planning.tpu_cost import TpuLaunch
from kopt.targets.chips import TPU_CHIPS

from .launches import matmul, matmul_plan

V6E = TPU_CHIPS["v6e"]
SIZES = {"b0": 256, "b1": 256, "b2": 512}


@pytest.mark.parametrize(
    "shape, padded",
    [((1024, 2048, 512), ""), ((1024, 2048, 500), "yo"), ((1000, 2048, 512), "xo"), ((1024, 2000, 512), "xy")],
)
def test_blocks_that_do_not_divide_an_array_reach_beyond_it(shape, padded) -> None:
    model = matmul(*shape)
    launch = AtSizes(model, SIZES, V6E, {})
    found = {one.operand for one in model.accesses if is_padded(one, SIZES, launch.trips)}
    assert found == set(padded)


def test_of_many_sizes_each_is_told() -> None:
    model = matmul(1024, 2048, 500)
    sizes = {**SIZES, "b1": np.array([100, 250, 256])}
    (access,) = model.of("y")
    assert list(is_padded(access, sizes, AtSizes(model, sizes, V6E, {}).trips)) == [False, False, True]


def test_the_host_pads_what_a_loop_fetches_and_not_what_windows_bring() -> None:
    model = matmul(1024, 2048, 500)
    plans = [matmul_plan(kind) for kind in ("grid", "prefetch")]
    windows, fetched = (TpuLaunch(AtSizes(model, SIZES, V6E, {}), plan).cost() for plan in plans)
    assert windows.host_bytes == 0
    assert fetched.host_bytes == 2 * 2 * 2048 * 500
    whole = TpuLaunch(AtSizes(matmul(1024, 2048, 512), SIZES, V6E, {}), plans[1]).cost()
    assert whole.host_bytes == 0


def test_pipelines_copy_from_arrays_that_their_blocks_divide() -> None:
    """Cells have 1,024 of 1,100 rows: prefetches stay inside of these, and a pipeline has blocks that divide all."""
    model = matmul(1024, 2048, 512)
    accesses = [replace(one, relation=replace(one.relation, shape=(1100, 512))) for one in model.of("x")]
    model = replace(model, accesses=(*accesses, *model.of("y"), *model.of("o")))
    for kind, padded in (("prefetch", False), ("emit_pipeline", True)):
        found = TpuLaunch(AtSizes(model, SIZES, V6E, {}), matmul_plan(kind)).cost()
        assert (found.host_bytes > 0) == padded


def test_what_is_written_is_sliced_too() -> None:
    model, plan = matmul(1024, 2048, 500), matmul_plan("prefetch")
    buffers = tuple(replace(one, kind="writeback") if one.operand == "o" else one for one in plan.buffers)
    found = TpuLaunch(AtSizes(model, SIZES, V6E, {}), replace(plan, buffers=buffers)).cost()
    assert found.host_bytes == 2 * 2 * 2048 * 500 + 2 * 1024 * 500


def test_cores_that_share_cells_pad_the_same_array() -> None:
    """The rows of one core end inside of the array, and those of both beyond it."""
    plan = matmul_plan("prefetch")
    model = matmul(1000, 2048, 512)
    one, two = (TpuLaunch(AtSizes(model, SIZES, TPU_CHIPS[chip], {}), plan).cost() for chip in ("v6e", "v5p"))
    assert (one.cores, two.cores) == (1, 2)
    assert one.host_bytes == two.host_bytes == 2 * 2 * 1000 * 2048


@pytest.mark.parametrize(("step", "extent", "beyond"), [(1, 8, False), (1, 7, True), (2, 15, False), (2, 14, True)])
def test_lanes_that_stand_apart_reach_further(step: int, extent: int, beyond: bool) -> None:
    """Eight lanes of every second element are 15 elements."""
    (access, *_) = matmul(1024, 2048, 512).accesses
    relation = replace(access.relation, indices=(lane(0, 8) * step,), shape=(extent,))
    assert bool(is_padded(replace(access, relation=relation), {}, {})) == beyond
