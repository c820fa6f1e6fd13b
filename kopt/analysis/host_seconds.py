"""What the host of a GPU does around kernels: arrays that it fills and copies, each by a launch of its own. Pure."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from kopt.analysis.launch_traffic import array_bytes
from kopt.dialects.host import AllocOp, CopyOp
from kopt.targets.chips import GpuChip
from kopt.targets.costs import gpu_costs
from kopt.walk import walk


def host_seconds(module: ModuleOp, chip: GpuChip) -> float:
    """Seconds of all fills and copies of a module, by the constants of the cost model.

    Raises `NeedsConstant` where the extent of such an array differs from call to call.
    """
    costs = gpu_costs(chip)
    arrays: list[list[SSAValue]] = [[op.result] for op in walk(module, AllocOp) if op.fill is not None]
    arrays += [[op.source, op.target] for op in walk(module, CopyOp)]
    moved = sum(array_bytes(array.type) for some in arrays for array in some)
    return len(arrays) * costs.launch_seconds + moved / (costs.hbm_share * chip.hbm_bytes_per_second)
