"""The plan that is taken: the cheapest that fits the chip, and the usual one where nothing tells what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kopt.context import make_context
from kopt.dialects.tile import GridOp
from kopt.ir.index_expr import symbol
from kopt.ir.launch_model import Order
from kopt.parsing import parse_module
from kopt.pass_manager import run
from kopt.passes import PASSES
from kopt.passes.plan_accesses import PlanAccessesPass
from kopt.planning import choice
from kopt.planning.candidates import candidates, unrollable, with_unrolling
from kopt.planning.choice import cheapest
from kopt.planning.items import Cost
from kopt.plans.plan import LoopSchedule
from kopt.registry import load
from kopt.targets.budget import Budget
from kopt.targets.chips import TPU_CHIPS

from .launches import axis, matmul, matmul_plan

PRODUCT = """
func.func @product(%x: memref<{m}x{k}xbf16>, %y: memref<{k}x{n}xbf16>, %out: memref<{m}x{n}xbf16>) {{
  tile.grid (%i: b0=512, %j: b1=512) in ({m}, {n}) {{
    %z = tile.full 0.0 : !tile.tile<b0=512 x b1=512 x f32>
    %r = tile.for %k: b2=512 in (0, {k}) iter(%a = %z) -> (!tile.tile<b0=512 x b1=512 x f32>) {{
      %v = tile.load %x[%i, %k] : memref<{m}x{k}xbf16> -> !tile.tile<b0=512 x b2=512 x bf16>
      %w = tile.load %y[%k, %j] : memref<{k}x{n}xbf16> -> !tile.tile<b2=512 x b1=512 x bf16>
      %n = tile.dot %v, %w, %a : !tile.tile<b0=512 x b2=512 x bf16>, !tile.tile<b2=512 x b1=512 x bf16> -> !tile.tile<b0=512 x b1=512 x f32>
      tile.yield %n : !tile.tile<b0=512 x b1=512 x f32>
    }}
    %s = tile.cast %r : !tile.tile<b0=512 x b1=512 x f32> to !tile.tile<b0=512 x b1=512 x bf16>
    tile.store %s, %out[%i, %j] : !tile.tile<b0=512 x b1=512 x bf16>, memref<{m}x{n}xbf16>
  }}
  func.return
}}
"""  # noqa: E501

#: Four blocks from a number on that memory tells; every cell wants the same ones.
AT_A_NUMBER = """
func.func @at_a_number(%n: memref<40xi32>, %x: memref<{size}xf32>, %out: memref<51200xf32>) {{
  tile.grid (%i: b0=128) in (51200) {{
    %at = tile.load %n[0] : memref<40xi32> -> !tile.tile<i32>
    %one = tile.extract %at : !tile.tile<i32> to index
    %unit = arith.constant 512 : index
    %first = arith.muli %one, %unit : index
    %zero = tile.full 0.0 : !tile.tile<f32>
    %sum = tile.for %k: b1=128 in (0, 512) iter(%a = %zero) -> (!tile.tile<f32>) {{
      %place = tile.shift %k by %first : !tile.range<b1=128>
      %v = tile.load %x[%place] : memref<{size}xf32> -> !tile.tile<b1=128 x f32>
      %t = tile.reduce add %v [0] : !tile.tile<b1=128 x f32>
      %s = tile.add %a, %t : !tile.tile<f32>
      tile.yield %s : !tile.tile<f32>
    }}
    %b = tile.broadcast %sum dims [] : !tile.tile<f32> to !tile.tile<b0=128 x f32>
    tile.store %b, %out[%i] : !tile.tile<b0=128 x f32>, memref<51200xf32>
  }}
  func.return
}}
"""


def planned(text: str, chip: str) -> str:
    module = parse_module(text)
    run(module, make_context(), [load(PASSES["functionalise-host"])(), PlanAccessesPass(chip=chip)])
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    return str(grid)


@pytest.mark.parametrize("chip", ["v6e", "tpu7x"])
def test_rows_that_fit_stay_on_the_chip(chip: str) -> None:
    """Windows that hold whole sums move less, and have no steps of their own."""
    text = planned(PRODUCT.format(m=2048, k=2048, n=2048), chip)
    assert "schedule resident" in text and "@x = %x resident(i) x2" in text


@pytest.mark.parametrize("chip", ["v6e", "tpu7x"])
def test_rows_that_do_not_fit_come_in_blocks(chip: str) -> None:
    """One row and one column of blocks would take 256 MiB."""
    assert "schedule resident" not in planned(PRODUCT.format(m=2048, k=131072, n=2048), chip)


def test_what_may_begin_anywhere_is_held_whole_or_fetched() -> None:
    """20 MiB once, or 2 KiB for each of 400 cells; 200 MiB do not fit."""
    assert "resident" in planned(AT_A_NUMBER.format(size=5120000), "tpu7x")
    assert "@x = %x prefetch(k) x2" in planned(AT_A_NUMBER.format(size=51200000), "v6e")


V5P = TPU_CHIPS["v5p"]
#: What a grid may take of it: half of 64 MiB.
MOST = V5P.vmem_bytes // 2


def costs_of(seconds: float | None, vmem: int | None = 0, live: int | None = 0, slots: float = 0) -> Cost:
    return Cost(seconds=seconds, vmem_bytes=vmem, live_bytes=live, slots=slots)


@pytest.mark.parametrize(
    ("found", "taken"),
    [
        ([costs_of(10.0)], 0),
        ([costs_of(10.0), costs_of(9.4)], 1),
        ([costs_of(10.0), costs_of(9.5)], 0),  # less by 5 % is within the error of plans of one kernel
        ([costs_of(10.0), costs_of(8.0), costs_of(2.0), costs_of(2.0)], 2),  # of equal ones the first
        ([costs_of(10.0), costs_of(10.0)], 0),
        ([costs_of(10.0), costs_of(1.0, MOST + 1), costs_of(8.0)], 2),
        ([costs_of(10.0), costs_of(1.0, MOST, 1), costs_of(8.0)], 2),  # values take memory too
        ([costs_of(10.0), costs_of(1.0, MOST // 2, MOST // 2)], 1),
        ([costs_of(10.0), costs_of(4.0, 0, 0, 3 * Budget.SLOTS)], 0),  # three times the code has to pay
        ([costs_of(10.0), costs_of(2.0, 0, 0, 3 * Budget.SLOTS)], 1),
        ([costs_of(10.0), costs_of(4.0, 0, 0, Budget.SLOTS)], 1),
        ([costs_of(10.0), costs_of(1.0, None)], 0),
        ([costs_of(10.0), costs_of(1.0, 0, None)], 0),
        ([costs_of(10.0), costs_of(None), costs_of(8.0)], 2),
        ([costs_of(None), costs_of(1.0)], 0),  # nothing to compare with
        ([costs_of(10.0, MOST + 1), costs_of(30.0), costs_of(20.0)], 2),  # the usual one does not fit
        ([costs_of(10.0, MOST + 1), costs_of(1.0, MOST + 1)], 0),
    ],
)
def test_cheapest(monkeypatch: pytest.MonkeyPatch, found: Sequence[Cost], taken: int) -> None:
    """By costs that are told to it: the clearly cheapest of those that fit, else the usual one."""
    monkeypatch.setattr(choice, "costs", lambda model, sizes, plans, chip: iter(found))
    plans = [replace(matmul_plan(), order=(str(number),)) for number in range(len(found))]
    assert cheapest(matmul(1024, 1024, 1024), plans, V5P) == taken


@pytest.mark.parametrize(
    ("found", "taken"),
    [
        ([10.0, 9.9, 9.8, 9.5], 2),  # the same as the usual one, unrolled; another kind of plan is not clearly cheaper
        ([10.0, 10.0, 11.0, 20.0], 0),
        ([10.0, 9.0, 9.5, 8.6], 1),  # compared with the usual one as it is taken
        ([10.0, 9.0, 9.5, 8.0], 3),
    ],
)
def test_what_is_unrolled_need_not_be_clearly_cheaper(monkeypatch, found: Sequence[float], taken: int) -> None:
    """Plans that differ by that alone move the same."""
    monkeypatch.setattr(choice, "costs", lambda model, sizes, plans, chip: iter(map(costs_of, found)))
    usual = matmul_plan("resident")
    plans = [replace(usual, loops={"k": LoopSchedule("resident", unroll=factor)}) for factor in (1, 2, 4)]
    assert cheapest(matmul(1024, 1024, 1024), [*plans, matmul_plan("prefetch")], V5P) == taken


@pytest.mark.parametrize(("form", "unrolled"), [("unrolled", ["k"]), ("loop", ["l"])])
def test_only_inner_loops_are_unrolled(form: str, unrolled: list[str]) -> None:
    """A dimension that is whole in a loop's body is no loop in it."""
    model = matmul(1024, 1024, 1024)
    model = replace(model, axes=(*model.axes, axis("l", 128, 512, form, ("i", "j", "k"))))
    assert unrollable(model, {"k": "resident", "l": "resident"}) == unrolled


