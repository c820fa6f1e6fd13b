"""The VMEM that a TPU's cell takes while its block sizes are chosen: its buffers, and large temporaries. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from xdsl.ir import Operation

from kopt.analysis.cell_footprint import temporaries
from kopt.analysis.launch_models import open_models
from kopt.dialects.tile import GridOp
from kopt.planning.block_sizes import least_memory, rooms
from kopt.targets.chips import TpuChip
from kopt.walk import walk

#: How often temporaries count that are alone in their room: of some there are two at once.
_AGAIN = 2


def cell_bytes(
    top: Operation, chip: TpuChip, tags: Collection[str] = (), loop_type: str = "auto", told: bool = False
) -> Callable[[Mapping[str, int]], int]:
    """What gives the bytes that a cell of the grids of ``top`` takes at least, by the sizes of blocks by ``tags``.

    Where plans have ``told`` what buffers and values take, these may have the larger room, if temporaries fit the
    smaller one.
    """
    pairs = list(zip(walk(top, GridOp), open_models(top, tags, chip), strict=True))
    small, *_, most = rooms(chip)

    def taken(sizes: Mapping[str, int]) -> int:
        found = [0]
        for grid, model in pairs:
            values = temporaries(grid, sizes, repeated=False)
            every = least_memory(model, sizes, chip, loop_type, buffers=True) + values
            if told and every > small:
                planned = least_memory(model, sizes, chip, loop_type)
                every = min(every, max(planned - (most - small), _AGAIN * values))
            found.append(every)
        return max(found)

    return taken
