"""What the host of a GPU takes to fill and copy arrays."""

from __future__ import annotations

import pytest

from kopt.analysis.host_seconds import host_seconds
from kopt.parsing import parse_module
from kopt.targets.chips import GPU_CHIPS
from kopt.targets.costs import gpu_costs

LARGE, SMALL = "memref<1048576xf32>", "memref<1048576xbf16>"


@pytest.mark.parametrize(
    "ops, launches, moved",
    [
        (f"%a = host.alloc : {LARGE}", 0, 0),
        (f"%a = host.alloc fill 0.0 : {LARGE}", 1, 4 << 20),
        (f"%a = host.alloc fill 0.0 : {LARGE} host.copy %x to %a : {SMALL}, {LARGE}", 2, 10 << 20),
    ],
)
def test_fills_and_copies_are_launches(ops: str, launches: int, moved: int) -> None:
    """Each moves its arrays once; memory that nobody fills takes nothing."""
    chip = GPU_CHIPS["sm80"]
    costs = gpu_costs(chip)
    module = parse_module(f"func.func @f(%x: {SMALL}) {{ {ops} func.return }}")
    wanted = launches * costs.launch_seconds + moved / (costs.hbm_share * chip.hbm_bytes_per_second)
    assert host_seconds(module, chip) == pytest.approx(wanted, rel=1e-12)
