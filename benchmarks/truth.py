"""kopt's cost model beside published device times.

    python benchmarks/truth.py FILE.csv [--json] [--write FILE] [--hold NAME …] [--no-winners] [--legal]

Each row of the file is a kernel that others measured: the operator, the shapes, the tiles that won, milliseconds
(`benchmarks/support/truth_rows.py`). It is written in kopt's language, imported for the chip, and `cost` says what it
takes with these tiles, by the lengths of the real groups. Of each chip and operator the table has

| column | is |
|---|---|
| ``rows`` | measurements, those of one kernel with the same tiles taken together |
| ``spearman``, ``mean``, ``median`` | rank correlation and errors on the half of the shapes that is not fitted to |
| ``other mean``, ``other spearman`` | the same of all rows, with the constants of chips that nothing was measured on |
| ``first``, ``first 8`` | the share of problems whose recorded tiles the model has first, and among its first eight |
| ``legal 8`` | with ``--legal``: the same of the first eight of attention that libtpu takes in JAX's kernel |

Constants are fitted to all operators of a chip at once; those that ``--hold`` names stay as they are. ``--write`` puts
those of all rows down as a file of constants.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from support import emit
from support.truth_legal import is_taken
from support.truth_rows import Launch, Row, launch, rows, scratch_bytes

from kopt.planning.calibration import Fit, Sample, costs_of, errors, fitted, with_costs
from kopt.targets.budget import Budget
from kopt.targets.chips import CHIPS, Chip, TpuChip
from kopt.targets.costs import GPU_COSTS

#: Whose constants stand for those of a chip that nothing was measured on, and which of them: `kopt.targets.costs` has
#: the same for all such chips.
_OTHER = "v4"
_SHARES = ("mxu_share", "hbm_share", "vector_share", "host_share", "step_seconds", "store_cycles")
COLUMNS = {
    "chip": "",
    "operator": "",
    "rows": "",
    "judged": "",
    "spearman": ".4f",
    "mean": ".1%",
    "median": ".1%",
    "other spearman": ".4f",
    "other mean": ".1%",
    "problems": "",
    "first": ".0%",
    "first 8": ".0%",
    "legal 8": ".0%",
    "regret": ".1%",
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, help="the measurements")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the constants down, fitted to all rows")
    parser.add_argument("--chip", nargs="*", default=[], metavar="NAME", help="of these chips only")
    parser.add_argument("--hold", nargs="*", default=[], metavar="NAME", help="constants that are not fitted")
    parser.add_argument("--no-winners", action="store_true", help="do not rank other tiles")
    parser.add_argument("--legal", action="store_true", help="ask libtpu which tiles it takes; this takes minutes")
    options = parser.parse_args(argv)
    known = [row for row in distinct(rows(options.file)) if not options.chip or row.problem.chip in options.chip]
    found, constants = [], {}
    for name in dict.fromkeys(row.problem.chip for row in known):
        print(name, "…", file=sys.stderr, flush=True)
        mine = [row for row in known if row.problem.chip == name]
        more, fit = judged(mine, CHIPS[name], not options.no_winners, options.legal, options.hold)
        found += more
        constants[name] = entry(fit, len(mine))
    if options.write:
        options.write.write_text(json.dumps(constants, indent=2) + "\n")
    emit({"rows": found, "constants": {name: each["costs"] for name, each in constants.items()}}, options.json, COLUMNS)


def distinct(found: Iterator[Row]) -> list[Row]:
    """Measurements of one kernel with the same tiles as one, of their mean."""
    alike: dict[Any, list[Row]] = {}
    for row in found:
        alike.setdefault((row.problem, row.tiles), []).append(row)
    return [replace(some[0], seconds=float(np.mean([row.seconds for row in some]))) for some in alike.values()]


def entry(fit: Fit, count: int) -> dict[str, Any]:
    """The constants of a chip, as files have them."""
    costs = {name: float(f"{value:.4g}") for name, value in fit.fitted.items()}
    return {"source": "benchmarks/truth.py", "fit": f"{count} kernels, error {mean(fit.after):.1%}", "costs": costs}


def mean(values: np.ndarray) -> float:
    return float(np.abs(values).mean())


def judged(
    mine: Sequence[Row], chip: Chip, winners: bool, ask: bool, held: Sequence[str]
) -> tuple[list[dict[str, Any]], Fit]:
    """The rows of the table for one chip, and its constants, fitted to all measurements."""
    samples = [sample(row.launch(), row.seconds) for row in mine]
    half = halves(mine)
    fit = fitted([one for one, there in zip(samples, half, strict=True) if there], chip, held)
    trained = with_costs(chip, fit.costs)
    borrowed = with_costs(chip, borrow(chip))
    found = []
    for operator in dict.fromkeys(row.problem.operator for row in mine):
        here = np.array([row.problem.operator == operator for row in mine])
        apart = here & ~half if (here & ~half).sum() > 2 else here
        line: dict[str, Any] = {
            "chip": chip.name,
            "operator": operator,
            "rows": int(here.sum()),
            "judged": int(apart.sum()),
        }
        line.update(figures(pick(samples, apart), trained, ""))
        line.update(figures(pick(samples, here), borrowed, "other "))
        if winners and isinstance(chip, TpuChip):
            line.update(ranked([row for row in mine if row.problem.operator == operator], trained, ask))
        found.append(line)
    return found, fitted(samples, chip, held)


def sample(one: Launch, seconds: float) -> Sample:
    return Sample(lambda chip: [one.cost(chip)], seconds)


def pick(samples: Sequence[Sample], which: np.ndarray) -> list[Sample]:
    return [one for one, there in zip(samples, which, strict=True) if there]


def halves(mine: Sequence[Row]) -> np.ndarray:
    """Which measurements are fitted to: those of a random half of the shapes."""
    shapes = sorted({row.shape for row in mine})
    chosen = np.random.default_rng(0).permutation(len(shapes))[: (len(shapes) + 1) // 2]
    taken = {shapes[number] for number in chosen}
    return np.array([row.shape in taken for row in mine])


def borrow(chip: Chip) -> Any:
    """A chip's published peaks, with the other constants as if nothing had been measured on it."""
    if not isinstance(chip, TpuChip):
        return GPU_COSTS[chip.name]
    other = costs_of(CHIPS[_OTHER])
    return replace(costs_of(chip), **{name: getattr(other, name) for name in _SHARES})


