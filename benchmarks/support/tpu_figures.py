"""Figures of two sides that can be compared: kopt's own (`kopt.runtime.figures`), and such ones of kernels by hand.

Of kernels by hand libtpu's estimate is taken where it counted all trips, and else its bundles times the trips that the
caller knows; or the time for what their windows move (`support.window_traffic`), where that is more. No figure of a
side goes below the floor. What is not known is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kopt.analysis.call_loops import CountedLoop
from kopt.runtime.figures import bundle_cycles, memory_cycles, product_cycles
from kopt.targets.costs import TpuCosts
from support.tpu_rows import Row

Figure = tuple[float | None, str]


def floor(bytes: int, flops: float, chip: TpuCosts) -> dict[str, float]:
    """The cycles that the memory and the matrix unit take at the least."""
    return {"hbm": memory_cycles(bytes, chip), "mxu": product_cycles({"bf16": flops}, chip)}


def values(row: Row) -> dict[int, np.ndarray]:
    """What a row's vectors of integers hold, by their numbers: what goes evenly from 0 to ``row.numbers``.

    Without these, to the rows of the first array of floats.
    """
    specs = row.arguments
    rows = next((one.shape[0] for one in specs if one.shape and one.dtype.is_float), 1)
    end = rows if row.numbers is None else row.numbers
    return {
        number: np.linspace(0, end, one.shape[0], dtype=np.int64)
        for number, one in enumerate(specs)
        if one.dtype.is_integer and len(one.shape) == 1
    }


def reported(report: Mapping[str, Any], least: float) -> Figure:
    """The figure of a report, and what it is: ``libtpu``, ``bundles``, ``bytes``, ``floor``, or why there is none."""
    found = report.get("cycles")
    if found is None:
        return None, _refusal(report) or report.get("cycles_reason") or "unknown"
    by = "bytes" if report["bound"] == "HBM" else "bundles" if report["libtpu_cycles"] is None else "libtpu"
    return _no_less(found, by, least)


def by_hand(facts: Mapping[str, Any], trips: Mapping[int, int], moving: float, least: float) -> Figure:
    """The figure of a module by libtpu's facts, and how often loops of its one kernel run in all, by their depth.

    ``moving`` are the cycles that what it moves takes at the least.
    """
    if refusal := _refusal(facts):
        return None, refusal
    if facts["hlo_uncounted"]:
        return None, "uncounted HLO"
    kernels = facts["kernels"]
    known, by = [kernel.get("libtpu_cycles") for kernel in kernels], "libtpu"
    if None in known and len(kernels) == 1 and trips:
        counted = [CountedLoop(depth, times) for depth, times in trips.items()]
        known, by = [bundle_cycles(kernels[0]["loops"], counted)], "bundles"
    if None in known:
        return None, "computed trips"
    found = sum(known) + facts["hlo_cycles"]
    return _no_less(*((moving, "bytes") if moving > found else (found, by)), least)


def _refusal(facts: Mapping[str, Any]) -> str | None:
    return None if facts["legal"] else "refused" if facts["legal"] is False else "time limit"


def _no_less(found: float, by: str, least: float) -> Figure:
    return (least, "floor") if found <= least else (found, by)
