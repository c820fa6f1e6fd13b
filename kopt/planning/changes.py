"""Single decisions made otherwise, and what the launches would take then: what a report says to try next. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kopt.ir.launch_model import LaunchModel
from kopt.planning.block_sizes import Candidates, evaluated
from kopt.plans.plan import LoopSchedule, Plan
from kopt.targets.chips import Chip

#: Names of axes by their tags.
Names = Mapping[str, str]
#: What is tried instead of a program's warps, and of its loads under way.
_NEAR: Mapping[str, Callable[[int], list[int]]] = {
    "warps": lambda now: [size for size in (now // 2, 2 * now) if 1 <= size <= 16],
    "stages": lambda now: [size for size in (now - 1, now + 1) if 1 <= size <= 5],
}


@dataclass(frozen=True)
class OtherChoice:
    """One decision that is made otherwise: ``text`` says it, ``config`` asks for it.

    ``seconds`` are those of all launches with it, None where nothing tells; ``reason`` is why it cannot
    be, None where it can. ``single`` is whether nothing else changes with it, ``searched`` whether it is one of those
    that the search chose from. ``sizes`` are those of blocks that it changes, by tag.
    """

    text: str
    config: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    reason: str | None = None
    single: bool = True
    searched: bool = False
    sizes: Mapping[str, int] = field(default_factory=dict)


# Sizes of blocks.


@dataclass(frozen=True)
class Sized:
    """The candidates of one search of block sizes: seconds by candidate, infinite where one does not fit."""

    groups: Sequence[Sequence[str]]
    sizes: Candidates
    seconds: np.ndarray
    now: Mapping[str, int]

    @property
    def base(self) -> float:
        """Seconds with the sizes that blocks have."""
        return float(self.seconds[-1])

    def best(self, single: bool) -> dict[str, int] | None:
        """The cheapest other sizes, by tag; of those in which one group alone differs, where these are asked for."""
        differs = [self.sizes[group[0]] != self.now[group[0]] for group in self.groups]
        count = np.sum(np.broadcast_arrays(*differs), axis=0)
        seconds = np.where((count == 1) if single else (count > 0), self.seconds, np.inf)
        number = int(seconds.argmin())
        if not np.isfinite(seconds[number]):
            return None
        return {tag: int(column[number]) for tag, column in self.sizes.items()}

    def seconds_of(self, sizes: Mapping[str, int]) -> float:
        """Seconds of a candidate."""
        same = [self.sizes[tag] == size for tag, size in sizes.items()]
        return float(self.seconds[int(np.all(np.broadcast_arrays(*same), axis=0).argmax())])


def sized(
    models: Sequence[LaunchModel],
    groups: Sequence[Sequence[str]],
    candidates: Candidates,
    now: Mapping[str, int],
    chip: Chip,
    loop_type: str,
    bounds: Mapping[str, tuple[int, int]],
) -> Sized | None:
    """The search around the sizes that blocks have; None where nothing tells what those cost.

    ``bounds`` are the least and the largest size that a block may have, by tag.
    """
    sizes = {tag: np.append(column, now[tag]) for tag, column in candidates.items()}
    within = [(sizes[tag] >= least) & (sizes[tag] <= most) for tag, (least, most) in bounds.items() if tag in sizes]
    possible = np.all([np.ones_like(next(iter(sizes.values())), bool), *within], axis=0)
    seconds = np.broadcast_to(evaluated(models, sizes, chip, loop_type)[0], possible.shape)
    return Sized(groups, sizes, np.where(possible, seconds, np.inf), now) if np.isfinite(seconds[-1]) else None


def size_change(search: Sized, sizes: Mapping[str, int], names: Names, total: float) -> OtherChoice:
    """Other sizes as a change, where all launches together take ``total`` seconds now."""
    other = [group[0] for group in search.groups if sizes[group[0]] != search.now[group[0]]]
    text = ", ".join(f"{names.get(tag, tag)} blocks of {sizes[tag]:,} (not {search.now[tag]:,})" for tag in other)
    seconds = total - search.base + search.seconds_of(sizes)
    return OtherChoice(text, seconds=seconds, single=len(other) == 1, searched=True, sizes=sizes)


# Plans at the sizes that blocks have.


def plan_change(old: Plan, new: Plan, names: Names) -> tuple[str, dict[str, Any]]:
    """What differs between two plans of a launch, in words, and the configuration that asks for it."""
    parts, config = [], {}
    loops = {tag: one for tag, one in new.loops.items() if _words(one) != _words(old.loops.get(tag))}
    for tag, one in loops.items():
        parts.append(f"loop {names.get(tag, tag)} {_words(one)} (not {_words(old.loops.get(tag))})")
    if loops:
        config["loops"] = {names.get(tag, tag): _words(one) for tag, one in loops.items()}
    grid = [tag for tag in new.order if tag not in new.loops]
    if grid != [tag for tag in old.order if tag not in old.loops]:
        order = [names.get(tag, tag) for tag in grid]
        parts.append(f"the grid's axes in the order {', '.join(order)}")
        config["order"] = order
    before, after = dict(old.options), dict(new.options)
    for word in ("warps", "stages"):
        if before.get(word) != after.get(word):
            parts.append(f"{after[word]} {word} (not {before.get(word)})")
            config[f"num_{word}"] = after[word]
    return "; ".join(parts), config


def chosen(plan: Plan, names: Names) -> dict[str, Any]:
    """The decisions of a plan that a configuration may make otherwise."""
    found: dict[str, Any] = {"order": [names.get(tag, tag) for tag in plan.order if tag not in plan.loops]}
    if plan.loops:
        found["loops"] = {names.get(tag, tag): _words(one) for tag, one in plan.loops.items()}
    return found | {f"num_{word}": size for word, size in plan.options if word in _NEAR}


def _words(schedule: LoopSchedule | None) -> str:
    if schedule is None:
        return "as it is"
    return schedule.kind + (f" unroll {schedule.unroll}" if schedule.unroll > 1 else "")


def with_options(plan: Plan) -> Iterator[Plan]:
    """A plan of a GPU with other warps, and with other loads under way."""
    options = dict(plan.options)
    for word, near in _NEAR.items():
        now = options.get(word)
        for size in near(now) if isinstance(now, int) else ():
            yield replace(plan, options=tuple({**options, word: size}.items()))


def cheapest_change(changes: Iterable[OtherChoice]) -> OtherChoice | None:
    """The change after which least is taken, of those that can be."""
    known = [one for one in changes if one.seconds is not None and one.reason is None]
    return min(known, key=lambda one: one.seconds or 0.0, default=None)
