"""Gathers of lanes that follow one another from a computed element on for each place, or every n-th of such. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from kopt.analysis.values.form import GROUP, element_bits
from kopt.analysis.values.lane_runs import LaneRun, along_last, lane_run, single
from kopt.dialects.tile import LoadOp, is_gather
from kopt.ir.index_expr import IndexExpr
from kopt.ir.sums import SumAnalysis
from kopt.targets.tiling import LANES


@dataclass(frozen=True)
class Runs:
    """All lanes of a place are among the ``span`` from the ``run``'s first element on, and ``offset`` lanes further.

    The first one is at a multiple of ``fine``, which first elements are known to be apart, so that the lanes further
    that other loads take come with the same rows. ``units`` are the units of memory that hold them, of a flat array;
    of others None, and whole rows come: ``forms`` are the indices of these, None for one that is no tile.
    """

    run: LaneRun
    fine: int
    offset: int
    span: int
    units: int | None = None
    forms: tuple[IndexExpr | None, ...] = ()


def runs(load: LoadOp, sums: SumAnalysis) -> Runs | None:
    """The runs that a gather takes; None where no lanes follow one another, or rows of memory would be no fewer."""
    *others, last = load.entries
    if not is_gather(last) or element_bits(load.memory) > 32:
        return None
    run = lane_run(last, sums)
    if not others:
        return _of_flat(load, _runs(load, run or single(last, sums)))
    if run is None or run.size == 1:
        return None
    gathers = [entry if is_gather(entry) else None for entry in others]
    counted = [None if entry is None else along_last(entry, sums) for entry in gathers]
    if any(gathers) and None in _from_first(gathers):
        return None
    forms = [None if found is None or found.step != 0 else found.start for found in counted]
    if not run.first.along and not any(form.along for form in forms if form is not None):
        return None
    known = all(form is not None or entry is None for form, entry in zip(forms, gathers, strict=True))
    return replace(_runs(load, run), forms=tuple(forms)) if known else None


def unit_of(load: LoadOp) -> int:
    """Elements of flat memory that DMAs move one by one."""
    return GROUP.get(element_bits(load.memory), 1) * LANES


def _runs(load: LoadOp, run: LaneRun) -> Runs:
    fine = math.gcd(run.pitch, unit_of(load))
    offset = run.const % (run.step if fine % run.step else fine)
    run = LaneRun(run.first - offset, run.step, run.size)
    return Runs(run, fine, offset, run.step * (run.size + offset // run.step))


def _of_flat(load: LoadOp, found: Runs) -> Runs | None:
    """Of an array of one dimension: where units are fewer than the lanes, or serve several loads."""
    run, unit = found.run, unit_of(load)
    fine = math.gcd(run.first.divisor, unit)
    count = -(-(unit - fine + found.span) // unit)
    if not run.first.along or count >= run.size and not (count == 1 < fine):
        return None
    return replace(found, fine=fine, units=count)


def _from_first(gathers: Sequence[SSAValue | None]) -> Sequence[SSAValue | None]:
    """The entries behind which the gathered places' dimensions stand."""
    return gathers[next(n for n, entry in enumerate(gathers) if entry is not None) :]
