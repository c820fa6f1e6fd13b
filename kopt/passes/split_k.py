"""The pass ``split-k``: a long reduction is dealt out to several cells, whose partial results are combined."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from kopt.analysis.combiners import Combination, NotAReduction
from kopt.analysis.independent_loops import independent_loop
from kopt.analysis.reduction_loops import ReductionLoop, reduction_loop
from kopt.analysis.scope import ancestors
from kopt.analysis.seen_blocks import seen_blocks
from kopt.diagnostics import remark
from kopt.dialects import atomic
from kopt.dialects.tile import (
    ConcatOp,
    CountOp,
    GridOp,
    IdOp,
    OpenBlock,
    ReshapeOp,
    SliceOp,
    TileType,
    is_float,
    mark_open,
    open_blocks,
    range_type,
    tile_type,
)
from kopt.dialects.tile.planned import forget_plan
from kopt.errors import ConfigError
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.schedules import reschedule
from kopt.passes.splitting.dealt_visits import deal_out
from kopt.passes.splitting.partial_results import (
    Partial,
    combine_by_atomics,
    combine_in_order,
    combine_in_place,
    in_place,
)
from kopt.walk import walk


@dataclass(frozen=True)
class SplitKPass(ModulePass):
    """Split-K: the visits of each grid's reduction loop are dealt out to ``factor`` times as many cells.

    Atomics combine the partial results: in the output itself where a cell only stores its result, else in a
    workspace. A second grid reads that to do what follows the loop. With ``deterministic``, and for what no atomics
    combine, each partial result has its own place in the workspace, and the second grid combines them in order. How
    they are combined is derived from what a visit does to each carried value (`kopt.analysis.combiners`). This
    covers sums that are rescaled as a maximum grows, and the index of the best element. Loops after the first are
    dealt out in the same way: reductions that use its result, and loops that store blocks of their own. Bounds may
    be computed: each cell deals out the visits that it has, as in attention over a loaded length (flash decoding) or
    inside of packed sequences.

        tile.grid (%i, %j) in (M, N) {
          %r = tile.for %k in (0, K) iter(%a = %zero) { … }  tile.store %r, %out[%i, %j] }
    becomes
        %out = host.alloc fill 0.0
        tile.grid (%i, %j, %s) in (M, N, K) {
          %r = tile.for %k in (%s.begin, %s.end) iter(%a = %zero) { … }  atomic.rmw add %r, %out[%i, %j] }

    Grids whose loop is no reduction stay as they are, with a remark. Refuses a module without any that can be
    split, and says why for the first: `split_k cannot split this grid: its cells have no loop`; for grids with
    plans, `its accesses are planned already`. Without a factor it obeys the plans of grids, ``split 16``, that
    `plan-splits` writes. With ``open-blocks`` the second grid's block sizes are open, but for those on which results
    depend: `choose-block-sizes` may give it smaller blocks than the products of the first have.
    """

    name = "split-k"
    meaning = REASSOCIATES

    factor: int | None = None
    deterministic: bool = False
    open_blocks: bool = False

    def __post_init__(self) -> None:
        if self.factor is not None and self.factor < 1:
            raise ConfigError(f"split-k needs a factor of at least 1, found {self.factor}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.factor is None:
            for grid in walk(op, GridOp):
                if factor := split_of(grid):
                    forget_plan(grid)
                    self._split(grid, factor)
        elif self.factor > 1:
            factor = self.factor
            reschedule(op, lambda grid: self._asked(grid, factor), "split_k cannot split this grid", "not split")

    def _asked(self, grid: GridOp, factor: int) -> str | None:
        return "its accesses are planned already" if grid.plan is not None else self._split(grid, factor)

    def _split(self, grid: GridOp, factor: int) -> str | None:
        """Splits one grid; gives the reason where it cannot."""
        try:
            found = reduction_loop(grid)
        except NotAReduction as reason:
            return self._deal_out(grid, factor, str(reason))
        if _is_several(found.trips) and (rest := self._combine(grid, found, factor)) is not None:
            if self.open_blocks:
                _open(rest)
            self._split(rest, factor)
        return None

    def _deal_out(self, grid: GridOp, factor: int, why: str) -> str | None:
        """Deals out what only stores; gives the reason where it cannot."""
        try:
            loop, trips = independent_loop(grid)
        except NotAReduction:
            return why
        if _is_several(trips):
            remark(loop, f"dealt out to {deal_out(grid, loop, trips, factor)} cells")
        return None

    def _combine(self, grid: GridOp, found: ReductionLoop, factor: int) -> GridOp | None:
        """Splits a reduction; gives the grid that has what follows it."""
        partial, loop, rest = Partial(grid, found, min(factor, found.trips or factor)), found.loop, None
        if self.deterministic or _is_fragile(found):
            rest = combine_in_order(partial)
            how = "their results are combined in order by a second grid"
        elif (store := in_place(partial)) is not None:
            combine_in_place(partial, store)
            how = f"they update '{store.memory.name_hint}' by atomics"
        else:
            rest = combine_by_atomics(partial)
            how = "they update a workspace by atomics, and a second grid does the rest"
        remark(loop, f"split among {partial.splits} cells: {how}")
        return rest


def _open(rest: GridOp) -> None:
    """Leaves the block sizes of the grid that combines partial results open, but for those on which results depend."""
    func = next(op for op in ancestors(rest) if isinstance(op, FuncOp))
    sized = walk(rest, ConcatOp, ReshapeOp, SliceOp)
    kept = seen_blocks(rest).union(*(tile_type(value).tags for op in sized for value in op.operands))
    free = [range for range in rest.ranges if not any(isinstance(use.operation, IdOp | CountOp) for use in range.uses)]
    tags = [type.tag for type in map(range_type, free) if type.size != 1 and type.tag not in kept]
    mark_open(func, [*open_blocks(func), *(OpenBlock((tag,)) for tag in tags)])


def split_of(grid: GridOp) -> int | None:
    """The cells that share a reduction, by a grid's plan."""
    found = None if grid.plan is None else dict(grid.plan.data.options).get("split")
    return found if isinstance(found, int) else None


def _is_several(trips: int | None) -> bool:
    """Whether there are visits to deal out: more than one, or as many as are computed."""
    return trips is None or trips > 1


def _is_fragile(found: ReductionLoop) -> bool:
    """Whether atomics would not do: hardware's maxima of floats ignore NaN, and what is rescaled needs two values."""
    pairs = zip(found.combiners, found.loop.inits, strict=True)
    return not all(isinstance(how, Combination) and _is_atomic(how.kind, tile_type(init)) for how, init in pairs)


def _is_atomic(kind: str, type: TileType) -> bool:
    return kind in atomic.KINDS and not (kind in ("max", "min") and is_float(type.element_type))
