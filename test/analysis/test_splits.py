"""Into how many parts loops may be dealt out: so that the partial results stay in registers."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.splits import most_parts
from kopt.dialects.tile import GridOp
from kopt.parsing import parse_module
from kopt.targets.budget import Budget
from kopt.walk import walk

WIDE = "!tile.tile<b0=8 x 1024 x f32>"
SUMS = "!tile.tile<b0=8 x f32>"


def sums(trips: int | str, first: str, second: str) -> ModuleOp:
    """A loop that carries sums of rows, and the rows' sums, in either order."""
    types = {"%a": SUMS, "%b": WIDE}
    return parse_module(f"""
    func.func @f(%x: memref<64x512x1024xf32>, %out: memref<64xf32>, %all: memref<64x1024xf32>, %some: index) {{
      tile.grid (%i: b0=8) in (64) {{
        %a0 = tile.full 0.0 : {SUMS}
        %b0 = tile.full 0.0 : {WIDE}
        {first}_end, {second}_end = tile.for %k: b1=1 in (0, {trips})
            iter({first} = {first}0, {second} = {second}0) -> ({types[first]}, {types[second]}) {{
          %v = tile.load %x[%i, %k, :] : memref<64x512x1024xf32> -> !tile.tile<b0=8 x b1=1 x 1024 x f32>
          %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=1 x 1024 x f32>
          %q = tile.reduce add %s [1] : {WIDE}
          %a_next = tile.add %a, %q : {SUMS}
          %b_next = tile.add %b, %s : {WIDE}
          tile.yield {first}_next, {second}_next : {types[first]}, {types[second]}
        }}
        tile.store %a_end, %out[%i] : {SUMS}, memref<64xf32>
        tile.store %b_end, %all[%i, :] : {WIDE}, memref<64x1024xf32>
      }}
      func.return
    }}""")


@pytest.mark.parametrize("names", [("%a", "%b"), ("%b", "%a")], ids=["small first", "large first"])
@pytest.mark.parametrize(("trips", "parts"), [(512, 4), (4, 4), (3, 3), ("%some", 4)])
def test_the_largest_of_what_a_loop_carries_bounds_them(trips: int | str, parts: int, names: tuple[str, str]) -> None:
    assert Budget.HELD_LANES == 4 * 8 * 1024
    grid = walk(sums(trips, *names), GridOp)[0]
    assert most_parts(grid) == parts
