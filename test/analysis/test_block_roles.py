"""What the block of each loop is used for."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.block_roles import Role, block_roles, has_wide_dot

DOT = """
func.func @f(%a: memref<100x48x{element}>, %b: memref<48x70x{element}>, %c: memref<100x70xf32>) {{
  tile.grid (%i: b0=8, %j: b1=16) in (100, 2 to 70) {{
    %z = tile.full 0.0 : !tile.tile<b0=8 x b1=16 x f32>
    %r = tile.for %k: b2=4 in (0, 48) iter(%s = %z) -> (!tile.tile<b0=8 x b1=16 x f32>) {{
      %l = tile.load %a[%i, %k] : memref<100x48x{element}> -> !tile.tile<b0=8 x b2=4 x {element}>
      %m = tile.load %b[%k, %j] : memref<48x70x{element}> -> !tile.tile<b2=4 x b1=16 x {element}>
      %d = tile.dot %l, %m, %s : !tile.tile<b0=8 x b2=4 x {element}>, !tile.tile<b2=4 x b1=16 x {element}> -> !tile.tile<b0=8 x b1=16 x f32>
      tile.yield %d : !tile.tile<b0=8 x b1=16 x f32>
    }}
    tile.store %r, %c[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<100x70xf32>
  }}
  func.return
}}
"""  # noqa: E501


@pytest.mark.parametrize(("element", "bits", "wide"), [("f32", 32, True), ("bf16", 16, False)])
def test_the_blocks_of_a_product(element: str, bits: int, wide: bool) -> None:
    """Rows, columns and what is summed over: distances are counted from the last dimension of each array."""
    module = parse(DOT.format(element=element))
    common = {"wide_dot": wide, "flat": False}
    assert block_roles(module) == {
        "b0": Role(100, True, {1}, {bits, 32}, {"m"}, size=8, within=100, **common),
        "b1": Role(68, True, {0}, {bits, 32}, {"n"}, size=16, within=70, vector=False, **common),
        "b2": Role(48, False, {0, 1}, {bits}, {"k"}, size=4, within=48, vector=False, **common),
    }
    assert has_wide_dot(module) is wide


def test_products_of_no_loops_block_are_not_looked_at() -> None:
    module = parse("""
func.func @f(%a: !tile.tile<4 x 8 x f32>, %b: !tile.tile<8 x 2 x f32>) {
  tile.grid (%i: b0=8) in (100) {
    %c = tile.dot %a, %b : !tile.tile<4 x 8 x f32>, !tile.tile<8 x 2 x f32> -> !tile.tile<4 x 2 x f32>
  }
  func.return
}
""")
    assert not has_wide_dot(module)
    assert list(block_roles(module)) == ["b0"]


def test_a_function_without_loops_has_none() -> None:
    module = parse("func.func @f() {\n  func.return\n}")
    assert block_roles(module) == {} and not has_wide_dot(module)


BODY = """
func.func @f(%x: memref<100xf32>, %y: memref<64x32xf32>, %rows: memref<50xi32>, %n: index) {{
  tile.grid (%i: b0=8) in (100) {{
    {body}
  }}
  func.return
}}
"""
INDEX = "%l = tile.index %i : !tile.range<b0=8>"


def role(body: str, tag: str = "b0") -> Role:
    return block_roles(parse(BODY.format(body=body)))[tag]


@pytest.mark.parametrize(
    ("body", "begun"),
    [
        ("", False),  # nothing is used
        ("%b = tile.begin %i : !tile.range<b0=8>", True),
        ("%b = tile.id %i : !tile.range<b0=8>", True),
        ("%b = tile.end %i : !tile.range<b0=8>", False),
        (f"%b = tile.begin %i : !tile.range<b0=8>\n {INDEX}", False),
    ],
)
def test_whether_only_the_beginning_of_blocks_is_used(body: str, begun: bool) -> None:
    assert role(body).begun is begun


@pytest.mark.parametrize(
    ("bounds", "extent"),
    [("(0, 48)", 48), ("(3, 48)", 45), ("(0, %n)", None), ("(%n, 48)", None), ("(%b, %e)", 100)],
)
def test_the_extent_of_a_loop(bounds: str, extent: int | None) -> None:
    """A loop over the blocks of an outer range walks, in all, what that one walks."""
    ends = "%b = tile.begin %i : !tile.range<b0=8>\n %e = tile.end %i : !tile.range<b0=8>"
    assert role(f"{ends}\n tile.for %k: b1=4 in {bounds} {{\n }}", "b1").extent == extent


@pytest.mark.parametrize(
    ("load", "places", "vector", "within"),
    [
        # The lanes of an array of one dimension, of one of two, and its rows.
        ("%x[%i] : memref<100xf32> -> !tile.tile<b0=8 x f32>", {0}, True, 100),
        ("%y[3, %i] : memref<64x32xf32> -> !tile.tile<b0=8 x f32>", {0}, False, 32),
        ("%y[%i, 3] : memref<64x32xf32> -> !tile.tile<b0=8 x f32>", {1}, True, 64),
        # Its own lane numbers are its range; what all lanes add changes nothing.
        ("%x[%l] : memref<100xf32> -> !tile.tile<b0=8 x f32>", {0}, True, 100),
        ("%x[%plus] : memref<100xf32> -> !tile.tile<b0=8 x f32>", {0}, True, 100),
        # Numbers that are no lane numbers number no dimension.
        ("%x[%twice] : memref<100xf32> -> !tile.tile<b0=8 x f32>", set(), True, None),
    ],
)
def test_where_an_axis_stands_in_memory(load: str, places: set[int], vector: bool, within: int | None) -> None:
    found = role(f"""{INDEX}
    %five = tile.full 5 : !tile.tile<b0=8 x i32>
    %plus = tile.add %l, %five : !tile.tile<b0=8 x i32>
    %twice = tile.add %l, %l : !tile.tile<b0=8 x i32>
    %v = tile.load {load}""")
    assert (found.places, found.vector, found.within) == (places, vector, within)
    assert found.bits == ({32} if places else set())


def test_the_smallest_dimension_counts() -> None:
    found = role("""%u = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=8 x f32>
    %v = tile.load %y[%i, 0] : memref<64x32xf32> -> !tile.tile<b0=8 x f32>
    %w = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=8 x f32>""")
    assert found.within == 64


@pytest.mark.parametrize(("factor", "steps"), [(1, False), (-1, False), (3, True)])
def test_lane_numbers_that_are_multiplied(factor: int, steps: bool) -> None:
    found = role(f"""{INDEX}
    %c = tile.full {factor} : !tile.tile<b0=8 x i32>
    %m = tile.mul %l, %c : !tile.tile<b0=8 x i32>
    %v = tile.load %x[%m] : memref<100xf32> -> !tile.tile<b0=8 x f32>""")
    assert found.steps is steps


@pytest.mark.parametrize(
    ("ops", "flat"),
    [
        ("%w = tile.exp %v : !tile.tile<b0=8 x f32>", True),
        ("%w = tile.reduce add %v [0] : !tile.tile<b0=8 x f32>", True),
        ("%w = tile.scan add %v dim 0 : !tile.tile<b0=8 x f32>", False),
        ("%w = tile.broadcast %v dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1 x f32>", True),
        ("%w = tile.broadcast %v dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 4 x f32>", False),
        (f"{INDEX}\n %w = tile.load %x[%l] : memref<100xf32> -> !tile.tile<b0=8 x f32>", False),
    ],
)
def test_whether_all_is_lane_by_lane_in_one_row(ops: str, flat: bool) -> None:
    assert role(f"%v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=8 x f32>\n {ops}").flat is flat


@pytest.mark.parametrize(("by", "most"), [(64, 64), (24, 8), (1, None), (7, 1)])
def test_lanes_that_share_the_row_that_their_block_names(by: int, most: int | None) -> None:
    """Blocks of a power of two are inside a block of ``by`` lanes where it divides that; by 1 names every lane."""
    found = role(f"""%b = tile.begin %i : !tile.range<b0=8>
    %by = arith.constant {by} : index
    %row = arith.floordivsi %b, %by : index
    %v = tile.load %x[%row] : memref<100xf32> -> !tile.tile<f32>""")
    assert found.most == most
