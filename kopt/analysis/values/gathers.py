"""The kinds of buffers that a load at computed places may have, in the order in which they are taken. Pure.

| kind | when | what is moved |
|---|---|---|
| ``pick from`` | another access has a block with all its elements on the chip (`held`) | nothing more |
| ``pick`` | single elements of a small array, or column | that as a whole |
| ``bounded`` | elements that lie near one number, as the index tells (`bounded`) | the block that has all of them |
| ``places`` | elements near a number of each row or column of the block (`places`) | rows of memory around these |
| ``runs`` | lanes that follow one another from a computed element on (`runs`) | rows of memory around them |
| ``one_hot`` | rows of a matrix of few bytes, or elements of such rows | the matrix as a whole |
| ``rows`` | anything else | a DMA a row |

Of a row or an element by a loaded number all but ``runs`` are meant too, where its array is far (`hbm_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kopt.analysis.held_blocks import HeldBlock
from kopt.analysis.values.bounded import bounded
from kopt.analysis.values.form import GatherForm, element_bits, flattened
from kopt.analysis.values.hbm_rows import is_far, may_be_row
from kopt.analysis.values.held import picked
from kopt.analysis.values.places import GatherPlaces, cases_of, memory_for, row_places
from kopt.analysis.values.runs import runs
from kopt.cached_property import cached_property
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp
from kopt.ir.sums import SumAnalysis
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip


@dataclass(frozen=True)
class Choice:
    """A kind, and the block that it picks from, if another access has that."""

    kind: str
    held: HeldBlock | None = None


def choices(
    load: LoadOp, launch: LaunchOp, chip: TpuChip, sums: SumAnalysis, among: Collection[LoadOp] | None = None
) -> list[Choice]:
    """The kinds that a load may have, the best one first; none where its launch writes the array, or it is a block.

    ``among`` are the loads whose blocks it may pick from; all, if it is None.
    """
    return list(dict.fromkeys(_choices(load, launch, chip, sums, among)))


def _choices(
    load: LoadOp, launch: LaunchOp, chip: TpuChip, sums: SumAnalysis, among: Collection[LoadOp] | None = None
) -> Iterator[Choice]:
    if launch.body.block.args.index(load.memory) in launch.written:
        return
    if (held := picked(load, launch, among)) is not None:
        yield Choice("pick", held)
    if load.gathers or may_be_row(load, launch, sums.exact):
        at = _Asked(load, launch, chip, sums)
        yield from (Choice(kind) for kind, may in _KINDS if may(at))


def best_choice(
    load: LoadOp, launch: LaunchOp, chip: TpuChip, sums: SumAnalysis, wanted: Sequence[str] = ()
) -> Choice | None:
    """The kind that a load is given, the first of those that are ``wanted`` and may be; None for an ordinary block."""
    if not load.gathers and not is_far(load, launch, chip, sums.exact) and picked(load, launch) is None:
        return None
    return of_kind(wanted, _choices(load, launch, chip, sums)) or next(_choices(load, launch, chip, sums), None)


def of_kind(kinds: Iterable[str], found: Iterable[Choice]) -> Choice | None:
    """The choice of the first kind of some that there is one of."""
    known = [*found] if (wanted := [*kinds]) else []
    return next((choice for kind in wanted for choice in known if choice.kind == kind), None)


@dataclass(frozen=True)
class _Asked:
    """One load of a launch, as the rules of the kinds ask for it."""

    load: LoadOp
    launch: LaunchOp
    chip: TpuChip
    sums: SumAnalysis

    @cached_property
    def memory(self) -> GatherPlaces | Literal["near", "whole"] | None:
        """What comes for it with the fewest rows of memory."""
        return memory_for(self.load, self.sums, self.chip)

    @cached_property
    def form(self) -> GatherForm:
        """The gather as products and DMAs see it."""
        return GatherForm.of(self.load.memory, self.load.entries)

    @property
    def is_bounded(self) -> bool:
        """Whether one block holds all elements."""
        return bounded(self.load, self.sums.exact) is not None

    @property
    def comes_whole(self) -> bool:
        """Whether nothing less than a small array comes. Runs of narrow elements are turned to their first lanes in any
        case: Mosaic packs several of them in a word, and moves no masks of these."""
        is_turned = element_bits(self.load.memory) < 32 and runs(self.load, self.sums) is not None
        return self.memory == "whole" and not is_turned

    @property
    def has_places(self) -> bool:
        """Whether lanes lie near numbers of places, in each case of a choice, or are of rows that lanes repeat."""
        if isinstance(self.memory, GatherPlaces):
            return True
        if self.memory is not None:
            return False
        return cases_of(self.load, self.sums) is not None or row_places(self.load, self.sums) is not None

    def is_one_hot(self, most: int | None = None) -> bool:
        """Whether a product may take rows of a matrix of so many bytes, or elements of such."""
        form = self.form
        if not form.takes_rows:
            form = form.by_rows(flattened(self.load.memory, self.launch))
        return form.takes_rows and (most is None or form.table_bytes <= most)


#: Kinds and whether a load may have them: those that are taken first; then those that it may have besides.
_KINDS: tuple[tuple[str, Callable[[_Asked], bool]], ...] = (
    ("pick", lambda at: at.form.picks_from_whole),
    ("bounded", lambda at: at.memory == "near" and at.is_bounded),
    ("one_hot", lambda at: at.comes_whole and at.is_one_hot()),
    ("places", lambda at: at.has_places),
    ("runs", lambda at: runs(at.load, at.sums) is not None),
    ("one_hot", lambda at: at.is_one_hot(Budget.TAKEN_FROM)),
    ("rows", lambda at: True),
    ("one_hot", lambda at: at.is_one_hot()),
    ("bounded", lambda at: at.is_bounded),
)
