"""Spills: the VMEM that a TPU's kernel takes for values that its vector registers do not hold.

The kernel's cell as registers see it (`kopt.analysis.register_code`), at its own sizes (`kopt.planning.waiting`).
"""

from __future__ import annotations

from kopt.analysis.register_code import register_code
from kopt.dialects.tile import GridOp
from kopt.planning import waiting
from kopt.planning.register_trace import Sizing, Trace, trace
from kopt.targets.chips import TpuChip


def spilled_bytes(grid: GridOp, chip: TpuChip) -> int:
    """Bytes of VMEM for what waits and has no register, where it is the most."""
    return max((size for _, size in spills(grid, chip)), default=0)


def spills(grid: GridOp, chip: TpuChip) -> list[tuple[int, int]]:
    """Bytes of VMEM for what waits and has no register: from each phase on where that changes."""
    return [(phase, waiting.spilled(pressure)) for phase, pressure in waiting.pressures(traced(grid, chip))]


def pressure(grid: GridOp, chip: TpuChip) -> int:
    """The registers that all that waits would take, where it is the most."""
    return max((pressure for _, pressure in waiting.pressures(traced(grid, chip))), default=0)


def traced(grid: GridOp, chip: TpuChip) -> Trace:
    """The ops of one cell."""
    code = register_code(grid)
    return trace(code, Sizing(code, {}), chip.mxu_size)
