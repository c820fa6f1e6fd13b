"""Whether persistent programs share the cells of a launch: where that is asked for, or clearly pays."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.gpu_plans import LaunchWishes, gpu_plan
from kopt.analysis.persistence import with_persistence
from kopt.analysis.plans import GridNames
from kopt.dialects.tile import GridOp
from kopt.targets.chips import GPU_CHIPS
from test.named import only

CHIP = GPU_CHIPS["sm90"]
#: What waits for another cell.
WAITS = "%old = atomic.cas %v, %v, %x[%i] : !tile.tile<b0=16 x f32>, memref<{n}xf32>"


def options(cells: int, persistent: str | None = None, each: int | None = None, body: str = "") -> dict:
    """The options of the plan of a grid of so many cells that do little."""
    n = cells * 16
    text = f"""
func.func @f(%x: memref<{n}xf32>) {{
  tile.grid (%i: b0=16) in ({n}) {{
    %v = tile.load %x[%i] : memref<{n}xf32> -> !tile.tile<b0=16 x f32>
    {body.format(n=n)}
    tile.store %v, %x[%i] : !tile.tile<b0=16 x f32>, memref<{n}xf32>
  }}
  func.return
}}"""
    grid = only(parse(text), GridOp)
    known = GridNames.of(grid)
    plan = gpu_plan(grid, known, CHIP, LaunchWishes(persistent="off"))
    return dict(with_persistence(grid, known, plan, CHIP, persistent, each).options)


@pytest.mark.parametrize(
    ("cells", "persistent", "each", "programs"),
    [
        (200, "interleaved", 1, 132),
        (300, None, 2, 264),
        (100_000, "interleaved", None, 132 * 32),
        (132, "blocked", 1, None),
        (1_000_000, "off", 1, None),
    ],
)
def test_what_is_asked_for(cells: int, persistent: str | None, each: int | None, programs: int | None) -> None:
    assert options(cells, persistent, each).get("programs") == programs


def test_neighbours() -> None:
    assert options(200, "blocked", 1)["share"] == "blocked"


@pytest.mark.parametrize(("cells", "shared"), [(1_000_000, True), (3_000, False)])
def test_by_cost(cells: int, shared: bool) -> None:
    assert ("programs" in options(cells)) == shared


def test_cells_that_wait_for_others_are_left_alone() -> None:
    assert "programs" not in options(1_000_000, body=WAITS)
