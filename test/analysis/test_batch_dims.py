"""Dimensions along which a cell does the same for every number."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.batch_dims import find_planes
from kopt.dialects.tile import GridOp
from kopt.walk import walk
from test.named import named, only

TEXT = """
func.func @f(%x: memref<64x6x32xf32>, %y: memref<64x6x32xf32>, %w: memref<6x32xf32>, %out: memref<64x6x32xf32>,
             %n: memref<64x32x6xf32>, %go: memref<1xi1>) {{
  tile.grid (%i: b0=8) in (64) {{
    %v = tile.load %x[%i, :, :] : memref<64x6x32xf32> -> !tile.tile<b0=8 x 6 x 32 x f32>
    {body}
  }}
  func.return
}}
"""
BLOCK = "!tile.tile<b0=8 x 6 x 32 x f32>"
TURNED = "!tile.tile<b0=8 x 32 x 6 x f32>"


def store(value: str = "v", array: str = "out", at: str = "%i, :, :", type: str = BLOCK) -> str:
    shape = "64x32x6" if array == "n" else "64x6x32"
    return f"tile.store %{value}, %{array}[{at}] : {type}, memref<{shape}xf32>"


def planes(body: str) -> list[tuple[int, dict[str | None, int], list[int]]]:
    """Count, dimensions by names of values, and positions in accesses in order."""
    grid = only(parse(TEXT.format(body=body)), GridOp)
    order = {op: number for number, op in enumerate(walk(grid))}
    return [
        (one.count, {value.name_hint: dim for value, dim in one.dims.items()},
         [one.entries[op] for op in sorted(one.entries, key=order.__getitem__)])
        for one in find_planes(grid)
    ]  # fmt: skip


def test_what_is_copied_has_the_planes_of_both() -> None:
    """Not its lanes of memory, nor a loop's dimension."""
    assert planes(store()) == [(6, {"v": 1}, [1, 1])]


LANEWISE = f"%e = tile.exp %v : {BLOCK}\n%s = tile.add %e, %v : {BLOCK}"


def test_elementwise_ops_keep_planes() -> None:
    assert planes(f"{LANEWISE}\n{store('s')}") == [(6, {"v": 1, "e": 1, "s": 1}, [1, 1])]


def test_planes_go_where_they_are_transposed_to_unless_they_are_lanes_there() -> None:
    body = f"%t = tile.transpose %v [0, 2, 1] : {BLOCK}\n{store('t', 'n', type=TURNED)}"
    assert planes(body) == []


def test_a_reduction_over_other_lanes_keeps_planes() -> None:
    body = f"""%r = tile.reduce add %v [2] : {BLOCK}
    %b = tile.broadcast %r dims [0, 1] : !tile.tile<b0=8 x 6 x f32> to {BLOCK}
    {store("b")}"""
    assert planes(body) == [(6, {"v": 1, "r": 1, "b": 1}, [1, 1])]


@pytest.mark.parametrize(
    "body",
    [
        # Combined, numbered, rearranged.
        f"%r = tile.reduce add %v [1] : {BLOCK}\n"
        f"%b = tile.broadcast %r dims [0, 2] : !tile.tile<b0=8 x 32 x f32> to {BLOCK}\n"
        f"%s = tile.sub %v, %b : {BLOCK}\n{store('s')}",
        f"%c = tile.scan add %v dim 1 : {BLOCK}\n{store('c')}",
        f"%c, %o = tile.sort %v dim 1 descending : {BLOCK}\n{store('c')}",
        "%d = tile.arange 0, 1 : !tile.tile<6 x i32>\n%k = tile.cast %d : !tile.tile<6 x i32> to !tile.tile<6 x f32>\n"
        f"%b = tile.broadcast %k dims [1] : !tile.tile<6 x f32> to {BLOCK}\n{store('b')}",
        f"%r = tile.reshape %v : {BLOCK} to !tile.tile<b0=8 x 192 x f32>\n"
        f"%b = tile.reshape %r : !tile.tile<b0=8 x 192 x f32> to {BLOCK}\n{store('b')}",
        f"%z = tile.slice %v [0, 0, 0] [8, 3, 32] [1, 1, 1] : {BLOCK} to !tile.tile<b0=8 x 3 x 32 x f32>\n"
        f"%b = tile.concat %z, %z dim 1 : !tile.tile<b0=8 x 3 x 32 x f32>, !tile.tile<b0=8 x 3 x 32 x f32> to {BLOCK}\n"
        + store("b"),
        # Nothing is written, or something is that has none.
        "",
        f"%o = tile.slice %v [0, 0, 0] [8, 1, 32] [1, 1, 1] : {BLOCK} to !tile.tile<b0=8 x 1 x 32 x f32>\n"
        f"%p = tile.reshape %o : !tile.tile<b0=8 x 1 x 32 x f32> to !tile.tile<b0=8 x 32 x f32>\n"
        + store("p", at="%i, 0, :", type="!tile.tile<b0=8 x 32 x f32>"),
        # A cell of another plane would see what this one writes.
        f"%old = tile.load %out[%i, 0, :] : memref<64x6x32xf32> -> !tile.tile<b0=8 x 32 x f32>\n"
        f"%b = tile.broadcast %old dims [0, 2] : !tile.tile<b0=8 x 32 x f32> to {BLOCK}\n{store('b')}",
        # Updates have an order.
        f"{store()}\natomic.rmw add %v, %y[%i, :, :] : {BLOCK}, memref<64x6x32xf32>",
    ],
)
def test_what_ties_a_dimension_to_its_cell(body: str) -> None:
    assert planes(body) == []


