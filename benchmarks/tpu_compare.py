"""kopt's kernels for a TPU beside the best ones by hand, by the no-hardware compiler: one run, one table.

    python benchmarks/tpu_compare.py [--chip NAME] [--json] [NAME …]

A row is a kernel of the examples at the shapes of a model, with what kopt chooses where no config is given. References
are kernels by hand (``benchmarks/hand/pallas``), those that come with JAX, and XLA's own code of the same expression;
the best of them stands in the table, and all of them below it. libtpu compiles every one for the chip, with all arrays
in HBM (`support.hbm_arrays`); nothing is executed. A row is printed as soon as it is known, on stderr beside the table
that comes at the end.

``kopt`` and ``reference`` are cycles of the kernels and of the operations around them: kopt's as its reports say them,
others libtpu's estimate. They are no less than ``floor``, what the memory takes for the arguments and results, or the
matrix unit for the products. ``by`` says which it is: ``libtpu``, ``bundles`` (times trips that libtpu does not know),
``bytes`` (that a side moves), or ``floor``. A figure that is not known is empty, and ``by`` says why: trips that
are computed, operations of XLA without an estimate, a refusal. ``ratio`` is kopt's over the reference's, and
``least_ratio`` the floor's over it: no kernel has a lower ratio. Below the table are the medians of both, over the rows
that have a ratio. ``bounds`` is the floor's side where kopt is within a tenth of it, else what its report says, in
brackets. ``vmem`` is in MiB: what kopt predicts, and what libtpu takes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

from support import ROOT, cell, median, print_table, ratio
from support.hbm_arrays import keep_arrays_in_hbm
from support.tpu_figures import by_hand, floor, reported, values
from support.tpu_rows import ROWS, Row
from support.window_traffic import windows_moved

import kopt
from kopt.analysis.vmem import vmem_bytes
from kopt.dialects.pallas import CallOp
from kopt.passes.pipelines import pipeline
from kopt.runtime.figures import memory_cycles
from kopt.runtime.tpu_report import compile_report
from kopt.runtime.worker import WorkerTimeout
from kopt.targets.chips import TPU_CHIPS, TpuChip
from kopt.targets.costs import tpu_costs
from kopt.walk import walk

MiB = 2**20
NEAR = 1.1
COLUMNS = {
    "row": "",
    "reference_is": "",
    "kopt": ",.0f",
    "by": "",
    "reference": ",.0f",
    "reference_by": "",
    "ratio": ".2f",
    "least_ratio": ".2f",
    "floor": ",.0f",
    "bounds": "",
    "vmem": "",
    "hlo_ops": "",
    "blocks": "",
    "kopt_s": ".1f",
    "libtpu_s": ".1f",
}
OTHERS = {"row": "", "reference": "", "cycles": ",.0f", "by": "", "ratio": ".2f", "vmem": ".1f", "hlo_ops": ""}


def ours(row: Row, chip: TpuChip, least: float) -> dict[str, Any]:
    """What kopt makes of a row's kernel, and what libtpu says of it."""
    start = perf_counter()
    try:
        low = row.function.lower(*row.specs, *row.constants, target=f"pallas:{chip.name}")
    except kopt.KoptError as error:
        return {"cycles": None, "by": str(error).splitlines()[0]}
    seconds = perf_counter() - start
    module = kopt.run_pipeline(low.module.clone(), pipeline(low.target, low.config))
    held = {low.signature.parameters[number].name: value for number, value in values(row).items()}
    facts = within_limit(lambda: low.report(values=held, profile=True))
    found, by = reported(facts, least)
    bound = facts.get("bound")
    return {
        "cycles": found,
        "by": by,
        **said(facts),
        "libtpu_vmem": facts.get("vmem_bytes"),
        "kopt_vmem": max(vmem_bytes(call, chip) for call in walk(module, CallOp)),
        "blocks": list(low.config.block_sizes or ()),
        "lower_s": seconds,
        "bound": bound and f"({bound})",
    }


