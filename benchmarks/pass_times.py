"""How long each pass of a pipeline takes, over all examples: the median over these, and what planning takes in all.

    python benchmarks/pass_times.py [--json] [--repeats N] [--target NAME] [--size SIZE] [NAME …]

A row is a pass: the median of its milliseconds over the examples, the most, and its share of all passes. Of each
example the least processor time of the repeats counts. ``planning_ms`` is the median of what `plan-walks`,
`plan-values` and `plan-accesses` take together. No accelerator is needed, and no chip's compiler.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from time import process_time
from typing import Any

from support import emit, median
from support.imported import imported

import kopt
from examples.registry import EXAMPLES, Example
from kopt.context import make_context
from kopt.pass_manager import Instrumentation, run
from kopt.passes.pipelines import pipeline

TARGETS = ("pallas:v6e", "triton:sm90")
SIZES = ("tiny", "ragged", "real")
PLANNING = ("plan-walks", "plan-values", "plan-accesses")
COLUMNS = {"pass": "", "median_ms": ".2f", "most_ms": ".2f", "share": ".1%"}


class Timer(Instrumentation):
    """The milliseconds of each pass; those that run twice are added up."""

    def __init__(self):
        self.times: Counter[str] = Counter()

    def before(self, pass_: Any, module: Any) -> None:
        self._start = process_time()

    def after(self, pass_: Any, module: Any) -> None:
        self.times[pass_.name] += 1e3 * (process_time() - self._start)


def times(example: Example, size: str, target: str, repeats: int) -> dict[str, float] | None:
    """The least milliseconds of each pass, or None where the kernel is refused."""
    try:
        module, _, named, config = imported(example, size, target)
    except kopt.KoptError:
        return None
    rounds: list[Counter[str]] = []
    for _ in range(repeats + 1):
        timer = Timer()
        run(module.clone(), make_context(), pipeline(named, config), instrumentation=[timer])
        rounds.append(timer.times)
    return {name: min(one[name] for one in rounds[1:]) for name in rounds[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--repeats", type=int, default=3, help="timed repeats of each example (default 3)")
    parser.add_argument("--target", choices=TARGETS, default=TARGETS[0])
    parser.add_argument("--size", choices=SIZES, default="ragged")
    options = parser.parse_args()
    examples = [example for example in EXAMPLES if not options.names or example.name in options.names]
    known = [one for each in examples if (one := times(each, options.size, options.target, options.repeats))]
    found: defaultdict[str, list[float]] = defaultdict(list)
    for one in known:
        for name, milliseconds in one.items():
            found[name].append(milliseconds)
    total = sum(map(sum, found.values()))
    rows = [
        {"pass": name, "median_ms": median(all_of), "most_ms": max(all_of), "share": sum(all_of) / total}
        for name, all_of in sorted(found.items(), key=lambda item: -sum(item[1]))
    ]
    planning = median([sum(one.get(name, 0) for name in PLANNING) for one in known])
    emit({"rows": rows, "planning_ms": planning}, options.json, COLUMNS)


if __name__ == "__main__":
    main()
