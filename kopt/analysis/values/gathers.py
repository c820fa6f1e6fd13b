"""The kinds of buffers that a load at computed places may have, in the order in which they are taken. Pure.

| kind | when | what is moved |
|---|---|---|
| ``pick from`` | another access has a block with all its elements on the chip (`held`) | nothing more |
| ``pick`` | single elements of a small array, or column | that as a whole |
| ``bounded`` | elements that lie near one number, as the index tells (`bounded`) | the block that has all of them |
| ``runs`` | lanes that follow one another from a computed element on (`runs`) | rows of memory around them |
| ``one_hot`` | rows of a matrix of few bytes, or elements of such rows | the matrix as a whole |
| ``rows`` | anything else | a DMA a row |

Of a row or an element by a loaded number all but ``runs`` are meant too, where its array is far (`far`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kopt.analysis.held_blocks import HeldBlock
from kopt.analysis.values.bounded import bounded
from kopt.analysis.values.far import is_far, may_be_row
from kopt.analysis.values.form import GatherForm, flattened
from kopt.analysis.values.held import picked
from kopt.analysis.values.runs import runs
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp, is_gather
from kopt.ir.sums import SumAnalysis
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip


@dataclass(frozen=True)
class Choice:
    """A kind, and the block that it picks from, if another access has that."""

    kind: str
    held: HeldBlock | None = None


def gathers(load: LoadOp) -> bool:
    """Whether a load has a tile among its indices."""
    return any(map(is_gather, load.entries))


def choices(load: LoadOp, launch: LaunchOp, sums: SumAnalysis, among: Collection[LoadOp] | None = None) -> list[Choice]:
    """The kinds that a load may have, the best one first; none where its launch writes the array, or it is a block.

    ``among`` are the loads whose blocks it may pick from; all, if it is None.
    """
    return list(dict.fromkeys(_choices(load, launch, sums, among)))


def _choices(
    load: LoadOp, launch: LaunchOp, sums: SumAnalysis, among: Collection[LoadOp] | None = None
) -> Iterator[Choice]:
    if launch.body.block.args.index(load.memory) in launch.written:
        return
    if (held := picked(load, launch, among)) is not None:
        yield Choice("pick", held)
    if gathers(load) or may_be_row(load, launch, sums.exact):
        yield from (Choice(kind) for kind, may in _KINDS if may(load, launch, sums))


def best_choice(
    load: LoadOp, launch: LaunchOp, chip: TpuChip, sums: SumAnalysis, wanted: Sequence[str] = ()
) -> Choice | None:
    """The kind that a load is given, the first of those that are ``wanted`` and may be; None for an ordinary block."""
    if not gathers(load) and not is_far(load, launch, chip, sums.exact) and picked(load, launch) is None:
        return None
    return of_kind(wanted, _choices(load, launch, sums)) or next(_choices(load, launch, sums), None)


def of_kind(kinds: Iterable[str], found: Iterable[Choice]) -> Choice | None:
    """The choice of the first kind of some that there is one of."""
    known = [*found] if (wanted := [*kinds]) else []
    return next((choice for kind in wanted for choice in known if choice.kind == kind), None)


def _is_one_hot(load: LoadOp, launch: LaunchOp, most: int | None = None) -> bool:
    """Whether a product may take rows of a matrix of so many bytes, or elements of such."""
    form = GatherForm.of(load.memory, load.entries)
    if not form.takes_rows:
        form = form.by_rows(flattened(load.memory, launch))
    return form.takes_rows and (most is None or form.table_bytes <= most)


_Rule = Callable[[LoadOp, LaunchOp, SumAnalysis], bool]
#: Kinds and whether a load may have them.
_KINDS: tuple[tuple[str, _Rule], ...] = (
    ("pick", lambda load, launch, sums: GatherForm.of(load.memory, load.entries).picks_from_whole),
    ("bounded", lambda load, launch, sums: bounded(load, sums.exact) is not None),
    ("runs", lambda load, launch, sums: runs(load, sums) is not None),
    ("one_hot", lambda load, launch, sums: _is_one_hot(load, launch, Budget.TAKEN_FROM)),
    ("rows", lambda load, launch, sums: True),
    ("one_hot", lambda load, launch, sums: _is_one_hot(load, launch)),
)
