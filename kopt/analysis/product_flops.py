"""The operations of a launch's products: of lanes that are there alone, as often as each product runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from xdsl.ir import Block, SSAValue

from kopt.analysis.executions import Executions
from kopt.dialects.tile import DotOp, GridOp, RangeType, tile_type
from kopt.walk import walk


def product_flops(grid: GridOp, blocks: Mapping[Block, Executions]) -> Counter[str]:
    """Multiplications and additions, by the dtype of the factors.

    Raises `UnknownNumber` where it depends on what only a launch tells how many there are.
    """
    ranges = {value.type.tag: value for value in _ranges(grid) if isinstance(value.type, RangeType)}
    found: Counter[str] = Counter()
    for op in walk(grid, DotOp):
        assert op.parent is not None
        here = blocks[op.parent]
        lhs, rhs = tile_type(op.lhs), tile_type(op.rhs)
        total = np.array([2])
        for dim in (*lhs.dims.data, rhs.dims.data[-1]):
            known = ranges.get(dim.tag.data)
            total = total * (dim.size.data if known is None else here.visit(known).lanes)
        runs = here.count * total.item() if len(total) == 1 else total.sum()
        found[str(lhs.element_type)] += int(runs)
    return found


def _ranges(grid: GridOp) -> list[SSAValue]:
    ops = walk(grid)
    bound = [arg for op in ops for region in op.regions for block in region.blocks for arg in block.args]
    return [*bound, *(result for op in ops for result in op.results)]
