"""One launch as the modules of this package ask for it: places, ids, expressions with names in place of values."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from xdsl.ir import SSAValue

from kopt.analysis.launch_models.merged_dims import open_analysis
from kopt.analysis.launch_models.naming import ModelNames
from kopt.analysis.launch_models.program_points import ProgramPoint, places
from kopt.analysis.launch_models.whole_dims import WholeDims
from kopt.analysis.plans import GridNames
from kopt.dialects.tile import ForOp, GridOp, RangeType, WholeOp, open_blocks, tag_of, tile_type
from kopt.ir.polynomial import Coefficient

#: What a model is asked for: anything, what plans at several sizes cost, or plans that are made already.
Asked = Literal["all", "sizes", "plan"]


class Launch:
    """What is known of one launch. ``ids`` names accesses, ``operands`` the arrays that they address.

    Of one that is ``costed`` nothing is asked that costs do not ask for: masks, dimensions ``:`` that may be walked. If
    it is ``planned`` besides, nor is it asked which loops may be dimensions of the grid. ``parts`` are the blocks of
    loops whose sizes a pass chooses for those of all others: they are open in any case.
    """

    def __init__(self, grid: GridOp, known: GridNames, open_tags: Collection[str] = (), asked: Asked = "all"):
        self.grid, self.costed, self.planned = grid, asked != "all", asked == "plan"
        self.places: list[ProgramPoint] = places(grid)
        self.ids, self.operands = known.accesses, known.operands
        self.names = ModelNames(grid, self.places, self.ids)
        loops = [place.op for place in self.places if isinstance(place.op, ForOp)]
        self.parts = {tag_of(loop.range): block for loop in loops for block in open_blocks(loop)}
        self.analysis = open_analysis(grid, {*open_tags, *self.parts}, self.names)
        self.whole_dims = WholeDims(() if self.costed else self.places, self.ids)
        self.tags = frozenset(range.type.tag for range in self._ranges() if isinstance(range.type, RangeType))

    def _ranges(self) -> list[SSAValue]:
        """The ranges that grid, loops and whole dimensions bind."""
        args = [arg for block in (self.grid.body.block, *self._bodies()) for arg in block.args]
        return [*args, *(place.op.result for place in self.places if isinstance(place.op, WholeOp))]

    def _bodies(self):
        return (region.block for place in self.places for region in place.op.regions if region.blocks)

    def dims(self, value: SSAValue) -> tuple[tuple[str, Coefficient], ...]:
        """Axis and lanes of each dimension of a tile; no axis where it is a whole one that no op takes apart."""
        dims = enumerate(tile_type(value).dims.data)
        return tuple((dim.tag.data or self.whole_dims.tag(value, n), self.lanes(value, n)) for n, dim in dims)

    def lanes(self, value: SSAValue, dim: int) -> Coefficient:
        """How many lanes a dimension of a tile has."""
        return self.analysis.lanes_along(value, dim)
