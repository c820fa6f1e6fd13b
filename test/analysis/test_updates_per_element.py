"""How many updates meet in one element."""

from __future__ import annotations

import pytest

from kopt.analysis.updates_per_element import updates_of_an_element
from kopt.dialects.atomic import RmwOp
from kopt.parsing import parse_module, verify

TEXT = """
func.func @f(%x: memref<100x60xf32>, %n: index) {{
  tile.grid (%i: b0=8, %s: b1=4) in (100, 30) {{
    %b = tile.begin %s : !tile.range<b1=4>
    %zero = tile.full 0 : !tile.tile<b0=8 x i32>
    tile.for %k: b2=16 in (0, {upper}) {{
      %v = tile.full 1.0 : !tile.tile<{dims}f32>
      atomic.rmw add %v, %x[{entries}] : !tile.tile<{dims}f32>, memref<100x60xf32>
    }}
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    "upper, dims, entries, wanted",
    [
        (60, "b0=8 x b2=16 x ", "%i, %k", 8),
        (60, "b0=8 x ", "%i, 3", 8 * 4),
        (60, "b0=8 x ", "%i, %b", 4),
        (60, "", "0, 0", 13 * 8 * 4),
        ("%n", "b0=8 x b2=16 x ", "%i, %k", 8),
        ("%n", "b0=8 x ", "%i, 3", None),
        (60, "b0=8 x b2=16 x ", "%zero, %k", None),
    ],
)
def test_loops_that_do_not_move_the_target_count(upper, dims, entries, wanted) -> None:
    module = parse_module(TEXT.format(upper=upper, dims=dims, entries=entries))
    verify(module)
    (op,) = [op for op in module.walk() if isinstance(op, RmwOp)]
    assert updates_of_an_element(op) == wanted
