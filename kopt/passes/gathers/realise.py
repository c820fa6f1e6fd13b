"""What loads at computed places become: a row for each kind of buffer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kopt.analysis.values.bounded import bounded
from kopt.analysis.values.gathers import Choice, best_choice, gathers
from kopt.analysis.values.places import GatherPlaces, comes_by_dma, memory_for, row_places
from kopt.analysis.values.runs import runs
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.access import Gathering
from kopt.passes.gathers.bounded_window import fetch_bounded_window
from kopt.passes.gathers.building import Arrays, replace_load
from kopt.passes.gathers.by_place import fetch_flat, fetch_rows
from kopt.passes.gathers.hbm_rows import as_gather
from kopt.passes.gathers.held import pick_from_held
from kopt.passes.gathers.per_row_runs import fetch_runs
from kopt.passes.gathers.select_of_sums import selected_sums
from kopt.passes.normalising.loads import normal
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
        if not gathers(load):
            load, self.sums = as_gather(load), SumAnalysis()
        REALISE[choice.kind](self, load)

    def _pick(self, load: LoadOp) -> None:
        gathering = self._gathering(load)
        replace_load(load, gathering.take_elements())

    def _bounded(self, load: LoadOp) -> None:
        found = bounded(load, self.sums.exact)
        assert found is not None
        fetch_bounded_window(load, self.sums.exact, found)

    def _runs(self, load: LoadOp) -> None:
        """The rows that come are a gather of their own, or a block."""
        found = runs(load, self.sums)
        assert found is not None
        self._again(fetch_runs(load, found, self.arrays, self.sums))

    def _places(self, load: LoadOp) -> None:
        """Rows of memory for the places of a load, in each case of a choice; or the rows of a matrix, each once."""
        memory = memory_for(load, self.sums, self.chip)
        cases = [(load, memory)] if isinstance(memory, GatherPlaces) else selected_sums(load, self.sums)
        for case, places in cases:
            by_dma = comes_by_dma(case, places)
            rows = fetch_flat(case, places, self.arrays, self.sums)
            if by_dma:
                self._rows(rows)
            else:
                self._again(rows)
        if not cases:
            dims = row_places(load, self.sums)
            assert dims is not None
            self._again(fetch_rows(load, dims, self.sums))

    def _again(self, rows: LoadOp) -> None:
        """What realising has made: a gather of its own, or a block."""
        rest = normal(rows, self.launch, self.arrays, self.sums) if gathers(rows) else None
        choice = None if rest is None else best_choice(rest, self.launch, self.chip, self.sums)
        if rest is not None and choice is not None:
            self.realise(rest, choice)

    def _one_hot(self, load: LoadOp) -> None:
        gathering = self._gathering(load)
        if not gathering.form.takes_rows:
            gathering.by_rows(self.launch)
        replace_load(load, gathering.take_rows())

    def _rows(self, load: LoadOp) -> None:
        gathering = self._gathering(load)
        gathering.by_rows(self.launch)
        gathering.whole_groups()
        replace_load(load, gathering.load())

    def _gathering(self, load: LoadOp) -> Gathering:
        gathering = Gathering(load, self.arrays)
        gathering.clamp()
        return gathering


#: What the kinds of gathers become.
REALISE: dict[str, Callable[[Realising, LoadOp], None]] = {
    "pick": Realising._pick,
    "bounded": Realising._bounded,
    "places": Realising._places,
    "runs": Realising._runs,
    "one_hot": Realising._one_hot,
    "rows": Realising._rows,
}
