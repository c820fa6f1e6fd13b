"""Which blocks the loops of a cell share."""

from __future__ import annotations

import pytest

from kopt.analysis.kept_blocks import kept_blocks, shared_reads
from kopt.analysis.launch_loops import LaunchLoops
from kopt.context import make_context
from kopt.dialects.host import LaunchOp
from kopt.parsing import parse_module
from kopt.pass_manager import parse_pipeline, run
from kopt.passes.launches import grid_of
from kopt.walk import walk

ROW = "!tile.tile<b0=8 x f32>"
TEXT = f"""func.func @f(%x: memref<64x1024xf32>, %out: memref<64x1024xf32>) {{{{
  tile.grid (%i: b0=8) in (64) {{{{
    %z = tile.full 0.0 : {ROW}
    %s = tile.for %k: b1=128 in (0, 1024) iter(%a = %z) -> ({ROW}) {{{{
      %v = tile.load %x[%i, %k] : memref<64x1024xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %p = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %p : {ROW}
      tile.yield %n : {ROW}
    }}}}
    tile.for %l: b2={{size}} in ({{lower}}, 1024) {{{{
      %w = tile.load %x[%i, %l] : memref<64x1024xf32> -> !tile.tile<b0=8 x b2={{size}} x f32>
      %b = tile.broadcast %s dims [0] : {ROW} to !tile.tile<b0=8 x b2={{size}} x f32>
      %d = tile.sub %w, %b : !tile.tile<b0=8 x b2={{size}} x f32>
      tile.store %d, {{to}}[%i, %l] : !tile.tile<b0=8 x b2={{size}} x f32>, memref<64x1024xf32>
    }}}}
  }}}}
  func.return
}}}}"""


def found(size: int = 128, lower: int = 0, to: str = "%out"):
    """What is found of ``x``, its window, and its grid."""
    module = parse_module(TEXT.format(size=size, lower=lower, to=to))
    run(module, make_context(), parse_pipeline("builtin.module(functionalise-host)"))
    (launch,) = walk(module, LaunchOp)
    grid = grid_of(launch)
    windows = LaunchLoops(launch, grid).memory.windows
    (window,) = [window for array, window in windows.items() if array.name_hint == "x"]
    return kept_blocks(grid, window), list(shared_reads(grid, [window]))


def test_loops_over_the_same_blocks_share_them() -> None:
    kept, shared = found()
    assert kept is not None and shared == [kept]
    assert (kept.first.result.name_hint, [load.result.name_hint for load in kept.again]) == ("v", ["w"])
    assert kept.bytes == 8 * 1024 * 4


@pytest.mark.parametrize(
    "change",
    [{"size": 256}, {"lower": 128}, {"to": "%x"}],
    ids=["blocks of another size", "not from the first one on", "an array that is written"],
)
def test_other_loops_do_not(change: dict[str, int | str]) -> None:
    assert found(**change) == (None, [])  # pyright: ignore[reportArgumentType]
