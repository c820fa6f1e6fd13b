"""What the host moves around a kernel: arrays that are laid out anew, padded, and sliced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt.planning.at_sizes import AtSizes
from kopt.planning.blocks import Blocks
from kopt.planning.host_passes import host_bytes, host_seconds
from kopt.plans.plan import Buffer, Plan
from kopt.targets.chips import TPU_CHIPS
from kopt.targets.costs import VECTOR_SECONDS
from test.analysis.launches import parsed
from test.planning.launches import matmul, matmul_plan

SIZES = {"b0": 256, "b1": 256, "b2": 512}
X, Y = 2 * 1024 * 2048, 2 * 2048 * 500


@pytest.mark.parametrize(
    ("kind", "views", "moved"),
    [
        ("grid", {}, 0),
        ("prefetch", {}, 2 * Y),  # padded
        ("grid", {"x": ("permute",)}, 2 * X),
        ("grid", {"x": ("slice",)}, X),  # only read
        ("prefetch", {"x": ("slice", "permute"), "y": ("cast",)}, 3 * X + 4 * Y),
    ],
)
def test_passes_over_arrays(kind: str, views: dict[str, tuple[str, ...]], moved: int) -> None:
    launch = AtSizes(matmul(1024, 2048, 500), SIZES, TPU_CHIPS["v6e"], {})
    plan = replace(matmul_plan(kind), views=views)
    assert host_bytes(launch, plan, Blocks(launch.model, plan, launch.sizes, launch.trips)) == moved


VECTOR = """
func.func @f(%x: memref<EXTENTxf32>) {
  tile.grid (%i: b0=SIZE) in (EXTENT) {
    %v = tile.load %x[%i] : memref<EXTENTxf32> -> !tile.tile<b0=SIZE x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=SIZE x f32>, memref<EXTENTxf32>
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("extent", "size", "kind", "count"),
    [
        (75, 64, "window", 1),
        (75, 128, "window", 0),  # whole
        (300, 128, "window", 0),  # rows of lanes
        (320, 64, "window", 0),  # laid out without a pad
        (75, 64, "smem", 0),
    ],
)
def test_padded_vectors_take_time(extent: int, size: int, kind: str, count: int) -> None:
    model = parsed(VECTOR.replace("EXTENT", str(extent)).replace("SIZE", str(size)))
    launch = AtSizes(model, {}, TPU_CHIPS["v6e"], {})
    via = {access.id: "x" for access in model.accesses}
    plan = Plan(("b0",), frozenset({"b0"}), (Buffer("x", "x", kind, ("b0",), 2),), via)
    blocks = Blocks(model, plan, launch.sizes, launch.trips)
    assert host_seconds(0, launch, plan, blocks) == count * VECTOR_SECONDS