@pytest.mark.parametrize(
    ("visits", "factors"), [(1, []), (2, [2]), (4, [2, 4]), (6, [2, 3, 6]), (7, [7]), (11, []), (16, [2, 4, 8])]
)
def test_loops_are_unrolled_by_what_divides_their_visits(visits: int, factors: list[int]) -> None:
    model = matmul(1024, 1024, 128 * visits)
    model = replace(model, axes=(*model.axes[:2], axis("k", 128, 128 * visits, "loop", ("i", "j"))))
    plans = [*with_unrolling(model, matmul_plan("resident"))]
    assert [plan.loops["k"].unroll for plan in plans] == [1, *factors]
    assert len([*with_unrolling(model, matmul_plan("resident"), rolled=["k"])]) == 1


def test_the_only_plan_costs_nothing_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "costs", None)
    assert cheapest(matmul(1024, 1024, 1024), [matmul_plan()], V5P) == 0


@pytest.mark.parametrize(("summed", "taken"), [(512, 1), (1024, 0)])
def test_nothing_is_copied_beside_the_only_visit(monkeypatch: pytest.MonkeyPatch, summed: int, taken: int) -> None:
    """Of a loop with one visit, whatever is usual: that is straight code. Where nothing else fits it stays."""
    model = replace(matmul(1024, summed, 1024), sizes={"b0": 128, "b1": 128, "b2": 512})
    plans = [matmul_plan("prefetch"), matmul_plan("resident")]
    monkeypatch.setattr(choice, "costs", lambda model, sizes, plans, chip: iter(map(costs_of, (10.0, 10.5))))
    assert cheapest(model, plans, V5P) == taken
    large = [costs_of(10.0), costs_of(10.5, MOST + 1)]
    monkeypatch.setattr(choice, "costs", lambda model, sizes, plans, chip: iter(large))
    assert cheapest(model, plans, V5P) == 0


