"""Split reductions that are planned: what is asked for, within what there may be; else what the cost model prefers."""

from __future__ import annotations

import pytest

import kopt
from kopt.dialects.tile import GridOp
from kopt.errors import ConfigError
from kopt.passes.split_k import split_of
from kopt.walk import walk


def rows(name: str, columns: int, plan: str = "", combine: str = "add", cells: int = 8, carried: str = "%z") -> str:
    """A function with one grid, whose cells walk their rows in blocks of 8192."""
    return f"""
func.func @{name}(%x: memref<{cells}x{columns}xf32>, %out: memref<{cells}xf32>) {{
  tile.grid (%i: b0=1) in ({cells}) {plan} {{
    %z = tile.full 0.0 : !tile.tile<b0=1 x f32>
    %sum = tile.for %k: b1=8192 in (0, {columns}) iter(%a = %z) -> (!tile.tile<b0=1 x f32>) schedule walk {{
      %v = tile.load %x[%i, %k] : memref<{cells}x{columns}xf32> -> !tile.tile<b0=1 x b1=8192 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=1 x b1=8192 x f32>
      %n = tile.{combine} %a, %s : !tile.tile<b0=1 x f32>
      tile.yield %n : !tile.tile<b0=1 x f32>
    }}
    tile.store %sum, %out[%i] : !tile.tile<b0=1 x f32>, memref<{cells}xf32>
  }}
  func.return
}}"""


PLAN = "plan {order [i] parallel [i] split 3}"


def planned(text: str, split: int | None = None, chip: str = "sm90") -> list[int | None]:
    """The splits that the grids of a module have then."""
    module = kopt.parse(text)
    kopt.run_pipeline(module, f"plan-splits{{chip={chip}{'' if split is None else f' split={split}'}}}")
    found = walk(module, GridOp)
    for grid in found:
        assert grid.plan is None or (grid.plan.data.order, grid.plan.data.parallel) == (grid.tags, frozenset(grid.tags))
    return [split_of(grid) for grid in found]


@pytest.mark.parametrize(
    ("columns", "split", "wanted"),
    [
        (1 << 20, 16, 16),
        (1 << 20, 2, 2),
        (1 << 20, 1, None),
        (1 << 20, 128, 128),
        (1 << 20, 4096, 128),  # of 128 visits
        (5 * 8192, 16, 5),
        (2 * 8192, 16, 2),
        (8192, 16, None),  # of one visit
    ],
)
def test_what_is_asked_for_within_the_visits(columns: int, split: int, wanted: int | None) -> None:
    assert planned(rows("f", columns), split) == [wanted]


def test_a_plan_that_there_is_is_kept() -> None:
    assert planned(rows("f", 1 << 20, PLAN), 16) == planned(rows("f", 1 << 20, PLAN)) == [3]


def test_grids_that_cannot_be_split_stay_beside_one_that_can() -> None:
    other = rows("other", 1 << 20, combine="div")
    assert planned(rows("f", 1 << 20) + other, 16) == [16, None]
    with pytest.raises(ConfigError, match="split_k cannot split this grid: "):
        planned(other, 16)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (rows("f", 1 << 20), [128]),
        (rows("f", 2 * 8192), [None]),  # little work takes less time than another launch
        (rows("f", 8192), [None]),
        (rows("f", 1 << 20, combine="div"), [None]),
        (rows("f", 1 << 20, cells=512), [None]),  # nothing is idle
        (rows("f", 1 << 20) + rows("g", 2 * 8192) + rows("h", 1 << 20), [128, None, 128]),
    ],
)
def test_what_costs_least(text: str, wanted: list[int | None]) -> None:
    assert planned(text) == wanted


def test_chips_with_fewer_multiprocessors_have_no_more_parts() -> None:
    """Of 16 cells each has some on either."""
    parts = [planned(rows("f", 1 << 20, cells=16), chip=chip)[0] or 1 for chip in ("sm75", "sm90")]
    assert 1 < parts[0] <= parts[1]
