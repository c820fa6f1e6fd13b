"""Orders of a grid: parallel axes change places, all others and fixed pairs stay."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kopt.ir.launch_model import LaunchModel, Order
from kopt.planning.orders import ordered, orders, reordered
from kopt.plans.plan import Buffer, LoopSchedule, Plan


@pytest.mark.parametrize(
    ("parallel", "fixed", "found"),
    [
        ("ij", [], ["jik"]),
        ("ijk", [], ["ikj", "jik", "jki", "kij", "kji"]),
        ("ik", [], ["kji"]),
        ("i", [], []),
        ("ijk", ["ij"], ["ikj", "kij"]),
        ("ijk", ["ij", "jk"], []),
    ],
)
def test_orders(parallel: str, fixed: Sequence[str], found: Sequence[str]) -> None:
    pairs = tuple((first, second, "written twice") for first, second in fixed)
    model = LaunchModel("f", (), (), (), orders=(Order(("i", "j", "k"), frozenset(parallel), pairs),))
    plan = Plan(("i", "j", "k"), frozenset(parallel), (), {})
    assert ["".join(order) for order in orders(model, plan)] == found


def test_loops_that_became_axes_stay_innermost() -> None:
    plan = Plan(("i", "j", "k"), frozenset("ijk"), (), {}, loops={"k": LoopSchedule("grid")})
    assert [*orders(LaunchModel("f", (), (), ()), plan)] == [("j", "i", "k")]


def test_buffers_move_with_axes_in_their_order() -> None:
    plan = Plan(("i", "j"), frozenset("ij"), (Buffer("x", "x", "window", ("i", "j"), 2),), {})
    (other,) = reordered(LaunchModel("f", (), (), ()), plan)
    assert other == ordered(plan, ("j", "i")) and other.buffers[0].axes == ("j", "i")
