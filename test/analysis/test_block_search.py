"""The search for block sizes, on made-up costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from kopt import parse
from kopt.analysis.block_roles import Role, block_roles
from kopt.analysis.block_search import (
    Sizes,
    capped,
    lanes_of_all,
    largest_tile,
    made_in,
    nested_loops,
    spread,
    tile_shapes,
)
from kopt.analysis.launch_models.merged_dims import open_analysis
from kopt.dialects.tile import SortOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.polynomial import parameter
from kopt.ir.widths import next_power_of_two
from kopt.walk import walk

B0, B1 = parameter("b0"), parameter("b1")
NESTED = """
func.func @f(%n: index) {
  tile.grid (%i: b0=64) in (1000) {
    %b = tile.begin %i : !tile.range<b0=64>
    %e = tile.end %i : !tile.range<b0=64>
    tile.for %k: b1=8 in (%b, %e) {
      %c = tile.begin %k : !tile.range<b1=8>
      %d = tile.end %k : !tile.range<b1=8>
      tile.for %l: b2=4 in (%c, %d) {
      }
    }
    tile.for %m: b3=8 in (0, %n) {
    }
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("single", "wanted"),
    [
        ((), [("b1", "b0"), ("b2", "b1")]),
        (("b0",), [("b2", "b1")]),
        (("b1",), []),
        (("b3",), [("b1", "b0"), ("b2", "b1")]),
    ],
)
def test_loops_that_walk_a_block_of_another(single: Sequence[str], wanted: list[tuple[str, str]]) -> None:
    module = parse(NESTED)
    roles = block_roles(module)
    for tag in single:
        roles[tag].single = True
    assert nested_loops(module, roles) == wanted


GROUPS = [["a"], ["b", "c"], []]


def test_one_size_serves_a_group() -> None:
    wanted = {"a": 3, "b": 8, "c": 16}
    assert spread(GROUPS, wanted.__getitem__) == {"a": 3, "b": 16, "c": 16}
    assert spread([], wanted.__getitem__) == {}


@pytest.mark.parametrize(
    ("most", "wanted"),
    [({}, (64, 64, 64)), ({"a": 128}, (64, 64, 64)), ({"c": 16}, (64, 16, 16)), ({"b": 8, "c": 16, "a": 1}, (1, 8, 8))],
)
def test_no_block_is_larger_than_what_shares_its_row(most: Mapping[str, int], wanted: Sequence[int]) -> None:
    roles = {tag: Role(None, True, most=most.get(tag)) for tag in "abc"}
    sizes = {"a": 64, "b": 64, "c": 64}
    assert capped(GROUPS, sizes, roles) == dict(zip("abc", wanted, strict=True))
    assert sizes == {"a": 64, "b": 64, "c": 64}  # untouched


# Powers of two.


def test_powers_of_two() -> None:
    for number in range(1, 70):
        assert next_power_of_two(number) == min(2**n for n in range(8) if 2**n >= number)
    assert next_power_of_two(0) == 1


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [({"b0": 8, "b1": 4}, 8 * 128), ({"b0": 16, "b1": 4}, 16 * 128), ({"b0": 1, "b1": 5000}, 5000)],
)
def test_the_largest_tile_has_plain_dimensions_rounded_up(sizes: Sizes, wanted: int) -> None:
    assert largest_tile([(B0, 100), (B1,), ()], sizes) == wanted


def test_the_largest_tile_of_several_candidates() -> None:
    found = largest_tile([(B0, 100), (B1,)], {"b0": np.array([8, 1, 16]), "b1": np.array([4, 500, 4096])})
    assert found.tolist() == [8 * 128, 500, 4096]


def test_no_tile_is_the_largest() -> None:
    assert largest_tile([], {}) == 1


MERGED = """
func.func @f(%x: memref<64x8xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :] : memref<64x8xf32> -> !tile.tile<b0=8 x 8 x f32>
    %f = tile.reshape %v : !tile.tile<b0=8 x 8 x f32> to !tile.tile<64 x f32>
    %s, %n = tile.sort %f dim 0 : !tile.tile<64 x f32>
  }
  func.return
}
"""


def test_shapes_of_what_is_made() -> None:
    """With sizes left open a dimension that is merged grows with its block."""
    module = parse(MERGED)
    made, sorted = made_in(module), [op.input for op in walk(module, SortOp)]
    chosen = IndexAnalysis()
    assert tile_shapes(made, chosen) == [(8, 8), (64,), (64,), (64,)] and tile_shapes(sorted, chosen) == [(64,)]
    shapes = tile_shapes(made, open_analysis(module, ["b0"]))
    assert largest_tile(shapes, {"b0": 32}) == 32 * 8 and lanes_of_all(shapes, {"b0": 32}) == 4 * 32 * 8
