"""What all plans of a launch share at given sizes: trips, places, cycles of work, values alive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.ir.index_expr import block_number, number
from kopt.ir.launch_model import LaunchModel, Work
from kopt.ir.polynomial import parameter
from kopt.ir.register_code import Nest, RegisterCode, RegisterShape, RegisterStep
from kopt.ir.value_range import ValueRange
from kopt.planning.at_sizes import AtSizes
from kopt.planning.tpu_work import cycles
from kopt.planning.trips import UnknownError
from kopt.plans.plan import LoopSchedule
from kopt.targets.chips import TPU_CHIPS
from kopt.targets.costs import TPU_COSTS

from .launches import axis, grouped, matmul

V6E = TPU_CHIPS["v6e"]
SIZES = {"b0": 128, "b1": 256, "b2": 512}
PRODUCT = matmul(1000, 3000, 2000)


def at(model: LaunchModel, sizes=SIZES, lengths=None) -> AtSizes:
    return AtSizes(model, sizes, V6E, lengths or {})


def test_the_last_block_counts_as_one() -> None:
    assert {tag: float(trips.mean) for tag, trips in at(PRODUCT).trips.items()} == {"i": 8, "j": 8, "k": 6}


def test_given_sizes_go_before_those_of_the_model() -> None:
    model = replace(PRODUCT, sizes={"b0": 8, "b1": 16, "b2": 32})
    assert at(model, {"b1": 256}).sizes == {"b0": 8, "b1": 256, "b2": 32}
    assert at(model, {}).trips["i"].mean == 125


def test_places_are_each_there_once() -> None:
    """Of the work first, then of accesses."""
    assert at(PRODUCT).paths == [("i", "j", "k"), ("i", "j")]
    assert at(replace(PRODUCT, work=(), accesses=())).paths == []


def test_work_is_counted_by_its_place() -> None:
    model = PRODUCT
    outside = Work("elementwise", (("m", 128), ("n", 256)), "f32", ("i", "j"), 3)
    model = replace(model, work=(*model.work, outside, outside))
    found = at(model).work({}, {})
    costs = TPU_COSTS["v6e"]
    assert found == {
        ("i", "j", "k"): cycles(PRODUCT.work, SIZES, costs),
        ("i", "j"): cycles([outside], SIZES, costs) + cycles([outside], SIZES, costs),
    }


def test_no_work_is_at_no_place() -> None:
    assert at(replace(PRODUCT, work=())).work({}, {}) == {}


#: Rows that are read, passed from visit to visit of a loop and added to, and written.
CODE = RegisterCode(
    (
        RegisterStep("read", (0,), shapes=(0,)),
        RegisterStep(
            "loop", (3,), (0,), nest=Nest((RegisterStep("compute", (2,), (1,), (0,)),), (1,), ((0,),), (2,), "k", 0)
        ),
        RegisterStep("write", (), (3,)),
    ),
    (RegisterShape((parameter("b0"), 1024)),),
)


@pytest.mark.parametrize(
    ("kind", "unroll", "wanted"),
    [
        ("resident", 1, 512 - 42),  # what a visit takes and what it passes on
        ("grid", 1, 512),  # both in scratch memory, where there is one
        ("emit_pipeline", 1, 512),
        ("resident", 8, 0),  # no loop is left
    ],
)
def test_what_a_loop_carries_is_in_registers_or_in_scratch_memory(kind: str, unroll: int, wanted: int) -> None:
    """Of 512 rows of 8 registers each a register is one of 64 rows' tile: 512 of them."""
    found = at(replace(PRODUCT, code=CODE), {"b0": 512, "b1": 128, "b2": 512})
    assert found.trips["k"].mean == 6
    assert found.live({"k": LoopSchedule(kind, unroll)}) == wanted * 4096


def test_candidates_at_once_are_each_by_itself() -> None:
    candidates = {"b0": np.array([8, 100, 1000]), "b1": np.array([128, 128, 2000]), "b2": np.array([128, 3000, 7])}
    together = at(PRODUCT, candidates)
    for n in range(3):
        alone = at(PRODUCT, {tag: int(sizes[n]) for tag, sizes in candidates.items()})
        for tag in "ijk":
            assert together.trips[tag].mean[n] == alone.trips[tag].mean  # pyright: ignore
        ((_, many),) = together.work({}, {}).items()
        ((_, one),) = alone.work({}, {}).items()
        assert many.mxu[n] == one.mxu  # pyright: ignore


def test_what_only_a_launch_tells_is_unknown() -> None:
    found = at(grouped(1024, 256, 512, 4))
    with pytest.raises(UnknownError):
        found.trips["m"]
    assert at(grouped(1024, 256, 512, 4), lengths={"m": [128, 0, 129, 1]}).trips["m"].mean == 1


def test_a_range_up_to_the_numbers_of_outer_blocks_wants_the_sizes_that_these_have() -> None:
    """A triangle: columns up to the end of the rows, in blocks of as many or half as many."""
    rows, columns = parameter("b0"), parameter("b1")
    end = (block_number("i", rows, ValueRange(0)) + number(1)) * rows
    triangle = replace(
        PRODUCT,
        axes=(axis("i", rows, 1024), axis("j", columns, 0, "loop", ("i",), upper=end)),
        accesses=(), work=(), factors=(),
    )  # fmt: skip
    found = at(triangle, {"b0": 128, "b1": 64}).trips
    assert found["i"].mean == 8 and found["j"].mean == sum(range(2, 18, 2)) / 8
    for sizes in ({"b0": 128}, {"b1": 64}, {}):
        with pytest.raises(UnknownError):
            at(replace(triangle, sizes={}), sizes).trips["j"]
    other = block_number("i", rows, ValueRange(0)) * parameter("b9")
    unknown = replace(triangle, axes=(triangle.axes[0], axis("j", columns, 0, "loop", ("i",), upper=other)), sizes={})
    with pytest.raises(UnknownError):
        at(unknown, {"b0": 128, "b1": 64}).trips["j"]
    assert at(unknown, {"b0": 128, "b1": 64, "b9": 128}).trips["j"].mean == sum(range(0, 16, 2)) / 8
