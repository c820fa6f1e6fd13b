"""Stores and updates as they stand: which rows they update, with what, and which lanes repeat others."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.values.updates import (
    UpdateOp,
    by_row,
    gathered,
    is_by_element,
    kind_of,
    places_of,
    previous_of,
    repeated,
    values_of,
)
from kopt.walk import walk
from test.named import named

TEXT = """
func.func @f(%x: memref<100x60xi32>, %n: memref<8xi32>, %t: memref<4x2xi1>, %r: memref<8x4xi1>) {{
  tile.grid (%i: b0=8) in (8) {{
    %at = tile.load %n[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
    %v = tile.full 1 : !tile.tile<b0=8 x 60 x i32>
    %w = tile.full 1 : !tile.tile<b0=8 x i32>
    %m = tile.full true : !tile.tile<b0=8 x i1>
    %mm = tile.broadcast %m dims [0] : !tile.tile<b0=8 x i1> to !tile.tile<b0=8 x 60 x i1>
    {body}
  }}
  func.return
}}
"""
BLOCK, ROW, MEMORY = "!tile.tile<b0=8 x 60 x i32>", "!tile.tile<b0=8 x i32>", "memref<100x60xi32>"


def update(body: str) -> tuple[UpdateOp, dict]:
    module = parse(TEXT.format(body=body))
    (op,) = walk(module, UpdateOp)
    return op, named(module)


STORE = f"tile.store %v, %x[%at, :] : {BLOCK}, {MEMORY}"
ADD = f"%old = atomic.rmw add %v, %x[%at, :] : {BLOCK}, {MEMORY} -> {BLOCK}"
CAS = f"%old = atomic.cas %v, %v, %x[%at, :] : {BLOCK}, {MEMORY}"


def test_a_store_is_an_exchange() -> None:
    op, values = update(STORE)
    assert (kind_of(op), values_of(op), previous_of(op)) == ("xchg", (values["v"],), None)


@pytest.mark.parametrize("kind", ["add", "max", "xchg"])
def test_an_update_has_its_kind(kind: str) -> None:
    assert kind_of(update(ADD.replace("add", kind))[0]) == kind


def test_a_compare_and_swap_is_made_of_two_values() -> None:
    op, values = update(CAS)
    assert kind_of(op) == "cas" and values_of(op) == (values["v"], values["v"])


@pytest.mark.parametrize("text", [ADD, CAS])
def test_a_previous_value_counts_where_it_is_used(text: str) -> None:
    assert previous_of(update(text)[0]) is None
    op, values = update(f"{text}\n%s = tile.add %old, %v : {BLOCK}")
    assert previous_of(op) is values["old"]


@pytest.mark.parametrize(
    ("text", "dims", "element", "places"),
    [
        (STORE, (0,), False, (0, 1)),
        (f"tile.store %w, %x[%at, 3] : {ROW}, {MEMORY}", (0,), True, (0, 1)),
        (f"tile.store %w, %x[%at, %at] : {ROW}, {MEMORY}", (0, 1), True, (0, 1)),
        (
            f"%z = tile.full 1 : !tile.tile<100 x b0=8 x i32>\n"
            f"tile.store %z, %x[:, %at] : !tile.tile<100 x b0=8 x i32>, {MEMORY}",
            (1,), False, (1, 1),
        ),
    ],
)  # fmt: skip
def test_which_dimensions_row_numbers_index(text: str, dims: tuple[int, ...], element: bool, places: tuple) -> None:
    op, _ = update(text)
    assert (gathered(op), is_by_element(op), places_of(op)) == (dims, element, places)


def test_a_mask_of_whole_rows_has_a_predicate_for_each() -> None:
    op, values = update(STORE)
    assert by_row(values["mm"], op) is values["m"]
    body = "%c = tile.full true : !tile.tile<60 x i1>\n%cc = tile.broadcast %c dims [1] : !tile.tile<60 x i1> to "
    op, values = update(f"{body}!tile.tile<b0=8 x 60 x i1>\n%f = tile.full true : !tile.tile<b0=8 x 60 x i1>\n{STORE}")
    assert by_row(values["cc"], op) is None
    assert by_row(values["f"], op) is None


def test_a_mask_of_elements_is_the_predicate() -> None:
    op, values = update(f"tile.store %w, %x[%at, 3] : {ROW}, {MEMORY}")
    assert by_row(values["m"], op) is values["m"]


SQUARE = "%s = tile.load %r[%i, :] : memref<8x4xi1> -> !tile.tile<b0=8 x 4 x i1>\n"


@pytest.mark.parametrize(
    ("body", "source", "own"),
    [
        ("%o = tile.broadcast %m dims [0] : !tile.tile<b0=8 x i1> to !tile.tile<b0=8 x 3 x i1>", "m", [0]),
        ("%o = tile.broadcast %m dims [1] : !tile.tile<b0=8 x i1> to !tile.tile<3 x b0=8 x i1>", "m", [1]),
        ("%o = tile.not %m : !tile.tile<b0=8 x i1>", "o", [0]),
        # Dimensions of one lane are repeated, and those in front of them not.
        (
            "%u = tile.reshape %m : !tile.tile<b0=8 x i1> to !tile.tile<b0=8 x 1 x i1>\n"
            "%o = tile.broadcast %u dims [0, 1] : !tile.tile<b0=8 x 1 x i1> to !tile.tile<b0=8 x 3 x i1>",
            "m", [0],
        ),
        (
            f"{SQUARE}%u = tile.reshape %s : !tile.tile<b0=8 x 4 x i1> to !tile.tile<b0=8 x 1 x 4 x i1>\n"
            "%o = tile.broadcast %u dims [0, 1, 2] : !tile.tile<b0=8 x 1 x 4 x i1> to !tile.tile<b0=8 x 3 x 4 x i1>",
            "s", [0, 2],
        ),
        # Lanes that a reshape deals out anew are others.
        (
            "%s = tile.load %t[:, :] : memref<4x2xi1> -> !tile.tile<4 x 2 x i1>\n"
            "%u = tile.reshape %s : !tile.tile<4 x 2 x i1> to !tile.tile<2 x 1 x 4 x i1>\n"
            "%o = tile.broadcast %u dims [0, 1, 2] : !tile.tile<2 x 1 x 4 x i1> to !tile.tile<2 x 3 x 4 x i1>",
            "o", [0, 1, 2],
        ),
    ],
)  # fmt: skip
def test_what_a_tile_repeats(body: str, source: str, own: list[int]) -> None:
    values = named(parse(TEXT.format(body=body)))
    assert repeated(values["o"]) == (values[source], own)
