"""The VMEM that a TPU's cell takes while its block sizes are chosen: its buffers, and large temporaries. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from xdsl.ir import Operation

from kopt.analysis.cell_footprint import temporaries
from kopt.analysis.launch_models import open_models
from kopt.dialects.tile import GridOp
from kopt.planning.block_sizes import least_memory
from kopt.targets.chips import TpuChip
from kopt.walk import walk


def cell_bytes(
    top: Operation, chip: TpuChip, tags: Collection[str] = (), loop_type: str = "auto"
) -> Callable[[Mapping[str, int]], int]:
    """What gives the bytes that a cell of the grids of ``top`` takes at least, by the sizes of blocks by ``tags``."""
    pairs = list(zip(walk(top, GridOp), open_models(top, tags, chip), strict=True))

    def taken(sizes: Mapping[str, int]) -> int:
        return max(
            (
                least_memory(m, sizes, chip, loop_type, buffers=True) + temporaries(grid, sizes, repeated=False)
                for grid, m in pairs
            ),
            default=0,
        )

    return taken
