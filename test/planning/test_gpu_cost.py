"""The first model of GPUs against sums done by hand: shared memory, registers, waves, bytes, seconds."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np
import pytest

from kopt.ir.launch_model import LaunchModel
from kopt.planning.gpu_cost import GpuLaunch
from kopt.planning.items import Cost
from kopt.plans.plan import Buffer, Plan
from kopt.targets.chips import GPU_CHIPS, GpuChip
from kopt.targets.costs import GPU_COSTS

from .launches import elementwise, grouped, grouped_plan, matmul

SM90, COSTS = GPU_CHIPS["sm90"], GPU_COSTS["sm90"]
KiB, MiB = 1 << 10, 1 << 20
PRODUCT = matmul(4096, 1024, 8192)
LOOP = Plan(
    ("i", "j"),
    frozenset("ij"),
    tuple(Buffer(name, name, "pointer", tuple(axes)) for name, axes in (("x", "ik"), ("y", "kj"), ("o", "ij"))),
    {name: name for name in "xyo"},
)
SIZES = {"b0": 128, "b1": 256, "b2": 64}


def cost(model: LaunchModel, plan: Plan, chip: GpuChip = SM90, lengths=None, **sizes) -> Cost:
    return GpuLaunch(model, sizes, plan, chip, lengths or {}).cost()


def with_options(plan: Plan, **options: int) -> Plan:
    return replace(plan, options=tuple(options.items()))


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_every_stage_shares_both_operands(stages: int) -> None:
    """128 by 64 and 64 by 256 elements of 16 bits."""
    found = cost(PRODUCT, with_options(LOOP, stages=stages), **SIZES)
    assert found.shared_bytes == stages * (128 * 64 + 64 * 256) * 2


@pytest.mark.parametrize("warps", [1, 4, 8])
def test_registers_are_those_of_sums(warps: int) -> None:
    """128 by 256 words among the threads, and 32 for the rest."""
    assert cost(PRODUCT, with_options(LOOP, warps=warps), **SIZES).registers == 32 + 128 * 256 / (warps * 32)


def test_warps_of_another_size() -> None:
    chip = GPU_CHIPS["gfx942"]
    assert cost(PRODUCT, with_options(LOOP, warps=4), chip, **SIZES).registers == 32 + 128 * 256 / (4 * 64)


def test_what_is_no_product_shares_nothing() -> None:
    model, plan = elementwise(1 << 20, False)
    found = cost(model, plan, b0=1024)
    assert found.shared_bytes == 0 and found.registers == 32 and found.mxu_seconds == 0


@pytest.mark.parametrize(
    ("options", "at_once"),
    [
        ({"warps": 4, "stages": 2}, 1),  # 288 registers of 128 threads: one of 65,536
        ({"warps": 8, "stages": 2}, 1),  # 160 of 256 threads; memory would hold two of 96 KiB
        ({"warps": 16, "stages": 1}, 1),  # 96 of 512 threads
    ],
)
def test_large_tiles_have_a_multiprocessor_each(options, at_once) -> None:
    found = cost(PRODUCT, with_options(LOOP, **options), **SIZES)
    assert found.steps == 32 * 32 and found.cores == 132
    assert found.waves == ceil(32 * 32 / (132 * at_once))


@pytest.mark.parametrize(
    ("options", "at_once"),
    [
        ({"warps": 4, "stages": 1}, 8),  # 64 registers of 128 threads: 8 of 65,536; memory would hold 14
        ({"warps": 4, "stages": 2}, 7),  # 32 KiB of 227
        ({"warps": 8, "stages": 8}, 1),  # 128 KiB
        ({"warps": 32, "stages": 1}, 1),  # 36 registers of 1024 threads
    ],
)
def test_occupancy(options, at_once) -> None:
    """64 by 64 sums with 64 lanes of each operand, which are 16 KiB a stage."""
    found = cost(PRODUCT, with_options(LOOP, **options), b0=64, b1=64, b2=64)
    assert found.steps == 64 * 128 and found.waves == ceil(64 * 128 / (132 * at_once))


def test_threads_bound_programs() -> None:
    """2048 of them are 16 programs of 128; their 32 registers would be enough for as many."""
    model, plan = elementwise(1 << 20, False)
    assert cost(model, plan, b0=64).waves == ceil((1 << 14) / (132 * 16))
    assert cost(model, with_options(plan, warps=1), b0=64).waves == ceil((1 << 14) / (132 * 32))


def test_arrays_that_stay_in_the_cache_come_once() -> None:
    """8 MiB, 16 MiB and 64 MiB, of which half of 50 MiB hold the first two."""
    found = cost(PRODUCT, LOOP, **SIZES)
    assert found.bytes_in == 4096 * 1024 * 2 + 1024 * 8192 * 2
    assert found.bytes_out == 4096 * 8192 * 2


def test_larger_arrays_come_again_with_every_wave() -> None:
    """Of 132 programs at once, 64 blocks along j are a row of blocks: two rows share all of y, and its x each."""
    model = matmul(32768, 4096, 16384)
    found = cost(model, LOOP, **SIZES)
    rows, columns, x, y = 32768 // 128, 16384 // 256, 32768 * 4096 * 2, 4096 * 16384 * 2
    assert columns == 64 and found.bytes_in == pytest.approx(x * columns / 64 + y * rows / (132 / 64))


@pytest.mark.parametrize(("dtype", "rate"), [("bf16", 1), ("f32", 0.5), ("f8E4M3FN", 2), ("f64", 1 / 16)])
def test_seconds_of_products(dtype: str, rate: float) -> None:
    """2 m k n flops at what is had of the peak of its type."""
    model = replace(PRODUCT, work=tuple(replace(work, dtype=dtype) for work in PRODUCT.work))
    wanted = 2 * 4096 * 1024 * 8192 / (989e12 * COSTS.mma_share * rate)
    assert cost(model, LOOP, **SIZES).mxu_seconds == pytest.approx(wanted)


def test_seconds_are_those_of_what_is_slowest() -> None:
    product, (model, plan) = cost(PRODUCT, LOOP, **SIZES), elementwise(1 << 28, False)
    programs = 32 * 32
    share = programs / (ceil(programs / 132) * 132)  # of the multiprocessors, in the mean of all waves
    assert product.seconds == pytest.approx(product.mxu_seconds / share + 3e-6)
    copied = cost(model, plan, b0=1024)
    assert copied.bytes_in == copied.bytes_out == 4 << 28
    assert copied.seconds == pytest.approx((8 << 28) / (0.85 * 3.35e12) + 3e-6)
    assert not product.fitted


def test_chips_without_constants_have_memory_only() -> None:
    found = cost(PRODUCT, LOOP, GPU_CHIPS["sm120"], **SIZES)
    assert found == Cost(shared_bytes=2 * (128 * 64 + 64 * 256) * 2, registers=32 + 128 * 256 / 128)


def test_trips_that_a_launch_tells_leave_memory() -> None:
    model, plan, sizes = grouped(4096, 256, 512, 8), grouped_plan(), {"b0": 128, "b1": 256, "b2": 64}
    unknown, known = (cost(model, plan, lengths=lengths, **sizes) for lengths in (None, {"m": [512] * 8}))
    assert unknown.seconds is None and known.seconds is not None
    assert unknown.shared_bytes == known.shared_bytes == 2 * (128 * 64 + 64 * 256) * 2


def test_candidates_at_once_are_each_by_itself() -> None:
    sizes = [32, 64, 256]
    found = cost(PRODUCT, LOOP, b0=np.array(sizes), b1=256, b2=64)
    for n, size in enumerate(sizes):
        one = cost(PRODUCT, LOOP, b0=size, b1=256, b2=64)
        for item in ("seconds", "shared_bytes", "registers", "waves", "steps", "bytes_in"):
            assert np.broadcast_to(getattr(found, item), 3)[n] == pytest.approx(getattr(one, item)), item
