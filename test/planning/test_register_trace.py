"""Traces of steps written by hand, at sizes that are numbers or arrays of them."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.ir.polynomial import parameter
from kopt.ir.register_code import Nest, RegisterCode, RegisterShape, RegisterStep, Visited
from kopt.planning.register_trace import Sizing, Trace, WrittenVisits, as_written, least, registers, trace
from kopt.planning.trips import max_of

b = parameter("b")
SHAPES = (RegisterShape((256, b)), RegisterShape((256, 1)), RegisterShape((256, b), 16))


def traced(*steps: RegisterStep, sizes=1024, candidate: int = 0, schedule=as_written) -> tuple[Trace, Sizing]:
    code = RegisterCode(steps, SHAPES)
    sizing = Sizing(code, {"b": sizes}, candidate)
    return trace(code, sizing, 256, schedule), sizing


@pytest.mark.parametrize(
    ("lanes", "bits", "wanted"),
    [
        ((8, 128), 32, 1),
        ((1, 128), 32, 1),
        ((9, 129), 32, 4),
        ((16, 128), 16, 1),
        ((3, 8, 128), 32, 3),
        ((2048,), 32, 2),
        ((), 32, 0),
    ],
)
def test_registers_of_values(lanes, bits: int, wanted: int) -> None:
    assert registers(lanes, bits) == wanted
    if lanes:
        assert list(registers((np.array(lanes[:1] * 2), *lanes[1:]), bits)) == [wanted, wanted]


READ = RegisterStep("read", (0,), shapes=(0,), key=(7,))


def test_what_is_computed_with_a_column_can_wait_where_it_is_small() -> None:
    """A sum of each row is no half of what it is added to, but of blocks of 128 lanes."""
    steps = (READ, RegisterStep("combine", (1,), (0,), (1,), flag=True), RegisterStep("compute", (2,), (0, 1), (0,)))
    sizes = np.array([128, 1024, 256, 4096])
    lazy = [traced(*steps, sizes=int(size))[0].ops[-1].lazy for size in sizes]
    assert lazy == [False, True, False, True]
    for candidate in range(4):
        found, sizing = traced(*steps, sizes=sizes, candidate=candidate)
        assert found.ops[-1].lazy == lazy[candidate]
        assert list(sizing.same) == [one == lazy[candidate] for one in lazy]
        assert list(found.ops[0].size) == [32, 256, 64, 1024]


def test_narrow_values_are_widened() -> None:
    narrow = RegisterStep("read", (0,), shapes=(2,), key=(7,))
    (found, _) = traced(
        narrow, RegisterStep("cast", (1,), (0,), (0,), ("f32",)), RegisterStep("cast", (2,), (0,), (0,), ("f32",))
    )
    assert [(op.size, op.widens) for op in found.ops] == [(128, False), (256, True)]  # the second cast is the first


def test_lanes_that_are_taken_come_a_phase_later_and_all_at_once() -> None:
    """Meanwhile the numbers of those that are asked for are in registers: one for 128 of them."""
    steps = (READ, RegisterStep("take", (1,), (0,), (0, 1)), RegisterStep("compute", (2,), (1,), (0,)))
    code = RegisterCode(steps, (SHAPES[0], RegisterShape((200,))))
    found = trace(code, Sizing(code, {"b": 1024}), 256)
    _, taken, user = found.ops
    assert taken.ends and taken.together and not taken.lazy
    assert (user.at, user.operands) == (taken.at + 1, (taken,))
    assert found.inside == [(taken.at, taken.at + 1, 2)]


def test_a_masked_read_waits_for_its_mask() -> None:
    """One of a mask that is computed from memory can still wait; one by what a product tells cannot."""
    later = RegisterStep("read", (3,), (1,), (0,), (7, 1))
    cheap, _ = traced(READ, RegisterStep("compute", (1,), (0,), (0,)), later)
    kept, _ = traced(READ, RegisterStep("compute", (1,), (0,), (0,), flag=True), later)
    assert [found.ops[-1].reads for found in (cheap, kept)] == [True, False]


def product(sizes) -> Trace:
    """A product of 512 rows, over ``b``, of 512 columns."""
    code = RegisterCode(
        (
            RegisterStep("read", (0,), shapes=(1,), key=(1,)),
            RegisterStep("read", (1,), shapes=(2,), key=(2,)),
            RegisterStep("product", (2,), (0, 1), (0, 1, 2)),
        ),
        (RegisterShape((512, 512)), RegisterShape((512, b), 16), RegisterShape((b, 512), 16)),
    )
    return trace(code, Sizing(code, {"b": sizes}), 256)


def test_products_keep_sums_between_parts() -> None:
    """Two parts none, three the sums of 256 columns; four the rows besides, which they ask for again."""
    sizes = [512, 768, 1024]
    found = [product(size).inside for size in sizes]
    assert found == [[(0, 1, 0)], [(0, 1, 128)], [(0, 1, 128 + 256)]]
    ((_, _, kept),) = product(np.array(sizes)).inside
    assert list(kept) == [0, 128, 384]


def loop(unroll: int = 1, trips: int | None = None) -> RegisterStep:
    read = RegisterStep("read", (3,), shapes=(0,), key=(9, Visited(0, 0, 0)))
    nest = Nest(
        (read, RegisterStep("compute", (2,), (1, 3), (0,), flag=True)), (1,), ((0,),), (2,), "k", 0, unroll, trips
    )
    return RegisterStep("loop", (4,), (0,), nest=nest)


@pytest.mark.parametrize(
    ("unroll", "trips", "reads", "fenced"), [(1, 4, 1, True), (2, 4, 2, True), (4, 4, 4, False), (2, None, 2, True)]
)
def test_visits_that_are_written_out(unroll: int, trips: int | None, reads: int, fenced: bool) -> None:
    found, _ = traced(READ, loop(unroll, trips), RegisterStep("write", (), (4,)))
    assert sum(op.reads for op in found.ops) == reads + 1
    assert (found.ops[-1].at > 0) == fenced


def test_plans_say_how_loops_run() -> None:
    """What is carried in scratch memory is read by each visit, and written by it."""
    found, _ = traced(
        READ, loop(), RegisterStep("write", (), (4,)), schedule=lambda nest, sizing: WrittenVisits(in_scratch=True)
    )
    assert [op.reads for op in found.ops if op.size is found.ops[0].size or op.size == 256] == [
        True, True, True, False, True,
    ]  # fmt: skip


def test_the_most_and_the_least_of_each_candidate() -> None:
    assert max_of([]) == 0 and max_of([3, 5, 4]) == 5 and least(3, 2) == 2
    assert list(max_of([3, np.array([1, 7])])) == [3, 7] and list(least(3, np.array([1, 7]))) == [1, 3]
