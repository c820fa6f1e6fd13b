"""The compute cycles of kopt's model beside libtpu's bundles, for launches of the examples on four chips.

    python benchmarks/bundles.py [--chip NAME …] [--dtype NAME] [--json] [NAME …]

A row is a launch at the sizes of models, with what kopt chooses. ``model`` are the cycles that `kopt.planning.cost`
gives its plan on a chip whose memory has any bandwidth and whose steps take nothing; ``bundles`` are libtpu's, times
how often each loop runs. libtpu compiles every module for the chip, without its profile; nothing is executed.
``bounds`` is what the model says of the launch on the chip as it is: errors count where that is compute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from support import emit, median
from support.shapes import WIDE, arguments, subjects

import kopt
from examples.registry import DTYPES, EXAMPLES, Example
from kopt.known_figures import SourceFigures, known_module
from kopt.passes.pipelines import before_models, pipeline
from kopt.planned import planned_launches
from kopt.planning.cost import cost
from kopt.planning.items import Cost
from kopt.runtime.figures import bundle_cycles
from kopt.runtime.tpu_report import compile_report
from kopt.specs import spec_of
from kopt.targets.chips import TPU_CHIPS, TpuChip
from kopt.targets.costs import tpu_costs

#: Examples of one launch each, whose time is that of products, of the vector unit, or of both.
NAMES = (
    *("matmul", "matmul_4096", "matmul_epilogue", "bmm", "attention", "causal_attention", "softmax", "layer_norm"),
    *("rms_norm", "cross_entropy_rows", "geglu", "swiglu", "dropout", "rotary", "fp8_matmul", "exp"),
)
CHIPS = ("v6e", "v5e", "v5p", "tpu7x")
#: What bundles know nothing of: throttling, units that wait, and stores that come late.
_AS_COMPILED = {"mxu_share": 1.0, "vector_share": 1.0, "store_cycles": 0.0}
COLUMNS = {"example": "", "chip": "", "launch": "", "model": ",.0f", "bundles": ",.0f", "error": "+.1%", "bounds": ""}


def modelled(low: kopt.Lowered, chip: TpuChip) -> Iterator[tuple[float, Cost]]:
    """The compute cycles of each launch of a module by the model, and its cost on the chip as it is."""
    costs = tpu_costs(chip)
    alone = replace(costs, bytes_per_second=float("inf"), step_seconds=0.0, **_AS_COMPILED)
    for model, plan in planned_launches(low):
        plan = replace(plan, views={})
        found, whole = (cost(model, {}, plan, one) for one in (replace(chip, costs=alone), chip))
        seconds = float("nan") if found.seconds is None else float(found.seconds)
        yield seconds * costs.clock_hz, whole


def moved_cycles(found: Cost, chip: TpuChip, share: float = 1.0) -> float:
    """The cycles in which a launch's bytes move at a share of the published bandwidth; 0 where they are not known."""
    costs = tpu_costs(chip)
    moved = 0 if found.bytes_in is None or found.bytes_out is None else float(found.bytes_in + found.bytes_out)
    return moved / (share * costs.bytes_per_second) * costs.clock_hz


def bundles_of(low: kopt.Lowered, chip: TpuChip) -> Iterator[tuple[str, float | None, str | None]]:
    """Of each launch of a module its name and the cycles of libtpu's bundles, or None and why they are not known."""
    source = SourceFigures(low.module, low.entry, before_models(low.config), chip, {})
    known = known_module(low.module, low.entry, pipeline(low.target, low.config), chip, {}, source)
    specs = [*low.signature.specs, *(spec_of(value) for value in low.hidden)]
    facts = compile_report(low.source, low.function, specs, chip, (), profile=False)
    found = {kernel["kernel"].rpartition(".")[0]: kernel for kernel in facts.get("kernels", ())}
    for kernel in known.kernels:
        loops = found.get(kernel.name, {}).get("loops")
        cycles = bundle_cycles(loops, kernel.loops) if loops and kernel.loops else None
        reason = None if cycles else facts.get("reason") or kernel.reason or "libtpu made other loops of it"
        yield kernel.name, cycles and cycles * kernel.share, reason


def launches(example: Example, chip: TpuChip, dtype: str) -> Iterator[dict[str, Any]]:
    """The rows of an example; of one that is refused a row with the reason."""
    row = {"example": example.name, "chip": chip.name}
    try:
        low = example.kernel.lower(*arguments(example, DTYPES[dtype]), target=f"pallas:{chip.name}")
    except kopt.KoptError as error:
        yield {**row, "reason": str(error).splitlines()[0]}
        return
    for (name, bundles, reason), (cycles, whole) in zip(bundles_of(low, chip), modelled(low, chip), strict=True):
        error = cycles / bundles - 1 if bundles else None
        bounds = "compute" if max(cycles, bundles or 0) > moved_cycles(whole, chip) else "HBM"
        yield {
            **row,
            "launch": name,
            "model": cycles,
            "bundles": bundles,
            "error": error,
            "bounds": bounds,
            "reason": reason,
        }


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The median error, of all and by chip, where compute bounds."""
    known = [row for row in rows if row.get("error") is not None]
    bound = [row for row in known if row["bounds"] == "compute"]
    chips = list(dict.fromkeys(row["chip"] for row in bound))
    return {
        "launches": len(known),
        "compute bounds": len(bound),
        "median error": median([abs(row["error"]) for row in bound]),
        **{
            f"median error, {chip}": median([abs(row["error"]) for row in bound if row["chip"] == chip])
            for chip in chips
        },
        "without bundles": [f"{row['example']} on {row['chip']}: {row['reason']}" for row in rows if row.get("reason")],
    }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [*(example.name for example in EXAMPLES), *WIDE]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"examples (default: {' '.join(NAMES)})")
    parser.add_argument("--chip", nargs="*", default=CHIPS, choices=sorted(TPU_CHIPS), metavar="NAME")
    parser.add_argument("--dtype", default="bf16", choices=sorted(DTYPES))
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(argv)
    if unknown := set(options.names) - set(names):
        parser.error(f"no such example: {' '.join(sorted(unknown))}")
    rows = []
    for chip in options.chip:
        for example in subjects(options.names or NAMES):
            print(example.name, chip, "…", file=sys.stderr, flush=True)
            rows += launches(example, TPU_CHIPS[chip], options.dtype)
    emit({"rows": [row for row in rows if "launch" in row], **summary(rows)}, options.json, COLUMNS)


if __name__ == "__main__":
    main()
