"""How many elements an axis walks, as far as sizes tell it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.planning.assumed import assumed_lengths
from kopt.planning.extents import is_known, told_extent
from kopt.planning.trips import all_trips
from test.analysis.launches import parsed

#: A causal loop in two parts: the second begins at a product of two numbers of blocks.
TEXT = """
func.func @f(%x: memref<4096xf32>, %o: memref<2x4096xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  tile.grid (%m: b1=512, %part: b5=1) in (4096, 2) {
    %end = tile.end %m : !tile.range<b1=512>
    %blocks = arith.ceildivsi %end, %c64 : index
    %share = arith.ceildivsi %blocks, %c2 : index
    %p = tile.id %part : !tile.range<b5=1>
    %before = arith.muli %p, %share : index
    %first = arith.muli %before, %c64 : index
    %size = arith.muli %share, %c64 : index
    %behind = arith.addi %first, %size : index
    %last = arith.minsi %end, %behind : index
    tile.for %n: b2=64 in (%first, %last) {
      %v = tile.load %x[%n] : memref<4096xf32> -> !tile.tile<b2=64 x f32>
      tile.store %v, %x[%n] : !tile.tile<b2=64 x f32>, memref<4096xf32>
    }
  }
  func.return
}
"""


def test_a_part_of_a_split_loop_walks_at_most_its_share() -> None:
    model = parsed(TEXT)
    axis = model.axis("b2")
    assert not is_known(axis.extent) and is_known(told_extent(axis))
    assert str(told_extent(axis)) == "256·block(b1) + 256"
    # 256, 512, …, 2,048 elements, in blocks of 64.
    trips = all_trips(model, {}, {})["b2"]
    assert trips.mean == np.mean([4 * n for n in range(1, 9)]) and trips.inside == {"b1"}
    assert not assumed_lengths(model)


@pytest.mark.parametrize("change", ["no minimum", "nothing known"])
def test_what_only_a_launch_tells_stays(change: str) -> None:
    text = TEXT.replace("arith.minsi %end, %behind", "arith.maxsi %end, %behind")
    if change == "nothing known":
        text = TEXT.replace("%size = arith.muli %share, %c64", "%size = arith.muli %share, %before")
    model = parsed(text)
    axis = model.axis("b2")
    assert told_extent(axis) == axis.extent and "b2" in assumed_lengths(model)
    assert told_extent(replace(axis, upper=axis.lower + 7)).number == 7
