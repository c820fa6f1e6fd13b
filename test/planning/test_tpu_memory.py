"""Bytes of a plan in a TPU's memories, counted by hand: blocks by depth and padded to tiles, sums, live values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.ir.launch_model import LaunchModel
from kopt.ir.polynomial import parameter
from kopt.ir.register_code import Nest, RegisterCode, RegisterShape, RegisterStep
from kopt.planning.blocks import Blocks
from kopt.planning.register_trace import Sizing, WrittenVisits
from kopt.planning.tpu_memory import Memory, carried_bytes, planned_loops
from kopt.planning.trips import AllTrips, Trips, all_trips
from kopt.plans.plan import Buffer, LoopSchedule, Plan

from .launches import elementwise, matmul, matmul_plan

KiB = 1024


def memory(model: LaunchModel, plan: Plan, **sizes) -> Memory:
    trips = all_trips(model, sizes, {})
    return Memory(plan, trips, Blocks(model, plan, sizes, trips))


#: Bytes of blocks of bf16: 256 by 128, 128 by 512, 256 by 512.
X, Y, O = 64 * KiB, 128 * KiB, 256 * KiB


@pytest.mark.parametrize(
    ("extents", "wanted"),
    [
        ((1024, 1024, 1024), 2 * (X + Y + O) + 2 * O),  # sums of 32 bits beside
        ((256, 1024, 1024), 2 * (X + Y + O) + 2 * O),
        ((1024, 128, 1024), 2 * (X + Y + O)),  # one block of the sum: none is kept
        ((1024, 128, 512), 2 * (X + O) + Y),  # y's block never changes
        ((256, 128, 512), X + Y + O),
    ],
)
def test_windows_of_a_product(extents, wanted) -> None:
    assert memory(matmul(*extents), matmul_plan(), b0=256, b1=512, b2=128).vmem() == wanted


def test_sums_are_kept_where_any_of_their_axes_moves() -> None:
    """At several sizes at once: of 1024 by 512 elements, summed over 1024."""
    sizes = {"b0": 256, "b1": np.array([512, 128, 512]), "b2": np.array([128, 1024, 1024])}
    model = matmul(1024, 1024, 512)
    trips = all_trips(model, sizes, {})
    moved = Buffer("o", "o", "window", ("i",), options=(("accumulate", ("k",)), ("over", ("j",))))
    still = replace(moved, options=())
    found = Memory(matmul_plan(), trips, Blocks(model, matmul_plan(), sizes, trips))
    assert ((found._accumulator(moved) > 0) == [True, True, False]).all()
    assert found._accumulator(still) == 0


def test_residents_hold_what_loops_walk() -> None:
    """All 1024 of the sum, of 256 rows and of 512 columns, with no sums in memory."""
    found = memory(matmul(1024, 1024, 1024), matmul_plan("resident"), b0=256, b1=512, b2=128)
    assert found.vmem() == 2 * (8 * X + 8 * Y + O)


def test_blocks_are_padded_to_tiles() -> None:
    """9 by 130 elements of 16 bits are 16 by 256, 130 by 256 are 136 by 256; of one dimension, 128 words at least."""
    found = memory(matmul(90, 130, 256), matmul_plan("resident"), b0=9, b1=256, b2=130)
    assert found.vmem() == 2 * (16 * 256 * 2) + 136 * 256 * 2 + 2 * (16 * 256 * 2)
    model, plan = elementwise(4096, False)
    assert memory(model, plan, b0=128).vmem() == 2 * 2 * 128 * 4


def test_what_is_read_and_written_is_there_twice() -> None:
    model, plan = elementwise(1 << 16, True)
    assert memory(model, plan, b0=1024).vmem() == (2 + 4) * 1024 * 4


def test_buffers_without_accesses_or_from_others_take_nothing() -> None:
    model, plan = elementwise(1 << 16, False)
    more = (Buffer("unused", "x", "window", ("i",), 2), Buffer("x2", "x", "window", ("i",), 2, source="x"))
    without = memory(model, plan, b0=1024).vmem()
    assert memory(model, replace(plan, buffers=(*plan.buffers, *more)), b0=1024).vmem() == without
    assert memory(model, replace(plan, buffers=more[1:], via={"x": "x2", "o": "x2"}), b0=1024).vmem() == 0


def test_scalar_memory_is_counted_by_itself() -> None:
    model, plan = elementwise(1 << 16, False)
    scalars = replace(plan, buffers=(replace(plan.buffers[0], kind="smem"), plan.buffers[1]))
    found = memory(model, scalars, b0=2048)
    assert found.smem() == 2 * 2048 * 4 and found.vmem() == 2 * 2048 * 4
    assert memory(model, plan, b0=2048).smem() == 0


def test_candidates_at_once_are_each_by_itself() -> None:
    model, plan, sizes = matmul(1024, 1024, 1024), matmul_plan(), [128, 256, 1024]
    found = memory(model, plan, b0=256, b1=512, b2=np.array(sizes)).vmem()
    assert list(found) == [memory(model, plan, b0=256, b1=512, b2=size).vmem() for size in sizes]


b = parameter("b")
WIDE, SMALL, EDGE = ((256, b), 32), ((8, 128), 32), ((128, 128), 32)


#: A loop in a loop, which carry a value each.
CODE = RegisterCode(
    (
        RegisterStep("loop", (9,), (None,), nest=Nest((
            RegisterStep("loop", (5,), (None,), nest=Nest((), (1,), ((1,),), (1,), "k")),
        ), (0,), ((0,),), (0,), "j")),
    ),
    (RegisterShape((256, b)), RegisterShape((b, 1), 16)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        ({"j": "resident", "k": "prefetch"}, 0),
        ({}, 0),
        ({"j": "grid", "k": "resident"}, 256 * 512 * 4),
        ({"j": "resident", "k": "emit_pipeline"}, 512 * 128 * 2),  # a lane is padded to 128
        ({"j": "grid", "k": "emit_pipeline"}, 256 * 512 * 4 + 512 * 128 * 2),
    ],
)
def test_what_scratch_memory_carries(kinds: dict[str, str], wanted: int) -> None:
    loops = {tag: LoopSchedule(kind) for tag, kind in kinds.items()}
    assert carried_bytes(CODE, {"b": 512}, loops, AllTrips()) == wanted
    if wanted:
        assert list(carried_bytes(CODE, {"b": np.array([512, 512])}, loops, AllTrips())) == [wanted, wanted]


def test_a_single_visit_carries_nothing() -> None:
    loops, trips = {"j": LoopSchedule("grid")}, AllTrips(j=Trips(np.array([2, 1]), many=np.array([1, 0])))
    assert list(carried_bytes(CODE, {"b": 512}, loops, trips)) == [256 * 512 * 4, 0]


@pytest.mark.parametrize(
    ("loop", "trips", "wanted"),
    [
        (LoopSchedule("resident"), 5, WrittenVisits(1)),
        (LoopSchedule("resident", 4), 5, WrittenVisits(4)),
        (LoopSchedule("resident", 8), 5, WrittenVisits(5, all=True)),
        (LoopSchedule("grid"), 5, WrittenVisits(1, in_scratch=True)),
        (LoopSchedule("grid"), 1, WrittenVisits(1, all=True)),
        (LoopSchedule("emit_pipeline"), None, WrittenVisits(1, in_scratch=True)),
        (LoopSchedule("resident", 8), None, WrittenVisits(8)),
    ],
)
def test_loops_run_as_they_are_planned(loop: LoopSchedule, trips: int | None, wanted: WrittenVisits) -> None:
    known = {} if trips is None else {"k": Trips(trips)}
    assert planned_loops({"k": loop}, known)(Nest((), tag="k"), Sizing(CODE, {})) == wanted
    assert planned_loops({}, known)(Nest((), tag="j"), Sizing(CODE, {})) == WrittenVisits(1)


def test_loops_whose_visits_differ_are_not_written_out() -> None:
    """Nor are those of another candidate; this one's are, with the candidates that have as many."""
    nest, loops = Nest((), tag="k"), {"k": LoopSchedule("resident", 8)}
    assert planned_loops(loops, {"k": Trips(2.5, inside=frozenset("i"))})(nest, Sizing(CODE, {})) == WrittenVisits(8)
    sizing = Sizing(CODE, {}, 1)
    assert planned_loops(loops, {"k": Trips(np.array([4, 2, 2, 16]))})(nest, sizing) == WrittenVisits(2, all=True)
    assert list(sizing.same) == [False, True, True, False]
