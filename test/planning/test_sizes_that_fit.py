"""Block sizes that do not fit: others by cost, or smaller ones, are tried in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from kopt.passes.choose_block_sizes import _Choice
from kopt.planning.block_sizes import rooms
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS, Chip

V5P, SM90 = TPU_CHIPS["v5p"], GPU_CHIPS["sm90"]


class Offered(_Choice):
    """A choice among sizes that a test offers: for each share of the room, and as the next smaller ones.

    ``taken`` is how full a cell is with sizes; ``fixed`` are sizes that Python computed with: they are only marked.
    """

    def __init__(
        self,
        taken: Mapping[tuple[int, ...], float],
        by_share: Sequence[tuple[int, ...]] = (),
        smaller: Mapping[tuple[int, ...], tuple[int, ...]] | None = None,
        fixed: Sequence[tuple[int, ...]] = (),
        chip: Chip = V5P,
        gathers: bool = False,
    ):
        self.taken, self.by_share, self.next, self.fixed = taken, list(by_share), smaller or {}, fixed
        self._sizes, self._chip, self.asked, self.marked = [64, 64], chip, list[float](), list[list[int]]()
        self._forms: Any = SimpleNamespace(gathers=gathers)

    def _chosen(self, moved: Any = None, seconds: Any = None, room: float = float("inf")) -> list[int]:
        self.asked.append(room)
        return [*self.by_share[len(self.asked) - 1]]

    def _smaller(self, sizes: Sequence[int]) -> list[int]:
        return [*self.next.get(tuple(sizes), sizes)]

    def _fullness(self, room: int) -> float:
        return self.taken[tuple(self._sizes)] * 1000 / room

    def _set(self, sizes: Sequence[int]) -> bool:
        if tuple(sizes) in self.fixed:
            self.marked.append([*sizes])
            return False
        self._sizes = [*sizes]
        return True


NOW = (64, 64)
#: What a cell takes, what is offered, whether that fits, the sizes at the end, and the shares of the room asked for.
LESS = {
    "what fits stays": ({NOW: 1.0}, [], True, NOW, 0),
    "the first that fits": ({NOW: 1.1, (32, 64): 1.0}, [(32, 64)], True, (32, 64), 1),
    "one that is as large is none": ({NOW: 1.1, (32, 64): 0.5}, [(128, 32), (32, 64)], True, (32, 64), 2),
    "nor is a larger one": ({NOW: 1.1, (32, 64): 0.5}, [(128, 64), (64, 64), (32, 64)], True, (32, 64), 3),
    "then the next": ({NOW: 2, (32, 64): 1.5, (32, 32): 1}, [(32, 64), (32, 32)], True, (32, 32), 2),
    "none": ({NOW: 9, (32, 64): 8, (32, 32): 7, (16, 32): 6}, [(32, 64), (32, 32), (16, 32)], False, (16, 32), 3),
}


@pytest.mark.parametrize(("taken", "offered", "fits", "sizes", "asked"), LESS.values(), ids=LESS)
def test_sizes_that_take_less_by_their_model(taken, offered, fits: bool, sizes: tuple[int, ...], asked: int) -> None:
    choice = Offered(taken, offered)
    assert choice._fits_less(1000) == fits
    assert tuple(choice._sizes) == sizes
    assert choice.asked == pytest.approx([900, 800, 650][:asked])


def test_sizes_that_python_computed_with_are_marked_and_settle_it() -> None:
    choice = Offered({NOW: 2, (32, 64): 2}, [(32, 64)], fixed=[(32, 64)])
    assert choice._fits_less(1000) and choice._sizes == [64, 64] and choice.marked == [[32, 64]]


@pytest.mark.parametrize(("chip", "gathers"), [(V5P, True), (SM90, False), (SM90, True)])
def test_where_no_model_tells_no_others_are_asked_for(chip: Chip, gathers: bool) -> None:
    choice = Offered({NOW: 2}, chip=chip, gathers=gathers)
    assert not choice._fits_less(1000) and not choice.asked


#: What cells take, the smaller sizes, those that are marked, how full they are at last, and the sizes then.
STEPS = {
    "what fits stays": ({NOW: 1.0}, {NOW: (1, 1)}, [], 1.0, NOW),
    "until they fit": ({NOW: 3, (32, 64): 2, (32, 32): 1}, {NOW: (32, 64), (32, 64): (32, 32)}, [], 1, (32, 32)),
    "no smaller ones": ({NOW: 3}, {}, [], 3, NOW),
    "as full as before": ({NOW: 3, (32, 64): 3}, {NOW: (32, 64)}, [], 3, NOW),
    "fuller than before": ({NOW: 3, (32, 64): 2, (8, 8): 2.5}, {NOW: (32, 64), (32, 64): (8, 8)}, [], 2, (32, 64)),
    "marked": ({NOW: 3}, {NOW: (32, 64)}, [(32, 64)], 3, NOW),
}


@pytest.mark.parametrize(("taken", "smaller", "fixed", "full", "sizes"), STEPS.values(), ids=STEPS)
def test_smaller_sizes_while_cells_take_less(taken, smaller, fixed, full: float, sizes: tuple[int, ...]) -> None:
    choice = Offered(taken, smaller=smaller, fixed=fixed)
    assert choice._shrink(1000) == full and tuple(choice._sizes) == sizes


@pytest.mark.parametrize(("gathers", "tried"), [(True, 2), (False, 1)])
def test_a_cell_that_gathers_is_given_the_smaller_room_first(gathers: bool, tried: int) -> None:
    """Plans tell all that other cells take: the larger room is the only one."""
    choice = Offered({NOW: 10**9, (32, 32): 9 * 10**8}, [NOW] * 9, {NOW: (32, 32)}, gathers=gathers)
    seen = list[int]()
    choice._fits_less = lambda room: bool(seen.append(room))
    choice._fit()
    assert seen == rooms(V5P)[-tried:] and choice._sizes == [32, 32]