def within_limit(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What libtpu says of a module; nothing where that takes longer than ``KOPT_TIME_LIMIT`` seconds."""
    try:
        return ask()
    except WorkerTimeout as error:
        return {"legal": None, "reason": str(error)}


def reference(row: Row, name: str, chip: TpuChip, least: float) -> dict[str, Any]:
    """What libtpu says of one reference, which is compiled as kopt's module is."""
    module, function = name.split(":")
    folder = str(ROOT / "benchmarks")
    source = f"import sys\nsys.path.insert(0, {folder!r})\nfrom hand.pallas.{module} import {function} as reference\n"
    trips = row.trips.get(name) or {}
    if name in row.trips:  # libtpu's profile of it says nothing, and may never end: only its bundles are asked for
        source += "def _(grid, run):\n    run(grid=grid)\n"
    facts = within_limit(lambda: compile_report(source, "reference", row.arguments, chip, ()))
    found, by = by_hand(facts, trips, memory_cycles(moved(row, name, chip), tpu_costs(chip)), least)
    if found is not None and module != "xla" and not facts["kernels"]:
        found, by = None, "kernel not found"
    return {"reference": name, "cycles": found, "by": by, **said(facts)}


def moved(row: Row, name: str, chip: TpuChip) -> int:
    """The least bytes that a reference's own kernels move; XLA's operations are not counted."""
    module, function = name.split(":")
    kernel = getattr(import_module(f"hand.pallas.{module}"), function)
    return windows_moved(kernel, row.arguments, chip, values(row))


def said(facts: dict[str, Any]) -> dict[str, Any]:
    """The other facts of a compiled module."""
    known = [kernel["vmem_bytes"] for kernel in facts.get("kernels", ()) if kernel["vmem_bytes"] is not None]
    return {
        "libtpu_vmem": max(known, default=None),
        "hlo_ops": facts.get("hlo_ops"),
        "hlo_cycles": facts.get("hlo_cycles"),
        "compile_s": facts.get("compile_s"),
        "reason": facts.get("reason"),
    }


def compare(row: Row, chip: TpuChip) -> dict[str, Any]:
    """Everything of one row."""
    sides = floor(row.bytes, row.flops * passes(row, chip), tpu_costs(chip))
    least = max(sides.values())
    kopts = ours(row, chip, least)
    references = [reference(row, name, chip, least) for name in row.references]
    known = [one for one in references if one["cycles"] is not None]
    best = min(known, key=lambda one: one["cycles"], default=None)
    near = kopts["cycles"] is not None and kopts["cycles"] <= NEAR * least
    for one in references:
        one["ratio"] = ratio(kopts["cycles"], one["cycles"])
    return {
        "row": row.name,
        "chip": chip.name,
        "floor": least,
        "floor_of": sides,
        "bounds": max(sides, key=lambda side: sides[side]) if near else kopts.get("bound"),
        "kopt": kopts,
        "best": best and best["reference"],
        "ratio": best and best["ratio"],
        "least_ratio": best and ratio(least, best["cycles"]),
        "references": references,
    }


def passes(row: Row, chip: TpuChip) -> float:
    """How often the matrix unit takes a product of the first argument's dtype, bf16 once."""
    return tpu_costs(chip).passes.get(row.arguments[0].dtype.spec, 1.0)


def line(found: dict[str, Any]) -> dict[str, Any]:
    """A row of the first table."""
    kopts = found["kopt"]
    best = next((one for one in found["references"] if one["reference"] == found["best"]), {})
    return {
        "row": found["row"],
        "reference_is": found["best"],
        "kopt": kopts["cycles"],
        "by": kopts["by"],
        "reference": best.get("cycles"),
        "reference_by": best.get("by"),
        "ratio": found["ratio"],
        "least_ratio": found["least_ratio"],
        "floor": found["floor"],
        "bounds": found["bounds"],
        "vmem": f"{mebibytes(kopts.get('kopt_vmem'))}/{mebibytes(kopts.get('libtpu_vmem'))}",
        "hlo_ops": len(kopts.get("hlo_ops") or ()),
        "blocks": "×".join(map(str, kopts.get("blocks", ()))) or None,
        "kopt_s": kopts.get("lower_s"),
        "libtpu_s": kopts.get("compile_s"),
    }


def summary(found: dict[str, Any]) -> str:
    """The row in one line, for whoever waits for the table."""
    text = {key: cell(value, COLUMNS[key]) for key, value in line(found).items()}
    return "{row}: {ratio} = {kopt} ({by}) / {reference} ({reference_is}, {reference_by})".format_map(text)


def medians(rows: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """The median of the ratios, and of the least ones that floors allow, of the rows that have a ratio."""
    known = [row for row in rows if row["ratio"] is not None]
    return {key: median([row[key] for row in known]) for key in ("ratio", "least_ratio")}


def mebibytes(size: int | None) -> str:
    """A size for the table."""
    return "-" if size is None else f"{size / MiB:.1f}"


def others(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of the second table."""
    return [
        {
            **one,
            "row": found["row"],
            "vmem": ratio(one["libtpu_vmem"], MiB),
            "hlo_ops": len(one["hlo_ops"] or ()),
        }
        for one in found["references"]
    ]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [row.name for row in ROWS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"rows (default: all): {' '.join(names)}")
    parser.add_argument("--chip", default="v6e", choices=sorted(TPU_CHIPS))
    parser.add_argument("--json", action="store_true", help="print JSON, a line a row, and one of the medians")
    options = parser.parse_args(argv)
    if unknown := set(options.names) - set(names):
        parser.error(f"no such row: {' '.join(sorted(unknown))}")
    keep_arrays_in_hbm()
    found = []
    for row in ROWS:
        if not options.names or row.name in options.names:
            found.append(compare(row, TPU_CHIPS[options.chip]))
            print(summary(found[-1]), file=sys.stderr, flush=True)
            if options.json:
                print(json.dumps(found[-1]), flush=True)
    middle = {f"median_{key}": value for key, value in medians(found).items()}
    if options.json:
        print(json.dumps(middle), flush=True)
        return
    print_table(list(map(line, found)), COLUMNS)
    print("  ".join(f"{key}: {cell(value, '.3f')}" for key, value in middle.items()))
    print()
    print_table([one for each in found for one in others(each)], OTHERS)


if __name__ == "__main__":
    main()
