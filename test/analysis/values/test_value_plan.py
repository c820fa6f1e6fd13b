"""The plan of accesses at computed places: which share a buffer, and what is read back from it."""

from __future__ import annotations

import pytest

from kopt.analysis.held_blocks import HeldBlock
from kopt.analysis.values.gathers import Choice
from kopt.analysis.values.value_plan import buffers_of, parallel_axes, sources_of, value_buffers, value_plan
from kopt.dialects.tile import LoadOp
from kopt.plans.pins import Pin
from kopt.plans.plan import Buffer
from test.analysis.one_launch import OneLaunch, one_launch

BODY = """%n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
      %rows = tile.index %i : !tile.range<b0=8>
      %a = tile.load %x[%n, :]{0} : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      %b = tile.load %x[%n, :]{1} : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      %block = tile.load %x[%i, :]{2} : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      %p = tile.load %x[%rows, %n]{3} : memref<64x128xf32> -> !tile.tile<b0=8 x f32>"""
GRID = "(%i: b0=8, %j: b1=1) in (64, 4)"


def launch(*via: str, order: str = "", plan: str = "") -> OneLaunch:
    names = [f" via @{name}" if name else "" for name in (*via, *[""] * (4 - len(via)))]
    return one_launch(BODY.format(*names), f"{GRID} {order}{plan}", "out", x="64x128xf32", ids="64xi32", out="4xf32")


def test_accesses_of_one_choice_share_a_buffer() -> None:
    found = launch()
    plan = value_plan(found.grid, {found["a"]: Choice("rows"), found["b"]: Choice("rows")}, {})
    assert plan.order == ("b0", "b1") and plan.parallel == {"b0", "b1"}
    assert plan.buffers == (Buffer(plan.buffers[0].name, plan.buffers[0].operand, "rows"),)
    assert len(plan.via) == 2 and {*plan.via.values()} == {plan.buffers[0].name}


def test_others_have_their_own() -> None:
    found = launch()
    plan = value_plan(found.grid, {found["a"]: Choice("rows"), found["b"]: Choice("one_hot")}, {})
    assert [buffer.kind for buffer in plan.buffers] == ["rows", "one_hot"]
    assert len({buffer.name for buffer in plan.buffers}) == 2


def test_a_pin_is_a_buffer_of_its_own() -> None:
    found = launch()
    pin = Pin("rows", ("b0",), 3)
    plan = value_plan(found.grid, {found["a"]: Choice("rows"), found["b"]: Choice("rows")}, {found["b"]: pin})
    first, second = plan.buffers
    assert (first.axes, first.depth, second.axes, second.depth) == ((), 1, ("b0",), 3)


def test_a_block_that_is_picked_from_is_a_window() -> None:
    found = launch()
    holder = found["block"]
    assert isinstance(holder, LoadOp)
    plan = value_plan(found.grid, {found["p"]: Choice("pick", HeldBlock(holder, 1, 1, False))}, {})
    window, pick = plan.buffers
    assert (window.kind, window.source) == ("window", None)
    assert (pick.kind, pick.source) == ("pick", window.name)


def test_nothing_chosen_is_an_empty_plan() -> None:
    plan = value_plan(launch().grid, {}, {})
    assert plan.buffers == () and plan.via == {}


@pytest.mark.parametrize(
    ("order", "parallel"),
    [("", {"b0", "b1"}), ("ordered [0]", {"b1"}), ("reduce [1]", {"b0"}), ("ordered [0, 1]", set())],
)
def test_axes_that_run_in_order_are_not_parallel(order: str, parallel: set[str]) -> None:
    assert parallel_axes(launch(order=order).grid) == parallel


def test_without_a_plan_there_are_no_buffers() -> None:
    found = launch()
    assert buffers_of(found.grid) == value_buffers(found.grid) == {}
    assert sources_of(found.grid, Buffer("p", "x", "pick")) == []


PLAN = "plan {order [i, j] parallel [i, j] @rows = %x rows @w = %x window @p = %x pick from @w}"


def test_a_plan_in_the_text_is_read_back() -> None:
    found = launch("rows", "rows", "w", "p", plan=PLAN)
    given = buffers_of(found.grid)
    assert {op.results[0].name_hint: buffer.kind for op, buffer in given.items()} == {
        "a": "rows",
        "b": "rows",
        "block": "window",
        "p": "pick",
    }
    assert {op.results[0].name_hint for op in value_buffers(found.grid)} == {"a", "b", "p"}
    assert sources_of(found.grid, given[found["p"]]) == [found["block"]]
    assert sources_of(found.grid, given[found["a"]]) == []
