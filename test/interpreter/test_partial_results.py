"""Split reductions: where parts may update the output itself, and that the results are the same wherever they go."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.analysis.reduction_loops import reduction_loop
from kopt.dialects.tile import GridOp
from kopt.interpreter import run
from kopt.passes.splitting.partial_results import Partial, in_place
from kopt.walk import walk

TYPE = "!tile.tile<b0=4 x i32>"
STORE = f"tile.store %sum, %out[%i] : {TYPE}, memref<12xi32>"
ALLOC = "%out = host.alloc : memref<12xi32>"
#: Another grid that reads or writes all of the output.
OTHER = """tile.grid (%j: b9=4) in (12) {{
    %w = tile.load %{from}[%j] : memref<12xi32> -> !tile.tile<b9=4 x i32>
    tile.store %w, %{to}[%j] : !tile.tile<b9=4 x i32>, memref<12xi32>
  }}"""


def text(
    *,
    alloc: str = ALLOC,
    before: str = "",
    start: str = "0",
    combine: str = "add",
    rest: str = STORE,
    behind: str = "",
    grid: str = "(%i: b0=4) in (12)",
    bounds: str = "0, 40",
) -> str:
    return f"""
func.func @f(%x: memref<12x40xi32>, %y: memref<12xi32>, %given: memref<12xi32>) -> memref<12xi32> {{
  {alloc}
  {before}
  tile.grid {grid} {{
    %z = tile.full {start} : {TYPE}
    %sum = tile.for %k: b1=8 in ({bounds}) iter(%a = %z) -> ({TYPE}) {{
      %v = tile.load %x[%i, %k] : memref<12x40xi32> -> !tile.tile<b0=4 x b1=8 x i32>
      %s = tile.reduce {"max" if combine == "maximum" else "add"} %v [1] : !tile.tile<b0=4 x b1=8 x i32>
      %n = tile.{combine} %a, %s : {TYPE}
      tile.yield %n : {TYPE}
    }}
    {rest}
  }}
  {behind}
  func.return %out : memref<12xi32>
}}"""


ODD = f"""%o = tile.index %i : !tile.range<b0=4>
    %c = tile.full 7 : !tile.tile<b0=4 x i32>
    %odd = tile.lt %o, %c : {TYPE}
    tile.store %sum, %out[%i] mask %odd : {TYPE}, memref<12xi32>"""
#: What a kernel is, and whether its parts may update the output.
CASES = {
    "all that is there": (text(), True),
    "maxima": (text(combine="maximum", start="-2147483648"), True),
    "used by a later op": (text(behind="host.copy %out to %y : memref<12xi32>, memref<12xi32>"), True),
    # Whether a use inside of another op comes later is not asked.
    "read by a later grid": (text(behind=OTHER.format(**{"from": "out", "to": "y"})), False),
    "a range of one visit that no index names": (text(grid="(%i: b0=4, %h: b5=8) in (12, 8)"), True),
    "read before": (text(before=OTHER.format(**{"from": "out", "to": "y"})), False),
    "written before": (text(before=OTHER.format(**{"from": "y", "to": "out"}), rest=ODD), False),
    "used by an op before": (text(before="host.copy %y to %out : memref<12xi32>, memref<12xi32>"), False),
    "filled already": (text(alloc="%out = host.alloc fill 3 : memref<12xi32>"), False),
    "an argument": (text(alloc="%out = host.reshape %given : memref<12xi32> to memref<12xi32>"), False),
    "does not start neutral": (text(start="1"), False),
    "maxima from a number": (text(combine="maximum", start="0"), False),
    "under a mask": (text(rest=ODD), False),
    "more is computed": (text(rest=f"%t = tile.add %sum, %sum : {TYPE}\n{STORE.replace('%sum', '%t')}"), False),
    "stored twice": (text(rest=f"{STORE}\n{STORE.replace('%out', '%y')}"), False),
    "another value is stored": (text(rest=STORE.replace("%sum", "%z")), False),
    "loaded as well": (
        text(rest=f"%l = tile.load %y[%i] : memref<12xi32> -> {TYPE}\n{STORE.replace('%sum', '%l')}"),
        False,
    ),
    "several cells store one element": (text(grid="(%i: b0=4, %h: b5=8) in (12, 16)"), False),
}


@pytest.mark.parametrize("name", CASES)
def test_where_parts_may_update_the_output(name: str) -> None:
    module, wanted = kopt.parse(CASES[name][0]), CASES[name][1]
    (grid,) = [grid for grid in walk(module, GridOp) if "tile.for" in str(grid)]
    partial = Partial(grid, reduction_loop(grid), 2)
    assert (in_place(partial) is not None) == wanted
    assert (partial.blocks, partial.splits) == (3, 2)


@pytest.mark.parametrize("passes", ["split-k{factor=2}", "split-k{factor=9 deterministic=true}"])
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_one_cell(name: str, passes: str) -> None:
    before, after = kopt.parse(CASES[name][0]), kopt.parse(CASES[name][0])
    kopt.run_pipeline(after, passes)
    in_output = "atomic.rmw" in str(after) and "_parts" not in str(after)
    assert in_output == (CASES[name][1] and "deterministic" not in passes)
    random = np.random.default_rng(0)
    x = random.integers(-99, 99, (12, 40), np.int32)
    y, given = random.integers(-99, 99, (2, 12), np.int32)
    options = {"check_conflicts": name != "several cells store one element"}
    (wanted,) = run(before, "f", [x.copy(), (one := y.copy()), given.copy()], **options)
    (found,) = run(after, "f", [x.copy(), (two := y.copy()), given.copy()], **options)
    np.testing.assert_array_equal(one, two)
    rows = slice(0, 7) if name == "under a mask" else slice(None)  # the others have no meaning
    np.testing.assert_array_equal(found[rows], wanted[rows])
