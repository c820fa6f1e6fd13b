"""Whether the order of the cells can be seen in what their updates leave."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.atomic_targets import targets
from kopt.dialects.tile import GridOp
from test.named import named, only

TEXT = """
func.func @f(%x: memref<64xi32>, %y: memref<64xi32>) {{
  tile.grid (%i: b0=8) in (64) {{
    %v = tile.full 1 : !tile.tile<b0=8 x i32>
    {body}
  }}
  func.return
}}
"""
TILE, MEMORY = "!tile.tile<b0=8 x i32>", "memref<64xi32>"


def update(kind: str, array: str = "x") -> str:
    return f"atomic.rmw {kind} %v, %{array}[%i] : {TILE}, {MEMORY}"


def previous(kind: str = "add") -> str:
    return f"%old = {update(kind)} -> {TILE}"


CAS = f"%was = atomic.cas %v, %v, %x[%i] : {TILE}, {MEMORY}"
LOAD = f"%l = tile.load %x[%i] : {MEMORY} -> {TILE}"
STORE = f"tile.store %v, %x[%i] : {TILE}, {MEMORY}"


def grid(*ops: str) -> GridOp:
    return only(parse(TEXT.format(body="\n".join(ops))), GridOp)


@pytest.mark.parametrize("kind", ["add", "max", "min", "and", "or", "xor"])
def test_updates_of_one_kind_commute(kind: str) -> None:
    (target,) = targets(grid(update(kind), update(kind)))
    assert target.name == "'x'" and len(target.accesses) == 2 and target.turns is None


def test_a_previous_value_that_nobody_uses_does_not_count() -> None:
    (target,) = targets(grid(previous()))
    assert target.turns is None


@pytest.mark.parametrize(
    ("ops", "place", "why"),
    [
        ((previous(), f"%s = tile.add %old, %v : {TILE}"), 0, "the previous value of 'x' is used"),
        ((CAS,), 0, "what a compare-and-swap finds in 'x' depends on it"),
        ((update("xchg"),), 0, "the last exchange of 'x' stays"),
        ((update("add"), update("max")), 0, "add and max of 'x' do not commute"),
        ((update("add"), LOAD), 1, "'x' is also read beside its updates"),
        ((STORE, update("add")), 0, "'x' is also written beside its updates"),
        ((update("add"), CAS), 1, "what a compare-and-swap finds in 'x' depends on it"),
        ((update("xchg"), update("add")), 0, "the last exchange of 'x' stays"),
    ],
)
def test_what_makes_cells_take_turns(ops: tuple[str, ...], place: int, why: str) -> None:
    (target,) = targets(grid(*ops))
    assert target.turns is not None
    assert (target.turns.op, target.turns.reason) == (target.accesses[place], why)


def test_each_array_is_judged_by_itself() -> None:
    given = grid(update("add", "y"), LOAD, update("max"))
    values = named(given.parent_op().parent_op())  # pyright: ignore
    y, x = targets(given)
    assert (y.memory, x.memory) == (values["y"], values["x"])
    assert y.turns is None and x.turns is not None and x.turns.reason == "'x' is also read beside its updates"


def test_arrays_without_updates_are_no_targets() -> None:
    assert targets(grid(LOAD, STORE)) == []