def test_one_of_two_is_left_where_the_other_is_combined() -> None:
    text = """
func.func @f(%x: memref<64x3x6x32xf32>, %out: memref<64x3x6x32xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :, :, :] : memref<64x3x6x32xf32> -> !tile.tile<b0=8 x 3 x 6 x 32 x f32>
    %c = tile.scan add %v dim 1 : !tile.tile<b0=8 x 3 x 6 x 32 x f32>
    tile.store %c, %out[%i, :, :, :] : !tile.tile<b0=8 x 3 x 6 x 32 x f32>, memref<64x3x6x32xf32>
  }
  func.return
}"""
    module = parse(text)
    found = find_planes(only(module, GridOp))
    # A scan ties all: nothing says that it keeps other dimensions apart.
    assert found == []
    module = parse(text.replace("tile.scan add %v dim 1", "tile.exp %v"))
    found = find_planes(only(module, GridOp))
    assert [(one.count, one.dims[named(module)["v"]]) for one in found] == [(3, 1), (6, 2)]


def test_planes_of_one_number_are_none() -> None:
    text = """
func.func @f(%x: memref<64x1x32xf32>, %out: memref<64x1x32xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :, :] : memref<64x1x32xf32> -> !tile.tile<b0=8 x 1 x 32 x f32>
    tile.store %v, %out[%i, :, :] : !tile.tile<b0=8 x 1 x 32 x f32>, memref<64x1x32xf32>
  }
  func.return
}"""
    assert find_planes(only(parse(text), GridOp)) == []


def test_values_that_loops_carry_have_one_plane() -> None:
    body = f"""%z = tile.full 0.0 : {BLOCK}
    %r = tile.for %k: b1=4 in (0, 32) iter(%a = %z) -> ({BLOCK}) {{
      %s = tile.add %a, %v : {BLOCK}
      tile.yield %s : {BLOCK}
    }}
    {store("r")}"""
    ((count, dims, _),) = planes(body)
    assert count == 6 and {"a", "s", "r", "v", "z"} <= dims.keys()


def test_what_a_mask_keeps_must_be_kept_in_all_planes() -> None:
    body = f"""%zero = tile.full 0.0 : {BLOCK}
    %m = tile.gt %v, %zero : {BLOCK}
    tile.store %v, %out[%i, :, :] mask %m : {BLOCK}, memref<64x6x32xf32>"""
    ((_, dims, _),) = planes(body)
    assert dims["m"] == 1


IF = """%e = {computed} : {block}
    %id = tile.id %i : !tile.range<b0=8>
    %one = arith.constant 1 : index
    %b = arith.cmpi slt, %id, %one : index
    %r = scf.if %b -> ({block}) {{
      scf.yield %{first} : {block}
    }} else {{
      scf.yield %{second} : {block}
    }}
    """


@pytest.mark.parametrize(("first", "second"), [("e", "v"), ("v", "e")])
def test_what_a_condition_decides_has_the_planes_of_both_cases(first: str, second: str) -> None:
    for computed, wanted in (("tile.exp %v", [(6, {"v": 1, "e": 1, "r": 1}, [1, 1])]), ("tile.scan add %v dim 1", [])):
        text = IF.format(block=BLOCK, computed=computed, first=first, second=second)
        assert planes(text + store("r")) == wanted


def test_masked_lanes_keep_planes() -> None:
    assert planes(f"%m = tile.mask %v in (%i, _, _) else 0.0 : {BLOCK}\n{store('m')}") == [
        (6, {"v": 1, "m": 1}, [1, 1])
    ]
