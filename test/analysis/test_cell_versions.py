"""Which cells of a grid have loops with the same trips, and in which visits comparisons are known."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

import kopt
from kopt.analysis.cell_versions import Version, cell_versions
from kopt.analysis.visit_conditions import runs_of_visits
from kopt.dialects.tile import ForOp, GridOp

CALL = """
func.func @f(%x: memref<{n}x64xf32>) -> memref<{n}x64xf32> {{
  %out = pallas.call @f(%x) windows [<[{n}, 64], (d0) -> (0, 0), vmem>, <[64, 64], (d0) -> (d0, 0), vmem>]
      semantics (parallel) aliases [-1] : (memref<{n}x64xf32>) -> memref<{n}x64xf32> {{
  ^bb0(%x_1: !tile.ref<{n} x 64 x f32, vmem>, %out_1: !tile.ref<64 x 64 x f32, vmem>):
    tile.grid (%i: b0=64) in ({n}){grid} {{
      %z = tile.full 0.0 : !tile.tile<64 x 64 x f32>
      %begin = tile.begin %i : !tile.range<b0=64>
      %end = tile.end %i : !tile.range<b0=64>
      %width = arith.constant {width} : index
      %0 = arith.constant 0 : index
      %before = arith.subi %begin, %width : index
      %first = arith.maxsi %before, %0 : index
      %r = tile.for %j: b1=64 in (%first, %end) iter(%s = %z) -> (!tile.tile<64 x 64 x f32>) schedule resident {{
        %v = tile.get %x_1[%j, :] : !tile.ref<{n} x 64 x f32, vmem> -> !tile.tile<b1=64 x 64 x f32>
        %i1 = tile.index %i : !tile.range<b0=64>
        %j1 = tile.index %j : !tile.range<b1=64>
        %rows = tile.broadcast %i1 dims [0] : !tile.tile<b0=64 x i32> to !tile.tile<b0=64 x b1=64 x i32>
        %columns = tile.broadcast %j1 dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=64 x b1=64 x i32>
        %past = tile.ge %rows, %columns : !tile.tile<b0=64 x b1=64 x i32>
        %later = tile.lt %rows, %columns : !tile.tile<b0=64 x b1=64 x i32>
        %plain = tile.reshape %v : !tile.tile<b1=64 x 64 x f32> to !tile.tile<64 x 64 x f32>
        %n = tile.add %s, %plain : !tile.tile<64 x 64 x f32>
        tile.yield %n : !tile.tile<64 x 64 x f32>
      }}
      tile.put %r, %out_1[:, :] : !tile.tile<64 x 64 x f32>, !tile.ref<64 x 64 x f32, vmem>
    }}
  }}
  func.return %out : memref<{n}x64xf32>
}}
"""


def _grid(module: ModuleOp) -> GridOp:
    return next(op for op in module.walk() if isinstance(op, GridOp))


@pytest.mark.parametrize(
    ("n", "width", "grid", "expected"),
    [
        (256, 128, "", [Version(0, 0, (64,)), Version(1, 1, (128,)), Version(2, 3, (192,))]),
        (320, 4096, "", [Version(number, number, (64 * number + 64,)) for number in range(5)]),
        (1024, 4096, "", None),  # a version for each of 16 blocks
        (256, 128, " ordered [0]", None),
    ],
)
def test_versions(n: int, width: int, grid: str, expected: list[Version] | None) -> None:
    found = cell_versions(_grid(kopt.parse(CALL.format(n=n, width=width, grid=grid))))
    assert (None if found is None else [*found.versions]) == expected


def test_runs_of_visits() -> None:
    """All columns are past ones until the block of rows begins; on the diagonal nothing is known."""
    grid = _grid(kopt.parse(CALL.format(n=512, width=128, grid="")))
    loop = next(op for op in grid.walk() if isinstance(op, ForOp))
    runs = runs_of_visits(loop, 3, grid.ranges[0], 2, 7)
    known = [(count, {value.name_hint: held for value, held in facts.items()}) for count, facts in runs]
    assert known == [(2, {"past": True, "later": False}), (1, {})]
