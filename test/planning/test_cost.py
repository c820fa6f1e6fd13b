"""Costs of launches that are written by hand, against facts: device times, copies counted one by one, libtpu's VMEM."""

import time

import numpy as np
import pytest

from kopt.planning.cost import cost, costs
from kopt.planning.items import Cost
from kopt.plans.plan import Buffer, Plan
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS

from .launches import attention, attention_plan, elementwise, grouped, grouped_plan, matmul, matmul_plan
from .measured import ATTENTION, GROUPED

V6E, V5P, V5E = TPU_CHIPS["v6e"], TPU_CHIPS["v5p"], TPU_CHIPS["v5e"]
MiB = 1 << 20


def grouped_cost(chip, rows, sums, columns, groups, b0, b2, b1) -> Cost:
    drawn = np.bincount(np.random.default_rng(0).choice(groups, rows), minlength=groups)
    ends = np.cumsum(drawn)
    touched = np.where(drawn > 0, ends - (ends - drawn) // b0 * b0, 0)  # tiles begin at multiples of their rows
    sizes = {"b0": b0, "b1": b1, "b2": b2}
    return cost(grouped(rows, sums, columns, groups), sizes, grouped_plan(), TPU_CHIPS[chip], {"m": touched})


def attention_cost(chip, heads, positions, depth, values, causal, b0, b1, b2) -> Cost:
    model = attention(heads, positions, positions, depth, causal, values)
    return cost(model, {"b0": b0, "b1": b1, "b2": b2}, attention_plan("qkvo"), TPU_CHIPS[chip])


# What is asked of the model: what unfitted constants, and two constants for attention, were found to reach.
@pytest.mark.parametrize(
    ("predicted", "rows", "chip", "error", "rank"),
    [
        (grouped_cost, GROUPED, "tpu7x", 0.087, 0.98),
        (grouped_cost, GROUPED, "v5p", 0.113, 0.98),
        (attention_cost, ATTENTION, "tpu7x", 0.09, 0.97),
        (attention_cost, ATTENTION, "v5p", 0.134, 0.97),
    ],
)
def test_device_times(predicted, rows, chip, error, rank):
    mine = [row for row in rows if row[0] == chip]
    measured = np.array([row[-1] for row in mine]) * 1e-3
    seconds = np.array([float(predicted(*row[:-1]).seconds) for row in mine])
    assert np.abs(seconds / measured - 1).mean() < error
    assert np.corrcoef(ranks(seconds), ranks(measured))[0, 1] > rank


def ranks(values):
    return np.argsort(np.argsort(values))


# Blocks of rows, columns and sums and the schedule of a product on v6e: the better one, and the one that it beats.
@pytest.mark.parametrize(
    ("shape", "better", "worse"),
    [
        ((4096, 4096, 4096), ((1024, 1024, 1024), "grid"), ((512, 512, 1024), "grid")),
        ((4096, 4096, 4096), ((512, 512, 1024), "grid"), ((128, 128, 128), "grid")),
        ((4096, 512, 4096), ((512, 512, 512), "resident"), ((512, 512, 512), "prefetch")),
        ((4096, 4096, 4096), ((256, 1024, 4096), "resident"), ((256, 1024, 4096), "prefetch")),
    ],
)
def test_better_blocks_and_schedules_cost_less(shape, better, worse):
    seconds = [
        float(cost(matmul(*shape), dict(zip(("b0", "b1", "b2"), sizes, strict=True)), matmul_plan(kind), V6E).seconds)
        for sizes, kind in (better, worse)
    ]
    assert seconds[0] < seconds[1]


def test_bytes_and_steps_are_those_of_the_blocks():
    found = cost(matmul(1024, 512, 768), {"b0": 128, "b1": 256, "b2": 512}, matmul_plan(), V5E)
    rows, columns, sums = 8, 3, 1
    assert found.steps == rows * columns * sums
    assert found.bytes_in == rows * 128 * 512 * 2 + rows * columns * 512 * 256 * 2
    assert found.bytes_out == 1024 * 768 * 2


def test_an_accumulator_is_needed_where_sums_have_several_blocks():
    sizes = {"b0": 128, "b1": 256, "b2": np.array([256, 512])}
    several, one = cost(matmul(1024, 512, 768), sizes, matmul_plan(), V5E).vmem_bytes
    blocks = 2 * 2 * (128 * 256 + 256 * 256 + 128 * 256)
    assert several == blocks + 4 * 128 * 256
    assert one == blocks + 2 * 2 * (128 * 256 + 256 * 256)


def test_the_depth_is_one_where_a_block_never_changes():
    sizes = {"b0": 128, "b1": 768, "b2": 512}
    found = cost(matmul(1024, 512, 768), sizes, matmul_plan("resident"), V5E)
    assert found.vmem_bytes == 2 * 2 * 128 * 512 + 2 * 512 * 768 + 2 * 2 * 128 * 768


# What libtpu says of exp over 104,857,600 f32 in 50 blocks: the result apart from the inputs, and among them.
@pytest.mark.parametrize(("donated", "size"), [(False, 32 * MiB), (True, 48 * MiB)])
def test_vmem_is_what_libtpu_counts(donated, size):
    model, plan = elementwise(104857600, donated)
    assert cost(model, {"b0": 2097152}, plan, V5E).vmem_bytes == size


def test_parallel_axes_take_both_cores_and_prefetch_over_one_does_not():
    sizes, model = {"b0": 512, "b1": 512, "b2": 1024}, matmul(4096, 4096, 4096)
    plan = matmul_plan()
    both = cost(model, sizes, plan, V5P)
    alone = cost(model, sizes, Plan(plan.order, frozenset(), plan.buffers, plan.via, plan.loops), V5P)
    assert (both.cores, alone.cores) == (2, 1) and both.steps == alone.steps / 2 and both.seconds < alone.seconds
    fetched = Buffer("x", "x", "prefetch", ("i",), 2)
    buffers = (fetched, Buffer("y", "y", "resident", (), 1), Buffer("o", "o", "window", ("i",), 2))
    rows = Plan(("i", "j"), frozenset("i"), buffers, plan.via)
    assert cost(model, sizes, rows, V5P).cores == 1


def test_causal_trips_are_counted_exactly():
    whole, causal = (
        cost(attention(2, 4096, 4096, 128, is_causal), {"b0": 512, "b1": 1024, "b2": 1024}, attention_plan(), V6E)
        for is_causal in (False, True)
    )
    assert whole.steps == 2 * 8 * 4
    assert causal.steps == 2 * sum(-(-512 * (n + 1) // 1024) for n in range(8))


def test_what_only_a_launch_tells_is_none():
    sizes = {"b0": 128, "b1": 256, "b2": 512}
    found = cost(grouped(1024, 512, 256, 8), sizes, grouped_plan(), V5E)
    assert found.seconds is None and found.steps is None and found.bytes_in is None
    known = cost(grouped(1024, 512, 256, 8), sizes, grouped_plan(), V5E, {"m": [128] * 8})
    assert found.vmem_bytes == known.vmem_bytes and known.steps == 8


def test_passes_of_the_host_are_a_part():
    sizes = {"b0": 512, "b1": 512, "b2": 512}
    model = attention(4, 2048, 2048, 128, False)
    plain, permuted = (cost(model, sizes, attention_plan(views), V6E) for views in ("", "qk"))
    assert plain.host_bytes == 0 and permuted.host_bytes == 2 * 2 * (4 * 2048 * 128 * 2)
    assert permuted.seconds == pytest.approx(plain.seconds + permuted.host_seconds)


def test_candidates_at_once_cost_what_they_cost_alone():
    sizes = {
        name: np.array(numbers) for name, numbers in (("b0", [128, 512]), ("b1", [256, 1024]), ("b2", [512, 4096]))
    }
    together = cost(matmul(4096, 4096, 2048), sizes, matmul_plan(), V5P)
    for number in range(2):
        one = {name: int(numbers[number]) for name, numbers in sizes.items()}
        alone = cost(matmul(4096, 4096, 2048), one, matmul_plan(), V5P)
        for item in ("seconds", "mxu_seconds", "bytes_in", "bytes_out", "steps", "exposed_seconds", "vmem_bytes"):
            assert np.broadcast_to(getattr(together, item), 2)[number] == pytest.approx(getattr(alone, item)), item


def test_ten_thousand_costs_take_less_than_a_second():
    sizes = {name: np.random.default_rng(0).choice([128, 256, 512, 1024], 10_000) for name in ("b0", "b1", "b2")}
    start = time.process_time()
    found = cost(matmul(4096, 4096, 4096), sizes, matmul_plan(), V6E)
    assert time.process_time() - start < 1 and found.seconds.shape == (10_000,)


def test_a_gpu_has_a_model():
    x, y, o = (Buffer(name, name, "pointer", axes) for name, axes in (("x", "ik"), ("y", "kj"), ("o", "ij")))
    plan = Plan(("i", "j"), frozenset("ij"), (x, y, o), {name: name for name in "xyo"}, options=(("warps", 8),))
    small, large, other = (
        cost(matmul(4096, 4096, 4096), {"b0": m, "b1": n, "b2": 64}, plan, GPU_CHIPS[chip])
        for m, n, chip in ((64, 64, "sm90"), (128, 256, "sm90"), (128, 256, "sm100"))
    )
    assert (
        large.fitted and not other.fitted and large.seconds < small.seconds and large.shared_bytes > small.shared_bytes
    )


@pytest.mark.parametrize("name", ["matmul", "softmax", "embedding", "attention", "jagged_jagged_bmm"])
def test_every_candidate_of_an_example_has_a_cost(name):
    """What only a launch tells, such as the lengths of items, leaves times out, and never memory."""
    from examples.registry import BY_NAME, DTYPES
    from kopt.analysis.launch_models import launch_models
    from kopt.planning.candidates import candidates

    example = BY_NAME[name]
    module = example.kernel.lower(*example.make_args("tiny", DTYPES["bf16"]), target="pallas:v6e").module
    for model in launch_models(module):
        for plan in candidates(model):
            found = cost(model, {}, plan, V6E)
            assert found.vmem_bytes > 0
            if name.startswith("jagged"):
                assert found.seconds is None
                continue
            assert 0 < found.mxu_seconds + found.overhead_seconds + found.host_seconds <= found.seconds < 1e-3
            assert found.bytes_out > 0


@pytest.mark.parametrize("name", ["matmul", "softmax", "embedding", "attention", "jagged_jagged_bmm"])
def test_plans_cost_as_much_by_a_fixed_model(name):
    """Neither conditions and masks nor what a launch may become change what a plan of it takes."""
    from examples.registry import BY_NAME, DTYPES
    from kopt.analysis.launch_models import fixed_model, launch_model
    from kopt.analysis.plans import GridNames
    from kopt.dialects.tile import GridOp
    from kopt.planning.candidates import candidates
    from kopt.walk import walk

    example = BY_NAME[name]
    module = example.kernel.lower(*example.make_args("ragged", DTYPES["bf16"]), target="pallas:v6e").module
    for grid in walk(module, GridOp):
        model, fixed = launch_model(grid), fixed_model(grid, GridNames.of(grid))
        plans = [*candidates(model)]
        assert plans and [cost(model, {}, plan, V6E) for plan in plans] == [*costs(fixed, {}, plans, V6E)]
