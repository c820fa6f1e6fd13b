"""The cheapest points of a space by the cost model: all of a small one are looked at, of a large one what Optuna asks.

Optuna's sampler is a genetic one: it asks for a generation at once, which the model ranks in one go. The same seed
asks for the same points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kopt.errors import ConfigError
from kopt.runtime.extras import install, is_installed
from kopt.tuning.knobs import Points, Space, count
from kopt.tuning.launches import Ranked

#: Points that are ranked at once.
_BATCH = 8192
#: Points of a generation.
_GENERATION = 128

Rank = Callable[[Points], Ranked]


@dataclass
class Found:
    """What a search found: points, the cheapest first, with seconds; how many it looked at, and what became of them."""

    points: list[dict[str, Any]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    searched: int = 0
    too_large: int = 0
    impossible: int = 0
    unknown: int = 0


def search(
    space: Space,
    rank: Rank,
    limit: int,
    seed: int,
    starts: Sequence[Mapping[str, Any]] = (),
    most: int = 256,
    asked: int = 768,
    said: Callable[[int], None] = lambda number: None,
) -> Found:
    """The ``most`` cheapest points of a space: all of up to ``limit`` are looked at, of a larger one ``asked``.

    ``starts`` are points to begin with. ``said`` is told how many were looked at. A `KeyboardInterrupt` ends it with
    what it has.
    """
    tables: list[tuple[Points, Ranked]] = []
    try:
        for points in _all(space) if space.size <= limit else _asked(space, asked, seed, starts, tables):
            tables.append((points, rank(points)))
            said(sum(count(table[0]) for table in tables))
    except KeyboardInterrupt:
        if not tables:
            raise
    return _found(space, tables, most)


def _all(space: Space) -> Iterator[Points]:
    points = space.all()
    for first in range(0, space.size, _BATCH):
        yield {name: column[first : first + _BATCH] for name, column in points.items()}


def _asked(
    space: Space,
    asked: int,
    seed: int,
    starts: Sequence[Mapping[str, Any]],
    tables: list[tuple[Points, Ranked]],
) -> Iterator[Points]:
    """Generations that Optuna asks for, told what the one before takes."""
    if not is_installed("optuna"):
        raise ConfigError(
            f"this kernel has {space.size} configurations, and searching them needs optuna", notes=[install("tune")]
        )
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.NSGAIISampler(population_size=_GENERATION, seed=seed)
    study = optuna.create_study(sampler=sampler)
    within = optuna.distributions.IntDistribution
    choices: dict[str, Any] = {knob.name: within(0, len(knob.values) - 1) for knob in space.knobs}
    for start in starts:
        study.enqueue_trial(dict(start))
    for _ in range(0, asked, _GENERATION):
        trials = [study.ask(choices) for _ in range(_GENERATION)]
        yield space.points([[trial.params[knob.name] for knob in space.knobs] for trial in trials])
        # What does not fit is told as worse than all that does, the worse the more memory it takes.
        told = np.where(np.isfinite(tables[-1][1].counted), tables[-1][1].counted, 1e9)
        for trial, value in zip(trials, told, strict=True):
            study.tell(trial, float(value))


def _found(space: Space, tables: Sequence[tuple[Points, Ranked]], most: int) -> Found:
    points = {knob.name: np.concatenate([table[0][knob.name] for table in tables]) for knob in space.knobs}
    ranks = [table[1] for table in tables]
    seconds, counted, memory, possible = (
        np.concatenate([getattr(rank, name) for rank in ranks]) for name in ("seconds", "counted", "memory", "possible")
    )
    order, seen = [], set[tuple[int, ...]]()
    # Costs that differ by less than one in a thousand are equal: then less memory, then smaller values.
    classes = np.round(np.log(np.where(np.isfinite(counted), np.maximum(counted, 1e-12), 1.0)) * 1000)
    for number in np.lexsort((memory, np.where(np.isfinite(counted), classes, np.inf))):
        key = tuple(int(column[number]) for column in points.values())
        if key not in seen:
            seen.add(key)
            order.append(int(number))
    best = [number for number in order if np.isfinite(counted[number])]
    unknown = [n for n in order if possible[n] and not np.isfinite(counted[n]) and not np.isfinite(memory[n])]
    impossible = [number for number in order if not possible[number]]
    return Found(
        [space.at(points, number) for number in best[:most]],
        [float(seconds[number]) for number in best[:most]],
        len(order),
        len(order) - len(best) - len(unknown) - len(impossible),
        len(impossible),
        len(unknown),
    )
