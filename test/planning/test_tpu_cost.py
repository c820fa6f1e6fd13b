"""The cost of a plan on a TPU against sums done by hand, on shapes whose steps can be counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.ir.index_expr import number, symbol
from kopt.ir.launch_model import LaunchModel, Work
from kopt.ir.polynomial import parameter
from kopt.ir.value_range import ValueRange
from kopt.planning.at_sizes import AtSizes
from kopt.planning.items import Cost
from kopt.planning.tpu_cost import TpuLaunch
from kopt.plans.plan import Buffer, LoopSchedule, Plan
from kopt.targets.chips import TPU_CHIPS
from kopt.targets.costs import (
    CARRY_CYCLES,
    CHAIN_CYCLES,
    CHAIN_SHARE,
    ROW_CYCLES,
    RUNNING_BLOCK_WAIT,
    TPU_COSTS,
    VECTOR_CYCLES,
    VISIT_CYCLES,
)

from .launches import access, axis, begin, elementwise, matmul, matmul_plan, operand

V6E, COSTS = TPU_CHIPS["v6e"], TPU_COSTS["v6e"]
BANDWIDTH = COSTS.hbm_share * COSTS.bytes_per_second
HOST_BANDWIDTH = COSTS.host_share * COSTS.bytes_per_second
PRODUCT, SIZES = matmul(1024, 2048, 512), {"b0": 256, "b1": 256, "b2": 512}
KINDS = ("resident", "prefetch", "emit_pipeline")
SHARED = np.array([1024, 4096])


def cost(model: LaunchModel, plan: Plan, chip=V6E, lengths=None, **sizes) -> Cost:
    return TpuLaunch(AtSizes(model, sizes, chip, lengths or {}), plan).cost()


# Copies.


def test_one_step_waits_for_all_of_its_copies() -> None:
    model, plan = elementwise(8192, False)
    found = cost(model, plan, b0=8192)
    assert (found.steps, found.bytes_in, found.bytes_out) == (1, 4 * 8192, 4 * 8192)
    assert found.exposed_seconds == pytest.approx(2 * 4 * 8192 / BANDWIDTH)
    work = 8 * VECTOR_CYCLES["transcendental"] / COSTS.clock_hz
    assert found.vpu_seconds == pytest.approx(work)
    step = COSTS.step_cycles / COSTS.clock_hz / COSTS.mxu_share + work + COSTS.step_seconds
    store = COSTS.store_cycles * 8 / COSTS.clock_hz
    assert found.seconds == pytest.approx(found.exposed_seconds + step + store)


@pytest.mark.parametrize("extent", [8192, 8193, 16000])
def test_what_hangs_over_is_moved_as_a_block(extent: int) -> None:
    model, plan = elementwise(extent, False)
    found = cost(model, plan, b0=1024)
    steps = -(-extent // 1024)
    assert (found.steps, found.bytes_in, found.bytes_out) == (steps, 4096 * steps, 4096 * steps)


def test_donated_blocks_come_in_too() -> None:
    model, plan = elementwise(8192, True)
    assert cost(model, plan, b0=1024).bytes_in == 2 * 4 * 8192


def test_blocks_come_as_often_as_the_grid_turns_them() -> None:
    """4 rows of cells and 2 columns, 4 steps of the sum each; a result leaves once."""
    found = cost(PRODUCT, matmul_plan(), **SIZES)
    assert found.steps == 4 * 2 * 4
    assert found.bytes_in == 32 * 2 * (256 * 512 + 512 * 256)
    assert found.bytes_out == 2 * 1024 * 512


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_in_the_kernel_computes_as_much(kind: str) -> None:
    inner, grid = (cost(PRODUCT, matmul_plan(one), **SIZES) for one in (kind, "grid"))
    assert inner.steps == 8 and inner.mxu_seconds == grid.mxu_seconds
    assert inner.bytes_out == grid.bytes_out


@pytest.mark.parametrize(("kind", "x", "y"), [("resident", 4, 8), ("prefetch", 8, 8), ("emit_pipeline", 8, 8)])
def test_blocks_of_loops_come_once_a_cell_or_once_a_row(kind: str, x: int, y: int) -> None:
    """A resident block stays while its axis does: that of x through a row of cells."""
    found = cost(PRODUCT, matmul_plan(kind), **SIZES)
    assert found.bytes_in == 2 * 2048 * 256 * (x + y)


def test_a_visit_more_takes_its_cycles_more() -> None:
    """Halved blocks of the sum in a resident loop: as much work, twice the visits."""
    model = replace(PRODUCT, work=(replace(PRODUCT.work[0], count=100),))  # so that copies are hidden
    long, short = (cost(model, matmul_plan("resident"), **(SIZES | {"b2": size})) for size in (512, 256))
    more = 8 * 4 * VISIT_CYCLES / COSTS.clock_hz
    assert short.seconds - long.seconds == pytest.approx(more, rel=1e-6)
    assert short.overhead_seconds - long.overhead_seconds == pytest.approx(more, rel=1e-6)
    assert short.mxu_seconds == long.mxu_seconds


@pytest.mark.parametrize(("unroll", "handed"), [(1, 4), (2, 4), (4, 0)])
def test_visits_that_are_all_unrolled_hand_values_on_in_registers(unroll: int, handed: int) -> None:
    """512 x 512 sums of 32 bits are 256 vectors."""
    sums = Work("carry", (("m", 512), ("n", 512)), "f32", ("i", "j", "k"))
    plan = replace(matmul_plan("resident"), loops={"k": LoopSchedule("resident", unroll=unroll)})
    product = replace(PRODUCT.work[0], count=100)  # so that copies are hidden
    bare, carrying = (cost(replace(PRODUCT, work=work), plan, **SIZES) for work in ((product,), (product, sums)))
    assert carrying.seconds - bare.seconds == pytest.approx(8 * handed * 256 * CARRY_CYCLES / COSTS.clock_hz, abs=1e-12)


def test_a_loop_that_is_written_out_is_straight_code() -> None:
    """Four visits of 512 take as long as one of 2,048: no unit idles between them."""
    plan = replace(matmul_plan("resident"), loops={"k": LoopSchedule("resident", unroll=4)})
    model = replace(PRODUCT, work=(replace(PRODUCT.work[0], count=100),))  # so that copies are hidden
    written_out, once = cost(model, plan, **SIZES), cost(model, plan, **(SIZES | {"b2": 2048}))
    assert written_out.seconds == pytest.approx(once.seconds) and written_out.overhead_seconds == once.overhead_seconds
    assert cost(model, plan, **(SIZES | {"b2": 256})).seconds > written_out.seconds + 8 * VISIT_CYCLES / COSTS.clock_hz


def test_what_a_dimension_of_the_grid_carries_goes_beside_its_work() -> None:
    """Loads and stores of 256 vectors: hidden by long products, and beside vector work at each of its 4 steps."""
    sums = Work("carry", (("m", 512), ("n", 512)), "f32", ("i", "j", "k"))
    product = replace(PRODUCT.work[0], count=100)  # so that copies are hidden
    vectors = Work("elementwise", (("m", 131072), ("n", 512)), "f32", ("i", "j", "k"))
    for work, handed in (((product,), 0), ((product, vectors), 4)):
        bare, carrying = (
            cost(replace(PRODUCT, work=each), matmul_plan("grid"), **SIZES) for each in (work, (*work, sums))
        )
        more = 8 * handed * 256 * CARRY_CYCLES / COSTS.clock_hz
        assert carrying.seconds - bare.seconds == pytest.approx(more, abs=1e-12)


def test_running_sums_of_few_rows_wait_for_the_block_before() -> None:
    """Work of products, vectors and copies of 8 rows is hidden; that of 4,096 hides the waiting."""
    for rows, hidden in ((8, False), (4096, True)):
        sums = Work("running_sum", (("m", rows), ("n", 4096)), "bf16", ("i", "j", "k"))
        found = cost(replace(PRODUCT, work=(sums,)), matmul_plan("resident"), b0=8, b1=128, b2=2048)
        waiting = 128 * 4 * 16 * RUNNING_BLOCK_WAIT / COSTS.clock_hz
        assert found.seconds > waiting and (max(found.vpu_seconds, found.mxu_seconds) > waiting) == hidden


@pytest.mark.parametrize("vectors", [16, 4096])
def test_products_that_wait_for_products_leave_units_idle(vectors: int) -> None:
    """By a share of what the units do beside each other; a few rows do not fill the latency of the chain."""
    scores = Work("elementwise", (("m", 8 * vectors), ("n", 128)), "f32", ("i", "j", "k"))
    plain = replace(PRODUCT, work=(replace(PRODUCT.work[0], count=400), scores))
    chain = replace(plain, chained=frozenset({("i", "j", "k")}))
    free, waiting = (cost(model, matmul_plan("resident"), **SIZES) for model in (plain, chain))
    beside = vectors * VECTOR_CYCLES["elementwise"]
    idle = max(CHAIN_SHARE * beside, CHAIN_CYCLES - beside)
    assert waiting.seconds - free.seconds == pytest.approx(8 * 4 * idle / COSTS.clock_hz)


@pytest.mark.parametrize(("stores", "waits"), [(False, 1), (True, 4)])
def test_visits_that_store_wait_each_for_themselves(stores: bool, waits: int) -> None:
    """Four visits written out: one unit works on the next while the other waits in this, where nothing is stored."""
    scores = Work("elementwise", (("m", 32768), ("n", 128)), "f32", ("i", "j", "k"))
    plain = replace(PRODUCT, work=(replace(PRODUCT.work[0], count=400), scores))
    accesses = [replace(one, path=("i", "j", "k")) if one.mode == "store" and stores else one for one in plain.accesses]
    plain = replace(plain, accesses=tuple(accesses))
    chain = replace(plain, chained=frozenset({("i", "j", "k")}))
    plan = replace(matmul_plan("resident"), loops={"k": LoopSchedule("resident", unroll=4)})
    free, waiting = (cost(model, plan, **SIZES) for model in (plain, chain))
    idle = CHAIN_SHARE * 4096 * VECTOR_CYCLES["elementwise"]
    assert waiting.seconds - free.seconds == pytest.approx(8 * waits * idle / COSTS.clock_hz)


@pytest.mark.parametrize(("inner", "straight"), [(512, True), (1024, False)])
def test_loops_of_one_visit_are_no_loops(inner: int, straight: bool) -> None:
    """So what is around them is written out as if they were not there, and not else."""
    model = replace(
        PRODUCT,
        axes=(*PRODUCT.axes, axis("l", 512, inner, "loop", ("i", "j", "k"))),
        work=(replace(PRODUCT.work[0], count=100, path=("i", "j", "k", "l")),),
    )
    loops = {tag: LoopSchedule("resident", unroll=unroll) for tag, unroll in (("k", 4), ("l", 1))}
    found = cost(model, replace(matmul_plan("resident"), loops=loops), **SIZES)
    assert (found.overhead_seconds <= 8 * COSTS.step_seconds) == straight


def test_a_loop_of_no_visits_does_no_work() -> None:
    empty = replace(PRODUCT, axes=(*PRODUCT.axes[:2], replace(PRODUCT.axis("k"), upper=number(0))))
    found = cost(empty, matmul_plan("resident"), **SIZES)
    assert found.mxu_seconds == 0 and found.bytes_out == 2 * 1024 * 512


# What is not known, memory.


def test_a_loop_whose_end_a_launch_tells_has_no_time() -> None:
    """Its memory is known: blocks are as large however many there are."""
    open_end = replace(PRODUCT.axis("k"), upper=symbol("n", range=ValueRange(0)))
    model = replace(PRODUCT, axes=(*PRODUCT.axes[:2], open_end))
    found = cost(model, matmul_plan("prefetch"), **SIZES)
    assert found.seconds is None and found.steps is None
    assert found.vmem_bytes == cost(PRODUCT, matmul_plan("prefetch"), **SIZES).vmem_bytes
    assert found.fitted == COSTS.fitted


def test_one_visit_needs_one_buffer() -> None:
    found = cost(PRODUCT, matmul_plan(), b0=1024, b1=512, b2=2048)
    assert found.vmem_bytes == 2 * (1024 * 2048 + 2048 * 512 + 1024 * 512)


# The host, scalars.


@pytest.mark.parametrize("views", [("permute",), ("permute", "pad")])
def test_each_view_reads_and_writes_the_array(views: tuple[str, ...]) -> None:
    plain, laid_out = (cost(PRODUCT, replace(matmul_plan(), views=one), **SIZES) for one in ({}, {"x": views}))
    assert plain.host_bytes == 0 and laid_out.host_bytes == len(views) * 2 * 2 * 1024 * 2048
    assert laid_out.seconds - plain.seconds == pytest.approx(laid_out.host_bytes / HOST_BANDWIDTH)


def test_an_array_in_scalar_memory_comes_once_before_all() -> None:
    model, plan = elementwise(8192, False)
    buffers = (Buffer("x", "x", "smem", (), 1), plan.buffers[1])
    found = cost(model, replace(plan, buffers=buffers), b0=1024)
    assert found.bytes_in == 4 * 8192 and found.vmem_bytes == 2 * 4 * 1024
    assert found.exposed_seconds == pytest.approx((4 * 8192 + 4 * 1024) / BANDWIDTH)


# Copies that nothing hides, rows.


def with_kind(kind: str, **options) -> tuple[LaunchModel, Plan]:
    model, plan = elementwise(8192, False)
    x = Buffer("x", "x", kind, ("i",), 1, options=tuple(options.items()))
    return model, replace(plan, buffers=(x, plan.buffers[1]))


def test_a_copy_that_is_waited_for_is_in_every_step() -> None:
    (model, waits), (_, ahead) = with_kind("dma"), with_kind("dma", prefetch=("i", 1))
    waited, hidden = (cost(model, plan, b0=1024) for plan in (waits, ahead))
    per_step = 4 * 1024 / BANDWIDTH + COSTS.step_seconds
    assert waited.seconds > hidden.seconds
    assert waited.seconds - hidden.seconds <= 8 * per_step * (1 + 1e-9)


def test_rows_one_by_one_take_cycles_each() -> None:
    x, o = operand("x", (4096, 1, 128), bits=32, dtype="f32"), operand("o", (64, 128), True, 32, "f32")
    rows = symbol("n", range=ValueRange(0, 4095))
    loads = access("x", "load", x, [rows, number(0), (number(0), 128)], ("i",))
    stores = access("o", "store", o, [(number(0), 64), (number(0), 128)], ("i",))
    model = LaunchModel("rows", (axis("i", 1, 8),), (x, o), (loads, stores), ())
    plans = [
        Plan(("i",), frozenset("i"), (Buffer("x", "x", kind, ("i",)), Buffer("o", "o", "window")), {"x": "x", "o": "o"})
        for kind in ("rows", "dma")
    ]
    rows_cost, block_cost = (cost(model, plan) for plan in plans)
    more = max(0.0, ROW_CYCLES / COSTS.clock_hz - COSTS.step_cycles / COSTS.mxu_share / COSTS.clock_hz)
    assert rows_cost.seconds - block_cost.seconds == pytest.approx(8 * more, abs=1e-12)


# Cores.


@pytest.mark.parametrize(("chip", "parallel", "cores"), [("v5p", "ij", 2), ("v5p", "", 1), ("v6e", "ij", 1)])
def test_two_cores_share_a_parallel_axis(chip: str, parallel: str, cores: int) -> None:
    plan = replace(matmul_plan(), parallel=frozenset(parallel))
    found = cost(PRODUCT, plan, TPU_CHIPS[chip], **SIZES)
    assert found.cores == cores and found.steps == 32 // cores
    assert found.bytes_out == 2 * 1024 * 512


@pytest.mark.parametrize(("chip", "cores"), [("v5p", [2, 1]), ("v6e", [1, 1])])
def test_rows_come_a_cell_ahead_on_one_core_alone(chip: str, cores: list[int]) -> None:
    """Where cores share the cells, none knows which one is its next. One cell alone is not shared."""
    size = parameter("b0")
    x, o = operand("x", (4096, 1, 128), bits=32, dtype="f32"), operand("o", (4096, 128), True, 32, "f32")
    rows = symbol("n", range=ValueRange(0, 4095)) + begin("i", size)
    loads = access("x", "load", x, [rows, number(0), (number(0), 128)], ("i",))
    stores = access("o", "store", o, [(begin("i", size), size), (number(0), 128)], ("i",))
    model = LaunchModel("rows", (axis("i", size, 4096),), (x, o), (loads, stores), ())
    buffers = (Buffer("x", "x", "rows", ("i",)), Buffer("o", "o", "window", ("i",)))
    shared, alone = (
        cost(model, Plan(("i",), frozenset(axes), buffers, {"x": "x", "o": "o"}), TPU_CHIPS[chip], b0=SHARED)
        for axes in ("i", "")
    )
    assert [*np.broadcast_to(shared.cores, 2)] == cores and alone.cores == 1
    waits = shared.exposed_seconds[0] - alone.exposed_seconds[0] >= TPU_COSTS[chip].step_seconds
    assert waits == (cores[0] > 1)


def test_an_odd_block_leaves_a_core_idle() -> None:
    model = matmul(3 * 256, 512, 256)
    found = cost(model, matmul_plan(), TPU_CHIPS["v5p"], **SIZES)
    assert found.cores == 2 and found.steps == 2


def test_an_axis_of_one_block_is_not_shared() -> None:
    """The next one is."""
    found = cost(matmul(256, 512, 1024), matmul_plan(), TPU_CHIPS["v5p"], **SIZES)
    assert found.cores == 2 and found.steps == 2
    assert cost(matmul(256, 2048, 256), matmul_plan(), TPU_CHIPS["v5p"], **SIZES).cores == 1


def test_an_axis_that_something_is_fetched_along_is_not_shared() -> None:
    model, plan = elementwise(8192, False)
    fetched, at_once = (
        replace(plan, buffers=(Buffer("x", "x", kind, ("i",), 2), plan.buffers[1])) for kind in ("dma", "smem")
    )
    all = (cost(model, one, TPU_CHIPS["v5p"], b0=1024).cores for one in (plan, fetched, at_once))
    assert [*all] == [2, 1, 2]


def test_blocks_that_a_loop_copies_leave_the_axis_to_both_cores() -> None:
    """Of groups of rows each visit of the loop copies its own."""
    plan = matmul_plan("resident")
    copied = replace(plan, buffers=(Buffer("x", "x", "dma", ("i",), 2), *plan.buffers[1:]))
    once = replace(PRODUCT, accesses=[replace(one, moves=one.moves - {"k"}) for one in PRODUCT.accesses])
    found = (cost(model, replace(copied, order=("i",)), TPU_CHIPS["v5p"], **SIZES) for model in (PRODUCT, once))
    assert [one.cores for one in found] == [2, 1]


def test_inside_of_an_axis_that_runs_in_order_nothing_is_shared() -> None:
    plan = replace(matmul_plan(), parallel=frozenset("j"))
    found = (cost(PRODUCT, replace(plan, order=order), TPU_CHIPS["v5p"], **SIZES) for order in ("ijk", "jik"))
    assert [one.cores for one in found] == [1, 2]


# Work at places, candidates.


def test_work_outside_of_a_loop_is_done_once_a_cell() -> None:
    outside = Work("elementwise", (("m", 256), ("n", 256)), "f32", ("i", "j"))
    model = replace(PRODUCT, work=(outside,))
    found = cost(model, matmul_plan("resident"), **SIZES)
    assert found.vpu_seconds == pytest.approx(8 * 64 * VECTOR_CYCLES["elementwise"] / COSTS.clock_hz)


@pytest.mark.parametrize("kind", ["grid", *KINDS])
def test_candidates_at_once_are_each_by_itself(kind: str) -> None:
    sizes = {"b0": np.array([128, 256, 1024]), "b1": np.array([512, 100, 256]), "b2": np.array([2048, 512, 300])}
    together = cost(PRODUCT, matmul_plan(kind), **sizes)
    for n in range(3):
        alone = cost(PRODUCT, matmul_plan(kind), **{tag: int(column[n]) for tag, column in sizes.items()})
        for item in ("seconds", "steps", "bytes_in", "bytes_out", "vmem_bytes", "overhead_seconds", "exposed_seconds"):
            many, one = (np.broadcast_to(getattr(each, item), (3,))[n] for each in (together, alone))
            assert many == pytest.approx(one), item


def test_what_is_picked_by_products_is_counted_for_each_candidate() -> None:
    b0, b1 = map(parameter, ("b0", "b1"))
    x, o = (operand(name, (512, 2048), name == "o", 32, "f32") for name in "xo")
    entries = [(begin("i", b0), b0), (begin("j", b1), b1)]
    accesses = (access("x", "load", x, entries, ("i", "j")), access("o", "store", o, entries, ("i", "j")))
    model = LaunchModel("picked", (axis("i", b0, 512), axis("j", b1, 2048)), (x, o), accesses, ())
    buffers = (Buffer("x", "x", "one_hot", ("i", "j")), Buffer("o", "o", "window"))
    plan = Plan(("i", "j"), frozenset("ij"), buffers, {"x": "x", "o": "o"})
    together = cost(model, plan, b0=np.array([64, 128, 64]), b1=np.array([512, 512, 256]))
    alone = [cost(model, plan, b0=b0, b1=b1).seconds for b0, b1 in ((64, 512), (128, 512), (64, 256))]
    assert list(together.seconds) == pytest.approx(alone)


def test_a_schedule_that_is_not_said_is_a_plain_loop() -> None:
    plan = matmul_plan("resident")
    bare = replace(plan, loops={})
    assert cost(PRODUCT, bare, **SIZES) == cost(PRODUCT, plan, **SIZES)
    assert cost(PRODUCT, replace(plan, loops={"k": LoopSchedule("prefetch")}), **SIZES).steps == 8
