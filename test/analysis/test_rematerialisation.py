"""Which values differ for other blocks of some ranges, and which of those can be computed again."""

from __future__ import annotations

import pytest
from xdsl.ir import Block

from kopt import parse
from kopt.analysis.rematerialisation import Rematerialisation
from kopt.dialects.tile import ForOp
from test.named import named, only

TEXT = """
func.func @f(%ids: memref<64xi32>, %part: memref<64xi32>, %x: memref<64x512xf32>) -> memref<64x512xf32> {
  %result = pallas.call @f(%ids, %part, %x) windows [<[64], (d0) -> (0), smem>, <[8], (d0) -> (d0), smem>, <[8, 512], (d0) -> (d0, 0), vmem>, <[8, 512], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<64xi32>, memref<64xi32>, memref<64x512xf32>) -> (memref<64x512xf32>) {
  ^bb0(%ids_ref: !tile.ref<64 x i32, smem>, %part_ref: !tile.ref<8 x i32, smem>, %x_ref: !tile.ref<8 x 512 x f32, vmem>, %out_ref: !tile.ref<8 x 512 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %b = tile.begin %i : !tile.range<b0=8>
      %two = arith.constant 2 : index
      %outer = arith.addi %b, %two : index
      %z = tile.full 0.0 : !tile.tile<f32>
      %r = tile.for %k: b1=128 in (0, 512) iter(%a = %z) -> (!tile.tile<f32>) {
        %n = tile.id %k : !tile.range<b1=128>
        %three = arith.constant 3 : index
        %sum = arith.addi %n, %outer : index
        %next = arith.muli %sum, %three : index
        %all = tile.whole 128 : !tile.range<b2=128>
        %row = tile.get %ids_ref[%n] : !tile.ref<64 x i32, smem> -> !tile.tile<i32>
        %at = tile.extract %row : !tile.tile<i32> to index
        %some = tile.get %part_ref[%n] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
        %v = tile.get %x_ref[0, %k] : !tile.ref<8 x 512 x f32, vmem> -> !tile.tile<b1=128 x f32>
        %e = tile.exp %v : !tile.tile<b1=128 x f32>
        %fixed = tile.get %x_ref[0, 0] : !tile.ref<8 x 512 x f32, vmem> -> !tile.tile<f32>
        %mine = tile.get %out_ref[0, 0] : !tile.ref<8 x 512 x f32, vmem> -> !tile.tile<f32>
        %carried = tile.exp %a : !tile.tile<f32>
        %end = tile.end %k : !tile.range<b1=128>
        %count = tile.count %k : !tile.range<b1=128>
        tile.yield %carried : !tile.tile<f32>
      }
      %behind = tile.exp %r : !tile.tile<f32>
      %first = tile.get %ids_ref[%b] : !tile.ref<64 x i32, smem> -> !tile.tile<i32>
    }
  }
  func.return %result : memref<64x512xf32>
}
"""  # noqa: E501
VALUES = named(parse(TEXT))
LOOP = "k"
CELL = "i"


def of(range: str, home: Block | None = None) -> Rematerialisation:
    return Rematerialisation(frozenset([VALUES[range]]), home)


@pytest.mark.parametrize(
    ("range", "name", "differs"),
    [
        # At the loop's next visit.
        (LOOP, "k", True),
        (LOOP, "n", True),
        (LOOP, "next", True),
        (LOOP, "row", True),
        (LOOP, "a", True),
        (LOOP, "carried", True),
        (LOOP, "v", True),
        (LOOP, "mine", True),  # the kernel may have written it
        (LOOP, "fixed", False),  # an operand's window, which does not move with the loop
        (LOOP, "b", False),
        (LOOP, "outer", False),
        (LOOP, "three", False),
        (LOOP, "all", False),
        (LOOP, "x_ref", False),
        # In the next cell.
        (CELL, "i", True),
        (CELL, "b", True),
        (CELL, "outer", True),
        (CELL, "sum", True),
        (CELL, "first", True),
        (CELL, "fixed", True),  # its window moves
        (CELL, "row", False),  # of the loop's block alone, of an operand that stays
        (CELL, "n", False),
        (CELL, "two", False),
        (CELL, "z", False),
    ],
)
def test_what_differs_for_other_blocks(range: str, name: str, differs: bool) -> None:
    assert of(range).differs(VALUES[name]) is differs


@pytest.mark.parametrize(
    ("range", "name", "can"),
    [
        (LOOP, "k", True),
        (LOOP, "next", True),
        (LOOP, "at", True),  # numbers in scalar memory, all of them in every cell
        (LOOP, "some", False),  # a part of them
        (LOOP, "v", False),  # not in scalar memory
        (LOOP, "e", False),  # made of one that cannot
        (LOOP, "mine", False),
        (LOOP, "a", False),
        (LOOP, "carried", False),
        (LOOP, "end", False),
        (LOOP, "count", False),
        (LOOP, "outer", True),  # shared
        (LOOP, "fixed", True),
        (CELL, "sum", True),
        (CELL, "first", True),
        (CELL, "fixed", False),
    ],
)
def test_what_can_be_computed_again(range: str, name: str, can: bool) -> None:
    assert of(range).can(VALUES[name]) is can


@pytest.mark.parametrize("entry", [3, None, "all"])
def test_other_entries_of_index_lists_are_shared(entry: object) -> None:
    found = of(LOOP)
    assert found.can(entry) and list(found.shared(entry)) == []


@pytest.mark.parametrize(
    ("range", "name", "shared"),
    [
        (LOOP, "next", {"outer", "three"}),
        (LOOP, "n", set()),
        (LOOP, "k", set()),
        (LOOP, "outer", {"outer"}),
        (LOOP, "at", {"ids_ref"}),
        (CELL, "outer", {"two"}),
        (CELL, "sum", {"n", "two"}),
    ],
)
def test_what_is_needed_to_compute_a_value_again(range: str, name: str, shared: set[str]) -> None:
    assert set(of(range).shared(VALUES[name])) == {VALUES[each] for each in shared}


def test_what_is_known_at_home_alone_is_not_shared() -> None:
    """Without a range nothing differs but what is defined in the loop's body, constants apart."""
    module = parse(TEXT)
    values = named(module)
    found = Rematerialisation(frozenset(), only(module, ForOp).body.block)
    assert all(found.differs(values[name]) for name in ("k", "a", "n", "sum", "fixed"))
    assert not any(found.differs(values[name]) for name in ("three", "all", "outer", "z", "x_ref"))
    assert not found.can(values["a"]) and not found.can(values["k"])  # its range is not one of those
