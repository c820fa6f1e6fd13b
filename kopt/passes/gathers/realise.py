"""What loads at computed places become: a row for each kind of buffer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kopt.analysis.values.bounded import bounded
from kopt.analysis.values.gathers import Choice, best_choice
from kopt.analysis.values.places import GatherPlaces, comes_by_dma, memory_for, row_places
from kopt.analysis.values.runs import runs
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.bounded_window import fetch_bounded_window
from kopt.passes.gathers.one_hot import take_rows
from kopt.passes.gathers.per_row_runs import fetch_runs
from kopt.passes.gathers.pick import pick_from_held, pick_from_whole
from kopt.passes.gathers.row_dma import as_gather, fetch_rows
from kopt.passes.gathers.rows_of_places import fetch_rows_of_flat, fetch_rows_of_matrix
from kopt.passes.launch_arrays import Arrays
from kopt.passes.normalising.loads import normal
from kopt.passes.normalising.select_of_loads import selected_sums
from kopt.targets.chips import TpuChip


@dataclass
class Realising:
    """One launch whose accesses are rewritten, and what is known of it meanwhile."""

    launch: LaunchOp
    chip: TpuChip
    arrays: Arrays = field(init=False)
    sums: SumAnalysis = field(default_factory=SumAnalysis)

    def __post_init__(self) -> None:
        self.arrays = Arrays(self.launch)

    def realise(self, load: LoadOp, choice: Choice) -> None:
        """Puts what is chosen in a load's place; a row of a far array is a gather of one place first."""
        if choice.held is not None:
            pick_from_held(load, choice.held)
            return
        if not load.gathers:
            load, self.sums = as_gather(load), SumAnalysis()
        REALISE[choice.kind](self, load)

    def again(self, rows: LoadOp) -> None:
        """Realises what realising has made: a gather of its own, or a block."""
        rest = normal(rows, self.launch, self.arrays, self.sums) if rows.gathers else None
        choice = None if rest is None else best_choice(rest, self.launch, self.chip, self.sums)
        if rest is not None and choice is not None:
            self.realise(rest, choice)


def _bounded(at: Realising, load: LoadOp) -> None:
    found = bounded(load, at.sums.exact)
    assert found is not None
    fetch_bounded_window(load, at.sums.exact, found)


def _runs(at: Realising, load: LoadOp) -> None:
    found = runs(load, at.sums)
    assert found is not None
    at.again(fetch_runs(load, found, at.arrays, at.sums))


def _places(at: Realising, load: LoadOp) -> None:
    """Rows of memory for the places of a load, in each case of a choice; or the rows of a matrix, each once."""
    memory = memory_for(load, at.sums, at.chip)
    cases = [(load, memory)] if isinstance(memory, GatherPlaces) else selected_sums(load, at.sums)
    for case, places in cases:
        by_dma = comes_by_dma(case, places)
        rows = fetch_rows_of_flat(case, places, at.arrays, at.sums)
        if by_dma:
            fetch_rows(rows, at.launch, at.arrays)
        else:
            at.again(rows)
    if not cases:
        dims = row_places(load, at.sums)
        assert dims is not None
        at.again(fetch_rows_of_matrix(load, dims, at.sums))


#: What the kinds of gathers become.
REALISE: dict[str, Callable[[Realising, LoadOp], None]] = {
    "pick": lambda at, load: pick_from_whole(load, at.arrays),
    "bounded": _bounded,
    "places": _places,
    "runs": _runs,
    "one_hot": lambda at, load: take_rows(load, at.launch, at.arrays),
    "rows": lambda at, load: fetch_rows(load, at.launch, at.arrays),
}
