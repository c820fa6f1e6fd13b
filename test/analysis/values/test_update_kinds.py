"""The kinds of buffers that updates may have, and which of them go together."""

from __future__ import annotations

import pytest

from kopt.analysis.values.update_kinds import (
    accesses_of,
    best_kinds,
    choice_remarks,
    chosen_together,
    is_flat,
    update_kinds,
    why_not_together,
)
from kopt.analysis.values.updates import UpdateOp
from kopt.dialects.tile import Access
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk
from test.analysis.one_launch import OneLaunch, one_launch

V5E = TPU_CHIPS["v5e"]


def updates(*at: str, array: str = "100x8xf32", kinds: str = "add") -> tuple[OneLaunch, list[UpdateOp]]:
    """Updates at places, each of a kind."""
    rank = len(array.split("x")) - 1
    lanes = "b0=16 x " + "".join(f"{n} x " for n in array.split("x")[1:rank])
    lines = ["%n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>"]
    element = array.split("x")[-1]
    one = "1" if element == "i32" else "1.0"
    for number, (place, kind) in enumerate(zip(at, (kinds.split() * len(at))[: len(at)], strict=True)):
        type = f"!tile.tile<{lanes}{element}>"
        lines += [f"%v{number} = tile.full {one} : {type}"]
        op = f"tile.store %v{number}" if kind == "store" else f"atomic.rmw {kind} %v{number}"
        lines += [f"{op}, %x[{place}] : {type}, memref<{array}>"]
    found = one_launch("\n".join(lines), "(%i: b0=16) in (64)", "x", x=array, ids="64xi32")
    return found, [op for op in walk(found.launch, Access) if isinstance(op, UpdateOp)]


def chosen(found: OneLaunch, ops: list[UpdateOp], *wanted: str, **pinned: str) -> list[str]:
    pins = {ops[int(name[1:])]: kind for name, kind in pinned.items()}
    return [*chosen_together(ops, found.launch, V5E, wanted, pins).values()]


@pytest.mark.parametrize(
    ("array", "at", "kind", "wanted"),
    [
        ("100x8xf32", "%n, :", "add", {"one_hot", "row_loop", "row_dma"}),
        ("100x8xf32", "%n, :", "max", {"row_loop", "row_dma"}),
        ("100x8xf32", "%n, :", "store", {"row_loop", "row_dma"}),
        ("100xf32", "%n", "max", {"one_hot", "row_loop", "row_dma"}),
        ("1000000x128xf32", "%n, :", "add", {"row_dma"}),
        ("64x8xf32", "%i, :", "add", set()),
    ],
)
def test_the_kinds_that_an_update_may_have(array: str, at: str, kind: str, wanted: set[str]) -> None:
    found, (op,) = updates(at, array=array, kinds=kind)
    kinds = update_kinds(op, found.launch, V5E)
    assert {*kinds} == wanted and len(kinds) == len(wanted)
    assert not wanted or kinds[-1] == "row_dma"


def test_a_load_has_none() -> None:
    found, _ = updates("%n, :")
    load = found["n"]
    assert isinstance(load, Access) and update_kinds(load, found.launch, V5E) == []


def test_the_cheapest_is_first_and_what_is_wanted_is_taken() -> None:
    found, ops = updates("%n, :")
    first, *others = update_kinds(ops[0], found.launch, V5E)
    assert chosen(found, ops) == [first]
    for kind in others:
        assert chosen(found, ops, kind) == [kind]
    assert chosen(found, ops, "pick", others[0], first) == [others[0]]
    assert chosen(found, ops, "pick") == [first]


def test_all_updates_are_in_hbm_or_none() -> None:
    found, ops = updates("%n, :", "%n, :", kinds="add max")
    assert chosen(found, ops, v0="row_dma") == ["row_dma", "row_dma"]
    assert chosen(found, ops, "row_dma", v0="row_loop") == ["row_loop", "row_dma"]  # a problem, which is refused
    assert chosen(found, ops, "one_hot") == ["one_hot", "row_loop"]


def test_an_array_of_one_dimension_is_updated_in_one_way() -> None:
    found, ops = updates("%n", "%n", array="100xf32", kinds="add store")
    assert is_flat(ops[0]) and chosen(found, ops, "one_hot") == ["row_loop", "row_loop"]
    found, ops = updates("%n", "%n", array="100xf32", kinds="add max")
    assert chosen(found, ops, "one_hot") == ["one_hot", "one_hot"]


@pytest.mark.parametrize(
    ("array", "given", "places"),
    [
        ("100x8xf32", ["row_loop", "row_loop"], []),
        ("100x8xf32", ["row_loop", "one_hot"], []),
        ("100x8xf32", ["row_loop", "row_dma"], [1]),
        ("100x8xf32", ["row_dma", "row_dma"], []),
        ("100xf32", ["one_hot", "row_loop"], [0]),
        ("100xf32", ["one_hot", "row_dma"], [1, 0]),
        ("100xf32", ["one_hot", "one_hot"], []),
    ],
)
def test_kinds_that_do_not_go_together(array: str, given: list[str], places: list[int]) -> None:
    at = "%n" if array == "100xf32" else "%n, :"
    _, ops = updates(at, at, array=array)
    found = [op for op, _ in why_not_together(dict(zip(ops, given, strict=True)))]
    assert found == [ops[place] for place in places]


def test_what_is_chosen_goes_together() -> None:
    for kinds in ("add add", "add store", "store max"):
        for array, at in (("100x8xf32", "%n, :"), ("100xf32", "%n")):
            found, ops = updates(at, at, array=array, kinds=kinds)
            for wanted in ((), ("one_hot",), ("row_loop",), ("row_dma",)):
                given = chosen_together(ops, found.launch, V5E, wanted, {})
                assert [*why_not_together(given)] == []


def test_blocks_have_no_kind_unless_one_is_pinned() -> None:
    found, ops = updates("%i, :", array="64x8xf32")
    assert best_kinds(ops, found.launch, V5E, (), {}) == {}
    assert best_kinds(ops, found.launch, V5E, (), {ops[0]: "row_dma"}) == {ops[0]: "row_dma"}
    assert best_kinds(accesses_of(ops[0], found.launch), found.launch, V5E, ("row_dma",), {}) == {}


def test_the_accesses_of_an_array_are_its_own() -> None:
    found, ops = updates("%n, :", "%n, :")
    assert accesses_of(ops[0], found.launch) == ops


def test_what_is_said_of_the_ways() -> None:
    _, ops = updates("%n, :", "%n, :", kinds="add max")
    (first, text), (second, only) = choice_remarks(dict(zip(ops, ("one_hot", "row_loop"), strict=True)), V5E)
    assert (first, second) == tuple(ops)
    assert text.startswith("'x' is updated by one_hot: about ") and "against" in text and "by row_loop" in text
    assert only.endswith(", the only way")
    assert [*choice_remarks({ops[0]: "row_dma"}, V5E)] == []
