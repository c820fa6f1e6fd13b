"""Which plans a launch may have: each choice of schedules for its loops, and the buffers that follow."""

from __future__ import annotations

import pytest

from kopt.planning.candidates import candidates, variants
from test.analysis.launches import parsed
from test.planning.launches import matmul

TEXT = """
func.func @f(%x: memref<64x4096xf32>, %y: memref<64x4096xf32>, %out: memref<64x4096xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %s = tile.for %j: b1=128 in (0, 4096) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %j] : memref<64x4096xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %t = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %t : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    %w = tile.broadcast %s dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 128 x f32>
    tile.for %k: b2=128 in (0, 4096) {
      %u = tile.load %y[%i, %k] : memref<64x4096xf32> -> !tile.tile<b0=8 x b2=128 x f32>
      %c = tile.broadcast %s dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x b2=128 x f32>
      %p = tile.add %u, %c : !tile.tile<b0=8 x b2=128 x f32>
      tile.store %p, %out[%i, %k] : !tile.tile<b0=8 x b2=128 x f32>, memref<64x4096xf32>
    }
  }
  func.return
}
"""
KINDS = ("resident", "prefetch", "emit_pipeline")


def schedules(model, **options) -> list[tuple[str, ...]]:
    plans = [plan for plan, *_ in variants(model, **options)]
    return [tuple(f"{tag} {one.kind}" for tag, one in plan.loops.items()) for plan in plans]


def test_schedules_of_two_loops() -> None:
    """Both have one kind, or the one that only reads keeps its rows, and the one that stores is a pipeline."""
    model = parsed(TEXT)
    alike = [(f"b1 {kind}", f"b2 {kind}") for kind in KINDS]
    mixed = ("b1 resident", "b2 emit_pipeline")
    assert schedules(model) == [*alike, mixed]
    assert schedules(model, kinds=("resident", "prefetch")) == alike[:2]
    assert schedules(model, kinds=("prefetch", "emit_pipeline")) == alike[1:]


def test_a_loop_may_be_a_dimension_of_the_grid() -> None:
    found = schedules(matmul(4096, 2048, 4096))
    assert found == [*((f"k {kind}",) for kind in KINDS), ("k grid",)]
    assert schedules(matmul(4096, 2048, 4096), hoists=False) == found[:-1]


def test_loops_that_copy_nothing_may_be_unrolled() -> None:
    """Each plan, and after it the same with all of these loops written out as often as may be."""
    found = [{tag: (one.kind, one.unroll) for tag, one in plan.loops.items()} for plan in candidates(parsed(TEXT))]
    whole = {"b1": ("resident", 1), "b2": ("resident", 1)}
    mixed = {"b1": ("resident", 1), "b2": ("emit_pipeline", 1)}
    assert found[:2] == [whole, {tag: (kind, 8) for tag, (kind, _) in whole.items()}]
    assert found[-2:] == [mixed, mixed | {"b1": ("resident", 8)}]


CAUSAL = """
func.func @f(%x: memref<EXTENTxf32>, %out: memref<EXTENTxf32>) {
  tile.grid (%i: b0=128) in (EXTENT) {
    %z = tile.full 0.0 : !tile.tile<b0=128 x f32>
    %e = tile.end %i : !tile.range<b0=128>
    %s = tile.for %j: b1=128 in (0, %e) iter(%a = %z) -> (!tile.tile<b0=128 x f32>) {
      %v = tile.load %x[%j] : memref<EXTENTxf32> -> !tile.tile<b1=128 x f32>
      %t = tile.reduce add %v [0] : !tile.tile<b1=128 x f32>
      %b = tile.broadcast %t dims [] : !tile.tile<f32> to !tile.tile<b0=128 x f32>
      %n = tile.add %a, %b : !tile.tile<b0=128 x f32>
      tile.yield %n : !tile.tile<b0=128 x f32>
    }
    tile.store %s, %out[%i] : !tile.tile<b0=128 x f32>, memref<EXTENTxf32>
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("extent", "open_tags", "unrolls"), [(1024, [], False), (128, [], True), (1024, ["b0", "b1"], True)]
)
def test_bounds_that_a_single_block_tells(extent: int, open_tags: list[str], unrolls: bool) -> None:
    """A loop up to the end of a block may be written out if that is the only one, or may be, at open sizes."""
    model = parsed(CAUSAL.replace("EXTENT", str(extent)), open_tags)
    assert (8 in {one.unroll for plan in candidates(model) for one in plan.loops.values()}) == unrolls


ROWS = """
func.func @f(%n: memref<75xi32>, %out: memref<ROWSx512xf32>) {
  tile.grid (%j: b0=128) in (512) {
    tile.for %i: r0=1 in (0, 75) {
      %b = tile.begin %i : !tile.range<r0=1>
      %s = tile.load %n[%b] : memref<75xi32> -> !tile.tile<i32>
      %r = tile.extract %s : !tile.tile<i32> to index
      %v = tile.load %out[%r, %j]SPACE : memref<ROWSx512xf32> -> !tile.tile<b0=128 x f32>
      tile.store %v, %out[%r, %j]SPACE : !tile.tile<b0=128 x f32>, memref<ROWSx512xf32>
    }
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("rows", "space", "wanted"),
    [
        (50, "", ("window", ("b0",))),
        (50, ' {space = "hbm"}', ("dma", ("b0",))),
        (4096, "", ("dma", ("b0",))),  # VMEM may not hold it
    ],
)
def test_what_is_stored_at_loaded_numbers_is_a_whole_window(rows: int, space: str, wanted: tuple) -> None:
    """For any schedule, but where the array stays in HBM."""
    model = parsed(ROWS.replace("ROWS", str(rows)).replace("SPACE", space))
    found = [buffer for plan in candidates(model) for buffer in plan.buffers if buffer.operand == "out"]
    assert {(buffer.kind, tuple(buffer.axes)) for buffer in found} == {wanted}