def figures(samples: Sequence[Sample], chip: Chip, prefix: str) -> dict[str, float]:
    off = errors(samples, chip)
    measured = np.array([one.seconds for one in samples])
    rank = float(spearmanr((1 + off) * measured, measured)[0])  # pyright: ignore
    return {f"{prefix}spearman": rank, f"{prefix}mean": mean(off), f"{prefix}median": float(np.median(np.abs(off)))}


# Ranking.

#: How many candidates a tuning compiles.
_FIRST = 8


def ranked(mine: Sequence[Row], chip: Chip, ask: bool) -> dict[str, Any]:
    """The shares of problems whose recorded tiles the model has first, and among its first eight; its regret.

    Where recorded tiles are behind the first eight, and ``ask`` is true, libtpu is asked of those before them.
    """
    problems: dict[Any, list[Row]] = {}
    for row in mine:
        problems.setdefault(row.problem, []).append(row)
    places, legal, regrets = [], [], []
    for problem, some in problems.items():
        best = min(some, key=lambda row: row.seconds)
        tiles = dict(best.tiles)
        names = [name for name in _CHOICES[problem.operator] if name in tiles]
        recorded = tuple(tiles[name] for name in names)
        times = predicted(problem, tiles, names, chip)
        if recorded in times:
            order = sorted(times, key=lambda choice: times[choice])
            places.append(order.index(recorded))
            legal.append(legal_place(problem, names, order[: places[-1]], chip) if ask else 0)
            regrets.append(times[recorded] / times[order[0]] - 1)
        else:
            places.append(len(times))
            legal.append(len(times))
    among = {"first 8": places, **({"legal 8": legal} if ask else {})}
    return {
        "problems": len(problems),
        "first": float(np.mean(np.array(places) == 0)),
        **{name: float(np.mean(np.array(each) < _FIRST)) for name, each in among.items()},
        "regret": float(np.mean(regrets)),
    }


