"""The pass ``split-k``: a long reduction is dealt out to several cells, whose partial results are combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.reduction_loops import NotAReduction, ReductionLoop, reduction_loop
from kopt.diagnostics import remark
from kopt.dialects.tile import GridOp, is_float
from kopt.errors import ConfigError
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.schedules import reschedule
from kopt.passes.splitting.partial_results import (
    Partial,
    combine_by_atomics,
    combine_in_order,
    combine_in_place,
    in_place,
)


@dataclass(frozen=True)
class SplitKPass(ModulePass):
    """Split-K: the visits of each grid's reduction loop are dealt out to ``factor`` times as many cells.

    Atomics combine the partial results: in the output itself where a cell only stores its result, else in a workspace.
    A second grid reads that to do what follows the loop. With ``deterministic``, and for maxima and minima of floats,
    each partial result has its own place in the workspace, and the second grid combines them in order.

        tile.grid (%i, %j) in (M, N) {
          %r = tile.for %k in (0, K) iter(%a = %zero) { … }  tile.store %r, %out[%i, %j] }
    becomes
        %out = host.alloc fill 0.0
        tile.grid (%i, %j, %s) in (M, N, K) {
          %r = tile.for %k in (%s.begin, %s.end) iter(%a = %zero) { … }  atomic.rmw add %r, %out[%i, %j] }

    Grids whose loop is no reduction stay as they are, with a remark. Refuses a module without any that can be split,
    and says why for the first: `split_k cannot split this grid: its cells have 2 loops, not one`.
    """

    name = "split-k"
    meaning = REASSOCIATES

    factor: int
    deterministic: bool = False

    def __post_init__(self) -> None:
        if self.factor < 1:
            raise ConfigError(f"split-k needs a factor of at least 1, found {self.factor}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.factor > 1:
            reschedule(op, self._split, "split_k cannot split this grid", "not split")

    def _split(self, grid: GridOp) -> str | None:
        """Splits one grid; gives the reason where it cannot."""
        try:
            found = reduction_loop(grid)
        except NotAReduction as reason:
            return str(reason)
        if found.trips > 1:
            self._combine(grid, found)
        return None

    def _combine(self, grid: GridOp, found: ReductionLoop) -> None:
        partial = Partial(grid, found, min(self.factor, found.trips))
        if self.deterministic or _is_fragile(found):
            combine_in_order(partial)
            how = "their results are combined in order by a second grid"
        elif (store := in_place(partial)) is not None:
            combine_in_place(partial, store)
            how = f"they update '{store.memory.name_hint}' by atomics"
        else:
            combine_by_atomics(partial)
            how = "they update a workspace by atomics, and a second grid does the rest"
        remark(found.loop, f"split among {partial.splits} cells: {how}")


def _is_fragile(found: ReductionLoop) -> bool:
    """Whether atomics would not do: hardware's maxima of floats ignore NaN."""
    pairs: Sequence[tuple[str, object]] = [(k, v.type) for k, v in zip(found.kinds, found.loop.inits, strict=True)]
    return any(kind in ("max", "min") and is_float(type.element_type) for kind, type in pairs)  # pyright: ignore
