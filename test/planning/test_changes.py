"""Choices beside the one that was made: of block sizes and of plans, in words."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.planning.changes import Sized, plan_change
from kopt.plans.plan import LoopSchedule, Plan

INF = float("inf")


@pytest.mark.parametrize(
    ("seconds", "single", "wanted"),
    [
        ([5, 4, 3, 6], False, {"b0": 16, "b1": 32}),
        ([5, 4, 3, 6], True, {"b0": 8, "b1": 32}),  # the cheapest of those that change one size
        ([4, 5, 3, 2], True, {"b0": 16, "b1": 16}),
        ([INF, INF, 3, 6], True, None),
        ([INF, INF, 3, 6], False, {"b0": 16, "b1": 32}),
        ([INF, INF, INF, 1], False, None),  # but for what blocks have
    ],
)
def test_the_cheapest_other_sizes(seconds: list[float], single: bool, wanted: dict[str, int] | None) -> None:
    sizes = {"b0": np.array([16, 8, 16, 8]), "b1": np.array([16, 32, 32, 16])}
    found = Sized([["b0"], ["b1"]], sizes, np.array(seconds), {"b0": 8, "b1": 16})
    assert found.best(single) == wanted and found.base == seconds[-1]


def plan(order: str = "ijk", loops: dict[str, LoopSchedule] | None = None, **options: int) -> Plan:
    return Plan(tuple(order), frozenset(), (), {}, loops or {}, tuple(options.items()))


GRID, UNROLLED = LoopSchedule("grid"), LoopSchedule("resident", unroll=4)


@pytest.mark.parametrize(
    ("old", "new", "words", "config"),
    [
        (plan(), plan(), "", {}),
        (plan(loops={"k": GRID}), plan(loops={"k": GRID}), "", {}),
        (plan(loops={"k": GRID}), plan(loops={"k": UNROLLED}), "loop cols resident unroll 4 (not grid)",
         {"loops": {"cols": "resident unroll 4"}}),
        (plan("ij"), plan("ijk", {"k": GRID}), "loop cols grid (not as it is)", {"loops": {"cols": "grid"}}),
        (plan(loops={"k": LoopSchedule("grid", unroll=1)}), plan(loops={"k": LoopSchedule("grid", unroll=2)}),
         "loop cols grid unroll 2 (not grid)", {"loops": {"cols": "grid unroll 2"}}),
        (plan("ijk", {"k": GRID}), plan("kij", {"k": GRID}), "", {}),  # a loop's place is its own
        (plan("ij"), plan("ji"), "the grid's axes in the order j, rows", {"order": ["j", "rows"]}),
        (plan(warps=4, stages=3), plan(warps=8, stages=3), "8 warps (not 4)", {"num_warps": 8}),
        (plan(warps=4, stages=2), plan(warps=8, stages=3), "8 warps (not 4); 3 stages (not 2)",
         {"num_warps": 8, "num_stages": 3}),
    ],
)  # fmt: skip
def test_what_differs_between_plans(old: Plan, new: Plan, words: str, config: dict) -> None:
    assert plan_change(old, new, {"i": "rows", "k": "cols"}) == (words, config)
