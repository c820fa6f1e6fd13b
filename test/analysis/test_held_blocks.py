"""Gathers of what another access has on the chip: where the block has all lanes, and where it has not."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.held_blocks import HeldBlock, held_block
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp
from test.named import named, only

TYPES = "memref<64x256xf32>, memref<64xi32>, memref<64x256xf32>"
TEXT = f"""
func.func @f(%x: memref<64x256xf32>, %n: memref<64xi32>, %y: memref<64x256xf32>) -> memref<64x256xf32> {{{{
  %r = host.launch @f (%xs = %x, %ns = %n, %ys = %y) writes [{{writes}}] : ({TYPES}) -> memref<64x256xf32> {{{{
    tile.grid (%i: b0=8, %j: b1=128) in (64, 256) {{{{
      %labels = tile.load %ns[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
      %rows = tile.index %i : !tile.range<b0=8>
      %lanes = tile.index %j : !tile.range<b1=128>
      %mask = tile.full true : !tile.tile<b0=8 x 256 x i1>
      {{body}}
    }}}}
  }}}}
  func.return %r : memref<64x256xf32>
}}}}
"""
ROW = "!tile.tile<b0=8 x f32>"


def load(at: str, dims: str, name: str, array: str = "xs", rest: str = "") -> str:
    return f"%{name} = tile.load %{array}[{at}]{rest} : memref<64x256xf32> -> !tile.tile<{dims} x f32>"


BLOCK = load("%i, :", "b0=8 x 256", "block")
PICK = load("%rows, %labels", "b0=8", "v")


def held(*body: str, writes: int = 2) -> tuple[HeldBlock | None, dict]:
    module = parse(TEXT.format(body="\n".join(body), writes=writes))
    values = named(module)
    gather = values["v"].owner
    assert isinstance(gather, LoadOp)
    return held_block(gather, only(module, LaunchOp)), values


def test_a_label_is_picked_from_its_row() -> None:
    found, values = held(BLOCK, PICK)
    assert found == HeldBlock(values["block"].owner, 1, 1, False)


def test_several_labels_of_a_row_are_a_dimension() -> None:
    text = (
        "%r = tile.broadcast %rows dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 4 x i32>\n"
        "%l = tile.broadcast %labels dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 4 x i32>"
    )
    found, values = held(BLOCK, text, load("%r, %l", "b0=8 x 4", "v"))
    assert found == HeldBlock(values["block"].owner, 1, 1, True)


@pytest.mark.parametrize(("row", "label", "is_held"), [(0, 0, True), (0, 1, True), (1, 0, False), (1, 1, False)])
def test_lanes_go_with_those_of_the_block_in_their_order(row: int, label: int, is_held: bool) -> None:
    """``x[rows[:, None], labels]``, not ``x[rows[None, :], labels]``, though there are as many of each."""
    square = "!tile.tile<64 x 64 x i32>"
    text = (
        "%all = tile.load %ns[:] : memref<64xi32> -> !tile.tile<64 x i32>\n"
        "%count = tile.arange 0, 1 : !tile.tile<64 x i32>\n"
        f"%r = tile.broadcast %count dims [{row}] : !tile.tile<64 x i32> to {square}\n"
        f"%l = tile.broadcast %all dims [{label}] : !tile.tile<64 x i32> to {square}"
    )
    found, _ = held(load(":, :", "64 x 256", "block"), text, load("%r, %l", "64 x 64", "v"))
    assert (found is not None) == is_held


def test_labels_in_two_dimensions_are_none_of_the_block() -> None:
    """It has one for them, or none."""
    text = (
        "%r = tile.broadcast %rows dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 4 x 2 x i32>\n"
        "%l = tile.broadcast %labels dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 4 x 2 x i32>"
    )
    assert held(BLOCK, text, load("%r, %l", "b0=8 x 4 x 2", "v"))[0] is None


def test_rows_are_picked_from_a_block_of_all() -> None:
    found, values = held(load(":, %j", "64 x b1=128", "block"), load("%labels, %j", "b0=8 x b1=128", "v"))
    assert found == HeldBlock(values["block"].owner, 0, 0, True)


def test_the_block_may_stand_behind_the_gather_where_it_could_stand_before() -> None:
    found, values = held(PICK, BLOCK)
    assert found is not None and found.holder is values["block"].owner


LOOP = "tile.for %k: b2=64 in (0, 256) {{\n{}\n}}"


@pytest.mark.parametrize(
    "body",
    [
        (PICK,),
        # Not all lanes: the labels may be any.
        (load("%i, %j", "b0=8 x b1=128", "block"), PICK),
        (load("%i, 0:128", "b0=8 x 128", "block"), PICK),
        # Every second lane.
        (load("%i, 0:256:2", "b0=8 x 128", "block"), PICK),
        # Other rows.
        (load("0:8, :", "8 x 256", "block"), PICK),
        (load("3, :", "256", "block"), PICK),
        ("%c1 = arith.constant 1 : index\n%far = tile.shift %i by %c1 : !tile.range<b0=8>",
         load("%far, :", "b0=8 x 256", "block"), PICK),
        # Not for all lanes, not of this array, not at this place.
        (load("%i, :", "b0=8 x 256", "block", rest=" mask %mask"), PICK),
        (load("%i, :", "b0=8 x 256", "block", "ys"), PICK),
        (LOOP.format(load("%i, %k", "b0=8 x b2=64", "block")), PICK),
        (LOOP.format(BLOCK), PICK),
        # Two numbers that memory tells.
        (load(":, :", "64 x 256", "block"), load("%labels, %labels", "b0=8", "v")),
    ],
)  # fmt: skip
def test_where_the_block_has_not_all_lanes(body: tuple[str, ...]) -> None:
    assert held(*body)[0] is None


def test_a_gather_in_a_loop_finds_the_block_around_it() -> None:
    found, values = held(BLOCK, LOOP.format(PICK))
    assert found is not None and found.holder is values["block"].owner


def test_what_the_launch_writes_is_not_held() -> None:
    assert held(BLOCK, PICK, writes=0)[0] is None


def test_where_every_lane_is_the_blocks_own_nothing_is_picked() -> None:
    wide = "!tile.tile<b0=8 x b1=128 x i32>"
    rows = f"%r = tile.broadcast %rows dims [0] : !tile.tile<b0=8 x i32> to {wide}"
    lanes = f"%l = tile.broadcast %lanes dims [1] : !tile.tile<b1=128 x i32> to {wide}"
    gather = load("%r, %l", "b0=8 x b1=128", "v")
    assert held(load("%i, %j", "b0=8 x b1=128", "block"), rows, lanes, gather)[0] is None


def test_only_those_that_are_asked_hold() -> None:
    module = parse(TEXT.format(body=f"{BLOCK}\n{PICK}", writes=2))
    gather = named(module)["v"].owner
    assert isinstance(gather, LoadOp)
    assert held_block(gather, only(module, LaunchOp), among=[]) is None