def legal_place(problem: Any, names: Sequence[str], before: Sequence[tuple[int, ...]], chip: TpuChip) -> int:
    """How many of the tiles ``before`` others libtpu takes, `_FIRST` at most; all of them where no more are there."""
    if problem.operator != "attention" or len(before) < _FIRST:
        return len(before)
    taken = (choice for choice in before if is_taken(problem, dict(zip(names, choice, strict=True)), chip))
    return sum(1 for _ in islice(taken, _FIRST))


#: Tiles that others could have had, by operator.
_CHOICES: dict[str, dict[str, tuple[int, ...]]] = {
    "grouped": {"tile_m": (64, 128, 256, 512, 1024), "tile_k": (), "tile_n": ()},
    "attention": {
        "block_q": (256, 512, 1024, 2048, 4096),
        "block_kv": (256, 512, 1024, 2048, 4096),
        "block_kv_compute": (128, 256, 512, 1024),
    },
}


def predicted(problem: Any, tiles: dict[str, Any], names: Sequence[str], chip: Chip) -> dict[tuple[int, ...], float]:
    """The model's seconds for all tiles that fit the VMEM which a kernel has unasked; those of one plan at once."""
    alike: dict[Any, list[tuple[int, ...]]] = {}
    for choice in product(*(options(problem, name) for name in names)):
        given = dict(zip(names, choice, strict=True))
        if problem.operator != "attention":
            alike.setdefault(given["tile_m"], []).append(choice)
        elif given["block_kv"] >= given["block_kv_compute"]:
            alike.setdefault(given["block_kv"] // given["block_kv_compute"], []).append(choice)
    found = {}
    for some in alike.values():
        columns = dict(zip(names, np.array(some).T, strict=True))
        one = launch(problem, {**tiles, **dict(zip(names, some[0], strict=True))})
        sizes = {**one.sizes, **{_TAGS[name]: column for name, column in columns.items() if name in _TAGS}}
        cost = replace(one, sizes=sizes).cost(chip)
        held = cost.vmem_bytes + scratch_bytes(problem, sizes)  # pyright: ignore
        memory, seconds = (np.broadcast_to(each, len(some)) for each in (held, cost.seconds))  # pyright: ignore
        found.update(
            (choice, float(taken))
            for choice, size, taken in zip(some, memory, seconds, strict=True)
            if size <= Budget(chip).scoped_vmem
        )
    return found


#: The block sizes that tiles are.
_TAGS = {"tile_n": "b0", "tile_k": "b2", "block_q": "b1", "block_kv": "b2", "block_kv_compute": "b3"}


def options(problem: Any, name: str) -> list[int]:
    """The sizes of a tile: powers of two that are no larger than the extent, and divisors of wide ones."""
    if problem.operator == "attention":
        extent = problem.arguments[3 if name == "block_q" else 4]
        return [size for size in _CHOICES["attention"][name] if size <= extent]
    (_, inner), (*_, columns) = problem.arguments
    if name == "tile_m":
        return [*_CHOICES["grouped"]["tile_m"]]
    extent = inner if name == "tile_k" else columns
    return sorted(
        {extent, *(extent // parts for parts in (2, 3, 4, 6, 7, 8, 14, 16, 28) if extent % (parts * 128) == 0)}
        | {size for size in (128, 256, 512, 1024, 2048) if size <= extent}
    )


if __name__ == "__main__":
    main()
