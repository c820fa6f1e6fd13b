"""The model of GPUs against sums done by hand: occupancy, waves, bytes, seconds."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np
import pytest

from kopt.ir.launch_model import LaunchModel, Work
from kopt.planning.candidates import gpu_candidate
from kopt.planning.gpu_cost import GpuLaunch
from kopt.planning.items import Cost
from kopt.targets.chips import GPU_CHIPS, GpuChip
from kopt.targets.costs import GPU_COSTS

from .launches import elementwise, grouped, matmul

SM90, COSTS = GPU_CHIPS["sm90"], GPU_COSTS["sm90"]
KiB, MiB = 1 << 10, 1 << 20
PRODUCT = matmul(4096, 1024, 8192)
SIZES = {"b0": 128, "b1": 256, "b2": 64}


def launch(model: LaunchModel, chip: GpuChip = SM90, lengths=None, options=None, **sizes) -> GpuLaunch:
    plan = replace(gpu_candidate(model), options=tuple((options or {}).items()))
    return GpuLaunch(model, sizes, plan, chip, lengths or {})


def cost(model: LaunchModel, *args, **kwargs) -> Cost:
    return launch(model, *args, **kwargs).cost()


def test_the_plan_of_a_gpu() -> None:
    plan = gpu_candidate(PRODUCT)
    assert plan.order == ("i", "j") and plan.parallel == frozenset("ij") and not plan.loops
    assert {buffer.kind for buffer in plan.buffers} == {"pointer"} and dict(plan.via) == {name: name for name in "xyo"}


@pytest.mark.parametrize(
    ("options", "at_once"),
    [
        ({"warps": 4, "stages": 1}, 7),  # 72 registers of 128 threads: 7 of 65,536; memory would hold 14
        ({"warps": 4, "stages": 4}, 3),  # 64 KiB of 227
        ({"warps": 8, "stages": 8}, 1),  # 128 KiB
        ({"warps": 32, "stages": 1}, 1),  # 44 registers of 1024 threads
    ],
)
def test_occupancy(options, at_once) -> None:
    """64 by 64 sums with 64 lanes of each operand, which are 16 KiB a stage."""
    sizes = {"b0": 64, "b1": 64, "b2": 64}
    assert launch(PRODUCT, options=options, **sizes).occupancy() == at_once
    found = cost(PRODUCT, options=options, **sizes)
    assert found.steps == 64 * 128 and found.waves == ceil(64 * 128 / (132 * at_once)) and found.cores == 132


def test_threads_bound_programs() -> None:
    """2048 of them are 16 programs of 128; no multiprocessor holds more than 32 programs."""
    model, _ = elementwise(1 << 20, False)
    assert launch(model, options={"warps": 4}, b0=64).occupancy() == 2048 // 128
    assert launch(model, options={"warps": 1}, b0=64).occupancy() == 32


def test_registers_are_those_of_all_threads() -> None:
    """512 threads have 128 registers each: 256 by 256 sums fill them, 128 by 256 do not."""
    fits = [launch(PRODUCT, options={"warps": 16}, b0=rows, b1=256, b2=64).program.fits() for rows in (256, 128)]
    assert fits == [False, True]


def test_few_programs_take_longer() -> None:
    """Of more than 1 MiB each multiprocessor should have a part: 128 programs of 132, beside 256 of half the size."""
    model, _ = elementwise(1 << 20, False)
    few, many = (cost(model, options={"warps": 4}, b0=size) for size in (8192, 4096))
    assert (few.steps, many.steps) == (128, 256) and few.seconds > 1.8 * many.seconds


def test_arrays_that_stay_in_the_cache_come_once() -> None:
    """8 MiB, 16 MiB and 64 MiB, of which half of 50 MiB hold the first two."""
    found = cost(PRODUCT, **SIZES)
    assert found.bytes_in == 4096 * 1024 * 2 + 1024 * 8192 * 2
    assert found.bytes_out == 4096 * 8192 * 2


def test_larger_arrays_come_again_with_every_wave() -> None:
    """Of 132 programs at once, 64 blocks along j are a row of blocks: two rows share all of y, and its x each."""
    found = cost(matmul(32768, 4096, 16384), **SIZES)
    rows, columns, x, y = 32768 // 128, 16384 // 256, 32768 * 4096 * 2, 4096 * 16384 * 2
    assert columns == 64 and found.bytes_in == pytest.approx(x * columns / 64 + y * rows / (132 / 64))


def test_short_runs_move_whole_sectors() -> None:
    """64 bytes each, whether 16 lanes of 32 bits are in them or 4."""
    model, _ = elementwise(1 << 26, False)
    assert [cost(model, b0=size).bytes_in / (4 << 26) for size in (4, 8, 16, 1024)] == [4, 2, 1, 1]


@pytest.mark.parametrize(("dtype", "bits", "rate"), [("bf16", 16, 1), ("f8E4M3FN", 8, 2), ("f64", 64, 1 / 16)])
def test_seconds_of_products(dtype: str, bits: int, rate: float) -> None:
    """2 m k n flops at what is had of the peak of its type, and 150 cycles a visit."""
    operands = tuple(replace(operand, bits=bits, dtype=dtype) for operand in PRODUCT.operands)
    model = replace(PRODUCT, operands=operands, work=tuple(replace(work, dtype=dtype) for work in PRODUCT.work))
    visits = 32 * 32 * 16
    wanted = 2 * 4096 * 1024 * 8192 / (989e12 * COSTS.mma_share * rate) + visits * 150 / (132 * COSTS.clock_hz)
    assert cost(model, **SIZES).mxu_seconds == pytest.approx(wanted, rel=0.01)


def test_f32_is_multiplied_by_the_vector_units() -> None:
    wide = replace(PRODUCT, work=tuple(replace(work, dtype="f32") for work in PRODUCT.work))
    assert cost(wide, **SIZES).mxu_seconds > 5 * cost(PRODUCT, **SIZES).mxu_seconds


@pytest.mark.parametrize("name", [name for name, chip in GPU_CHIPS.items() if chip.backend == "cuda"])
def test_a_multiprocessor_issues_four_warps_a_cycle(name: str) -> None:
    """Also where it has f32 units for half of their lanes: other units work beside these."""
    costs = GPU_COSTS[name]
    lanes = 4 * 32 * costs.multiprocessors * costs.clock_hz
    assert costs.instructions / costs.issue_share == pytest.approx(lanes, rel=0.1)


def test_few_rows_are_multiplied_slowly() -> None:
    """Half of the rows in as many programs: on sm90 64 rows are the least that its own instructions take."""
    held = {"stages": 1, "warps": 4}
    tall, flat = (cost(PRODUCT, b0=rows, b1=256, b2=64, options=held).mxu_seconds for rows in (64, 32))
    assert flat > 1.5 * tall


def test_what_programs_leave_idle() -> None:
    """Of 132 multiprocessors 32 have a product of 1024 by 512: smaller blocks are on all of them."""
    small = matmul(1024, 1024, 1024)
    large, medium = (cost(small, b0=m, b1=n, b2=64) for m, n in ((128, 256), (64, 128)))
    assert large.steps == 32 and medium.steps == 128 and medium.seconds < large.seconds
    assert cost(PRODUCT, b0=128, b1=256, b2=64).seconds < cost(PRODUCT, b0=64, b1=128, b2=64).seconds


def test_memory_is_had_by_what_is_on_its_way() -> None:
    """A program of 16 lanes waits for 64 bytes: 32 of them on each multiprocessor are too few."""
    model, _ = elementwise(1 << 26, False)
    seconds = [float(cost(model, b0=size).seconds) for size in (16, 1024, 4096)]
    assert seconds[0] > 3 * seconds[1] and seconds[1] == pytest.approx(seconds[2], rel=0.1)
    assert seconds[2] > (8 << 26) / (COSTS.hbm_share * SM90.hbm_bytes_per_second)


@pytest.mark.parametrize(("rows", "programs"), [(0, 1), (128, 1), (129, 2), (256, 2)])
def test_how_many_programs_there_are(rows: int, programs: int) -> None:
    assert cost(matmul(rows, 256, 64), **SIZES).steps == programs


def test_a_launch_without_elements_has_a_cost() -> None:
    model, _ = elementwise(0, False)
    assert np.isfinite(cost(model, b0=np.array([1, 1024])).seconds).all()


def test_stages_hide_what_is_no_bottleneck() -> None:
    one, four = (cost(PRODUCT, options={"warps": 8, "stages": n}, b0=128, b1=256, b2=32) for n in (1, 4))
    assert one.mxu_seconds == four.mxu_seconds and four.seconds < one.seconds


def test_trips_that_a_launch_tells_leave_memory() -> None:
    model, sizes = grouped(4096, 256, 512, 8), {"b0": 128, "b1": 256, "b2": 64}
    unknown, known = (cost(model, lengths=lengths, **sizes) for lengths in (None, {"m": [512] * 8}))
    assert unknown.seconds is None and known.seconds is not None
    assert unknown.shared_bytes == known.shared_bytes > 0 and unknown.fits


@pytest.mark.parametrize("chip", GPU_CHIPS.values(), ids=str)
def test_every_chip_has_a_model(chip: GpuChip) -> None:
    found = cost(PRODUCT, chip, b0=64, b1=64, b2=32)
    assert found.seconds > 0 and found.fitted == (chip.name == "sm90")


def test_candidates_at_once_are_each_by_itself() -> None:
    sizes = [32, 64, 256]
    found = cost(PRODUCT, b0=np.array(sizes), b1=256, b2=64)
    for n, size in enumerate(sizes):
        one = cost(PRODUCT, b0=size, b1=256, b2=64)
        for item in ("seconds", "shared_bytes", "registers", "waves", "steps", "bytes_in", "fits"):
            assert np.broadcast_to(getattr(found, item), 3)[n] == pytest.approx(getattr(one, item)), item


def test_groups_of_rows_share_blocks_in_the_cache() -> None:
    """Of 16,384 columns in blocks of 128 a wave has one row of cells, or eight beside each other."""
    model, sizes = matmul(16384, 4096, 16384), {"b0": 128, "b1": 128, "b2": 64}
    one, eight, all_ = (cost(model, options={"group": group}, **sizes).bytes_in for group in (1, 8, 10**6))
    assert eight < one and eight < all_
    assert one == cost(model, **sizes).bytes_in


@pytest.mark.parametrize("size", [1000, 1024])
def test_lanes_beyond_an_array_are_computed_and_not_moved(size: int) -> None:
    """A block of 1,024 lanes of 1,000 elements: threads have all of them, memory has no more than there is."""
    model, _ = elementwise(size, False)
    found, full = cost(model, b0=1024), cost(elementwise(1024, False)[0], b0=1024)
    assert (found.bytes_in, found.bytes_out) == (4 * size, 4 * size)
    assert found.vpu_seconds == full.vpu_seconds


def test_a_dimension_that_is_walked_is_not_rounded_up() -> None:
    rows = replace(elementwise(40_000, False)[0].work[0], dims=(("", 40_000),))
    walked = replace(elementwise(40_000, False)[0], work=(rows,))
    shorter = replace(walked, work=(replace(rows, dims=(("", 32_768),)),))
    ratio = cost(walked, b0=8).vpu_seconds / cost(shorter, b0=8).vpu_seconds
    assert 1.0 < ratio <= 40_000 / 32_768


def test_products_of_a_recurrence_wait_for_vectors() -> None:
    """Both units take turns, and one visit ahead hides memory: more stages save nothing."""
    path = PRODUCT.work[0].path
    model = replace(PRODUCT, work=(*PRODUCT.work, Work("elementwise", (("", 4096),), "f32", path, 40)))
    again = replace(model, recurrent=frozenset([path]))
    sizes, held = {"b0": 128, "b1": 256, "b2": 128}, {"warps": 8}
    free, waits = (cost(one, options={**held, "stages": 2}, **sizes) for one in (model, again))
    assert waits.seconds > max(free.mxu_seconds, free.vpu_seconds) + 0.9 * min(free.mxu_seconds, free.vpu_seconds)
    assert waits.seconds > free.seconds
    slow = replace(again, work=tuple(replace(one, count=100 * one.count) for one in again.work))
    two, four = (cost(slow, options={**held, "stages": n}, **sizes) for n in (2, 4))
    assert two.seconds == four.seconds


def test_operands_are_converted_by_each_warp_that_reads_them() -> None:
    """Eight warps along 128 rows convert all of a right operand each, where products wait for one another."""
    x, y = PRODUCT.factors
    model = replace(
        PRODUCT,
        operands=tuple(replace(one, bits=8, dtype="f8E4M3FN") if one.name == "y" else one for one in PRODUCT.operands),
        factors=(x, replace(y, load="", of=("y",))),
    )
    chained = replace(model, chained=frozenset([PRODUCT.work[0].path]))
    sm80, sizes = GPU_CHIPS["sm80"], {"b0": 128, "b1": 128, "b2": 64}
    apart, along = (cost(one, sm80, options={"warps": 8}, **sizes).vpu_seconds for one in (model, chained))
    lanes = (4096 // 128) * (1024 // 128) * (8192 // 64) * 64 * 128
    assert along - apart == pytest.approx(8 * (8 - 2) * lanes / GPU_COSTS["sm80"].instructions)


def test_blocks_in_registers_are_handed_on_where_there_are_three_stages() -> None:
    x, y = PRODUCT.factors
    turned, sm80 = replace(PRODUCT, factors=(replace(x, turned=True), y)), GPU_CHIPS["sm80"]
    two, three, four = (cost(turned, sm80, options={"warps": 8, "stages": n}, **SIZES).vpu_seconds for n in (2, 3, 4))
    assert two < three == four


def test_programs_that_hide_what_products_wait_for_are_those_of_the_busiest_multiprocessor() -> None:
    """144 programs of 132 multiprocessors: two of some of these, as many as of 264 programs."""
    model, held = matmul(128 * 12, 4096, 128 * 12), {"warps": 4, "stages": 2}
    chained = replace(model, chained=frozenset([model.work[0].path]))
    sizes = {"b0": 128, "b1": 128, "b2": 32}
    alone, beside = (launch(one, options=held, **sizes).cost() for one in (model, chained))
    assert alone.steps == 144 and launch(model, options=held, **sizes).occupancy() >= 2
    assert beside.mxu_seconds < alone.mxu_seconds and beside.seconds < alone.seconds
