"""Whether a load may find what the same cell has put there before."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.store_to_load import may_see, seen_writes, writes_to
from kopt.dialects.atomic import RmwOp
from kopt.dialects.tile import LoadOp, StoreOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.walk import walk
from test.named import named

TEXT = """
func.func @f(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %go: memref<1xi1>) {{
  tile.grid (%i: b0=8, %j: b1=8) in (64, 64) {order} {{
    %v = tile.full 1.0 : !tile.tile<b0=8 x f32>
    %w = tile.full 1.0 : !tile.tile<f32>
    %id = tile.id %i : !tile.range<b0=8>
    {body}
  }}
  func.return
}}
"""
LOAD = "%old = tile.load %x[{}] : memref<64x64xf32> -> !tile.tile<{}f32>"
STORE = "tile.store %{}, %x[{}] : !tile.tile<{}f32>, memref<64x64xf32>"


def load(entries: str, dims: str = "") -> str:
    return LOAD.format(entries, dims)


def store(entries: str, dims: str = "", value: str = "w") -> str:
    return STORE.format(value, entries, dims)


def sees(body: str, order: str = "") -> bool:
    """Whether the load of ``%x`` may see the write of it."""
    module = parse(TEXT.format(body=body, order=order))
    (first,) = (op for op in walk(module, LoadOp) if op.memory is named(module)["x"])
    (write,) = writes_to(first.memory)
    found = may_see(first, write, IndexAnalysis())
    assert seen_writes(first, IndexAnalysis()) == [write] * found
    return found


def loop(body: str, name: str = "k", bounds: str = "(0, 64)") -> str:
    return f"tile.for %{name}: b{ord(name)}=8 in {bounds} {{\n{body}\n}}"


BLOCK = "bk=8 x ".replace("bk", f"b{ord('k')}")
FULL = f"%ones = tile.full 1.0 : !tile.tile<{BLOCK}f32>"
AT_K = f"{FULL}\n{load('%k, 0', BLOCK)}\n{store('%k, 0', BLOCK, 'ones')}"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (f"{load('0, 0')}\n{store('0, 0')}", False),
        (f"{store('0, 0')}\n{load('0, 0')}", True),
        # Elsewhere is not asked: where two numbers differ is for others to say.
        (f"{store('0, 0')}\n{load('1, 1')}", True),
        (f"{loop(load('0, 0'))}\n{store('0, 0')}", False),
        (f"{load('0, 0')}\n{loop(store('0, 0'))}", False),
        (f"{loop(store('0, 0'))}\n{load('0, 0')}", True),
        # The next visit finds what this one has put there.
        (loop(f"{load('0, 0')}\n{store('0, 0')}"), True),
        (loop(AT_K), False),
        # Every loop has to move both on.
        (loop(loop(AT_K), "h"), True),
        (loop(f"{FULL}\n{store('%k, 0', BLOCK, 'ones')}\n{load('%k, 0', BLOCK)}"), True),
        # Along different dimensions a later visit may come where an earlier one was.
        (loop(f"{FULL}\n{load('%k, 0', BLOCK)}\n{store('0, %k', BLOCK, 'ones')}"), True),
        (loop(f"{load('0, 0')}\n{FULL}\n{store('%k, 0', BLOCK, 'ones')}"), True),
    ],
)
def test_a_load_sees_writes_that_stand_before_it_or_are_made_on_earlier_visits(body: str, wanted: bool) -> None:
    assert sees(body) == wanted


@pytest.mark.parametrize(("visit", "wanted"), [("first", False), ("last", True)])
def test_on_the_first_visit_there_was_none_before(visit: str, wanted: bool) -> None:
    body = f"tile.when {visit}(%k) {{\n{load('0, 0')}\n}}\n{store('0, 0')}"
    assert sees(loop(body)) == wanted


def test_the_first_visit_of_an_inner_loop_comes_again() -> None:
    body = f"tile.when first(%k) {{\n{load('0, 0')}\n}}\n{store('0, 0')}"
    assert sees(loop(loop(body), "h"))


@pytest.mark.parametrize(("order", "wanted"), [("", False), ("reduce [1]", True), ("ordered [0]", True)])
def test_cells_that_run_in_order_see_what_those_before_have_put_there(order: str, wanted: bool) -> None:
    assert sees(f"{load('0, 0')}\n{store('0, 0')}", order) == wanted


def test_cells_in_order_that_go_elsewhere_see_nothing() -> None:
    text = f"{load('%i, 0', 'b0=8 x ')}\n{store('%i, 0', 'b0=8 x ', 'v')}"
    assert not sees(text, "reduce [0]")
    assert sees(text, "reduce [1]")


@pytest.mark.parametrize(("place", "wanted"), [("at", False), ("far", True)])
def test_numbers_of_lanes_are_the_range(place: str, wanted: bool) -> None:
    body = f"""%at = tile.index %k : !tile.range<b{ord("k")}=8>
    %two = tile.full 2 : !tile.tile<b{ord("k")}=8 x i32>
    %far = tile.add %at, %two : !tile.tile<b{ord("k")}=8 x i32>
    {FULL}
    {load("%at, 0", BLOCK)}
    {store(f"%{place}, 0", BLOCK, "ones")}"""
    assert sees(loop(body)) == wanted


def test_a_loop_of_unknown_visits_may_come_again() -> None:
    body = f"""%yes = arith.constant true
    tile.while %yes iter(%a = %w) -> (!tile.tile<f32>) {{
      {load("0, 0")}
      {store("0, 0")}
      tile.yield %yes, %a : i1, !tile.tile<f32>
    }}"""
    assert sees(body)


def test_branches_are_taken_to_follow_one_another() -> None:
    body = f"""%yes = arith.constant true
    scf.if %yes {{
      {load("0, 0")}
    }} else {{
      {store("0, 0")}
    }}"""
    assert sees(body)


def test_updates_are_writes_and_loads_are_none() -> None:
    body = f"""{load("0, 0")}
    atomic.rmw add %w, %x[0, 0] : !tile.tile<f32>, memref<64x64xf32>
    {store("0, 0")}"""
    module = parse(TEXT.format(body=body, order=""))
    assert set(writes_to(named(module)["x"])) == {*walk(module, RmwOp), *walk(module, StoreOp)}
    assert writes_to(named(module)["y"]) == []
