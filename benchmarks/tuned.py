"""What defaults take beside what a full search finds, of every example and several chips, by kopt's cost model.

    python benchmarks/tuned.py [--json FILE] [--chip NAME …] [--effort E] [--size S] [--rows] [--bundles] [NAME …]

A row is an example on a chip: the default's configuration and milliseconds, the best's, and what is lost. With
``--rows`` they are the rows of `tpu_compare.py`, at their sizes. Nothing is compiled, and no accelerator is needed.

With ``--bundles`` libtpu compiles both for a TPU where they differ, and a row has their cycles, and what is lost by
these: its bundles as often as they run (`bundles.py`), or the model's bytes at the bandwidth that is had, where these
take longer; and what the host does around kernels, by the model. Rows that lose more than 5 %, by the model or so, are
exit status 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from bundles import bundles_of, moved_cycles
from support import ROOT  # noqa: F401 - puts the checkout on the path
from support.tpu_rows import ROWS

import kopt
from examples.registry import DTYPES, EXAMPLES
from kopt.planned import planned_launches
from kopt.planning.assumed import assumed_lengths
from kopt.planning.cost import cost
from kopt.specs import spec_of
from kopt.targets.chips import TPU_CHIPS, TpuChip
from kopt.targets.costs import tpu_costs
from kopt.targets.target import parse_target
from kopt.tuning.kernel_subject import KernelSubject
from kopt.tuning.tables import aligned, config_text
from kopt.tuning.tuner import EFFORTS, Tuner

CHIPS = ("pallas:v6e", "pallas:tpu7x", "pallas:v5e", "triton:sm90", "triton:gfx942")
Row = dict[str, Any]
#: What defaults may lose.
LOSS = 0.05


class NotCompiled(Executor):
    """Every candidate is legal: the model alone compares them."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A result that is there."""
        future: Future[Any] = Future()
        future.set_result({"legal": True, "reason": None})
        return future


def calls(args: argparse.Namespace) -> dict[str, tuple[kopt.Kernel, tuple[Any, ...]]]:
    """The kernels to look at, each with its arguments, by name."""
    if args.rows:
        found = {row.name: (row.function, (*row.arguments, *row.constants)) for row in ROWS}
    else:
        found = {one.name: (one.kernel, tuple(map(_spec, one.unfilled(args.size, DTYPES["bf16"])))) for one in EXAMPLES}
    if unknown := {*args.names} - found.keys():
        raise SystemExit(f"no such row: {', '.join(sorted(unknown))}")
    return {name: found[name] for name in args.names or found}


def row(
    name: str, kernel: kopt.Kernel, arguments: tuple[Any, ...], chip: str, effort: str, bundles: bool = False
) -> Row:
    """One kernel on one chip."""
    found: Row = {"example": name, "chip": chip}
    target = parse_target(chip)
    assert target.chip is not None
    try:
        subject = KernelSubject(kernel, kernel._bind(arguments, {}), target)
        result = Tuner(subject, target, target.chip, EFFORTS[effort], pool=NotCompiled()).run(effort)
    except kopt.KoptError as error:
        return {**found, "refusal": str(error).splitlines()[0]}
    best, default = result.best, result.default
    if best is None or default is None or best.predicted_ms is None or default.predicted_ms is None:
        return {**found, "refusal": "the model cannot tell what it takes"}
    least = min(one.predicted_ms for one in result.candidates if one.legal and one.predicted_ms is not None)
    cheapest = next(one for one in result.candidates if one.legal and one.predicted_ms == least)
    known = {
        **found,
        "default": default.config,
        "default_ms": default.predicted_ms,
        "best": cheapest.config,
        "best_ms": least,
        "loss": default.predicted_ms / least - 1,
        "searched": result.counts["searched"],
    }
    return {**known, **by_bundles(kernel, arguments, chip, default.config, cheapest.config)} if bundles else known


def by_bundles(kernel: kopt.Kernel, arguments: tuple[Any, ...], chip: str, *configs: Mapping[str, Any]) -> Row:
    """The cycles of the default and of the best, and what is lost by these; None where they are not known."""
    lowered = [kernel.lower(*arguments, target=chip, config=dict(config)) for config in configs]
    if lowered[0].source == lowered[1].source:
        return {"cycles_loss": 0.0}
    default, best = (cycles_of(low, TPU_CHIPS[chip.partition(":")[2]]) for low in lowered)
    loss = default / best - 1 if default and best else None
    return {"default_cycles": default, "best_cycles": best, "cycles_loss": loss}


def cycles_of(low: kopt.Lowered, chip: TpuChip) -> float | None:
    """The cycles of a module's launches, one after the other; None where libtpu's bundles of one are not known."""
    costs, total = tpu_costs(chip), 0.0
    for (_, bundles, _), (model, plan) in zip(bundles_of(low, chip), planned_launches(low), strict=True):
        found = cost(model, {}, plan, chip, assumed_lengths(model))
        if bundles is None or found.host_seconds is None:
            return None
        total += max(bundles, moved_cycles(found, chip, costs.hbm_share)) + float(found.host_seconds) * costs.clock_hz
    return total


def _spec(value: Any) -> Any:
    """A tensor without its elements, but for integers, whose values an import may read."""
    if not hasattr(value, "dtype") or not getattr(value, "shape", ()) or not value.dtype.is_floating_point:
        return value
    return spec_of(value)


def rows(args: argparse.Namespace) -> Iterator[Row]:
    """All rows, each said when it is there."""
    for name, (kernel, arguments) in calls(args).items():
        for chip in args.chip or CHIPS:
            found = row(name, kernel, arguments, chip, args.effort, args.bundles and chip.startswith("pallas:"))
            lost = found.get("refusal") or ", ".join(losses(found))
            print(f"{name} {chip}: {lost}", file=sys.stderr, flush=True)
            yield found


def losses(found: Row) -> list[str]:
    """What a row loses, by the model and by bundles, as text."""
    known = (found[key] for key in ("loss", "cycles_loss") if key in found)
    return ["not known" if loss is None else f"{100 * loss:.1f} %" for loss in known]


def table(found: list[Row]) -> str:
    """The rows as text."""
    lines = [["example", "chip", "default", "ms", "best", "ms", "lost", "by bundles"]]
    for one in found:
        if "refusal" in one:
            lines.append([one["example"], one["chip"], one["refusal"][:80]])
            continue
        texts = [text for key in ("default", "best") for text in (config_text(one[key]), f"{one[f'{key}_ms']:.4g}")]
        lines.append([one["example"], one["chip"], *texts, *losses(one)])
    columns = max(map(len, lines[1:]), default=0)
    lines = [(line + [""] * columns)[:columns] for line in lines]
    return "\n".join(aligned(lines))


def main() -> int:
    """Prints the table; 1 where a default loses more than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--chip", action="append", metavar="NAME", help=f"default: {', '.join(CHIPS)}")
    parser.add_argument("--effort", default="full", choices=["quick", "full"])
    parser.add_argument("--size", default="real")
    parser.add_argument("--rows", action="store_true", help="of tpu_compare.py, in place of the examples")
    parser.add_argument("--bundles", action="store_true", help="compile for TPUs, and compare libtpu's bundles too")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    found = list(rows(args))
    print(table(found))
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    lost = [one for one in found if max(one.get("loss", 0), one.get("cycles_loss") or 0) > LOSS]
    known = [one for one in found if "loss" in one]
    print(f"{len(known)} rows, of which {len(lost)} lose more than {100 * LOSS:.0f} %")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