def test_cores_do_not_share_what_updates_the_same_elements() -> None:
    model = matmul(1024, 1024, 1024)
    accesses = [replace(one, mode="atomic") if one.operand == "o" else one for one in model.accesses]
    axes = [replace(one, form="grid") for one in model.axes]
    orders = (Order(("i", "j", "k"), frozenset("ijk"), ()),)
    plans = [
        next(candidates(replace(model, axes=axes, accesses=found, orders=orders))) for found in (accesses, accesses[:2])
    ]
    assert [plan.parallel for plan in plans] == [frozenset("ij"), frozenset("ijk")]


def test_cores_do_not_share_rows_that_are_stored_where_loaded_numbers_say() -> None:
    """Rows of two groups may be in one tile of the result."""
    model = matmul(1024, 1024, 1024)
    store = next(one for one in model.accesses if one.operand == "o")
    (_, columns), begun = store.relation.indices, symbol("begin")
    grouped = replace(store, relation=replace(store.relation, indices=(begun, columns)))
    axes, orders = [replace(one, form="grid") for one in model.axes[:2]], (Order(("i", "j"), frozenset("ij"), ()),)
    found = (
        replace(model, axes=axes, accesses=[one], operands=model.operands[2:], orders=orders)
        for one in (store, grouped)
    )
    assert [next(candidates(one)).parallel for one in found] == [frozenset("ij"), frozenset("j")]
