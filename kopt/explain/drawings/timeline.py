"""The first and last steps of a pipeline: copies, matrix unit, vector unit, and in red what nothing hides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from kopt.explain.drawings import svg
from kopt.explain.drawings.amounts import count, seconds

#: Steps that are drawn: the first, and the last where there are more.
_FIRST, _LAST = 7, 2
#: Steps that are gone through one by one.
_COUNTED = 4096
_WIDTH, _LEFT, _TOP, _ROW, _BAR = 900.0, 66.0, 26.0, 22.0, 15.0
_GAP = 26.0
_ROWS = ("step", "DMA in", "MXU", "VPU", "DMA out", "waits")
_MEANING = (("dma", "DMA"), ("mxu", "matrix unit"), ("vpu", "vector unit"), ("wait", "nothing hides it"))


@dataclass(frozen=True)
class DrawnStep:
    """One step: its number, the axis that turns after it, and its seconds; ``took`` in all."""

    number: int
    axis: str | None
    compute: float
    mxu: float
    vpu: float
    comes: float
    leaves: float
    took: float

    @property
    def waits(self) -> float:
        """What copies take beyond what is computed beside them."""
        return max(0.0, self.comes + self.leaves - self.compute)


def steps(timeline: Mapping[str, Any]) -> tuple[list[DrawnStep], list[DrawnStep], int]:
    """The steps to draw, the first ones and the last ones, and how many there are."""
    trips = [max(1, round(number)) for _, number in timeline["axes"]]
    total = prod(trips)
    if total <= _FIRST + _LAST:
        return [*_some(timeline, trips, range(total))], [], total
    first, last = range(_FIRST), range(total - _LAST, total)
    return [*_some(timeline, trips, first)], [*_some(timeline, trips, last)], total


def _some(timeline: Mapping[str, Any], trips: Sequence[int], numbers: Sequence[int]) -> Iterator[DrawnStep]:
    classes = {one["axis"]: one for one in timeline["classes"]}
    for number in numbers:
        axis, before = _turning(timeline, trips, number), _turning(timeline, trips, number - 1)
        found = classes[axis]
        leaves = classes[before]["leaves"] if number > 0 else 0.0
        took = max(found["compute"], found["comes"] + leaves) + timeline["overhead"]
        yield DrawnStep(number, axis, found["compute"], found["mxu"], found["vpu"], found["comes"], leaves, took)


def _turning(timeline: Mapping[str, Any], trips: Sequence[int], number: int) -> str | None:
    """The axis that turns after a step: the innermost that has a block left."""
    left = number
    for (tag, _), trip in zip(reversed(timeline["axes"]), reversed(trips), strict=True):
        left, place = divmod(left, trip)
        if place + 1 < trip:
            return tag
    return None


def exposed(timeline: Mapping[str, Any]) -> float:
    """Seconds of copies that nothing hides: the first ones in, the last ones out, and what is longer than its step.

    Of very many steps those of each class are taken for alike, whatever turned before them.
    """
    trips = [max(1, round(number)) for _, number in timeline["axes"]]
    if (total := prod(trips)) <= _COUNTED:
        waits = sum(step.waits for step in _some(timeline, trips, range(total)))
    else:
        waits = sum(one["count"] * max(0.0, one["comes"] - one["compute"]) for one in timeline["classes"])
    return timeline["first"] + timeline["last"] + waits


def drawn(timeline: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The picture of one pipeline."""
    first, last, total = steps(timeline)
    shown = [*first, *last]
    whole = timeline["first"] + sum(step.took for step in shown) + timeline["last"]
    scale = (_WIDTH - _LEFT - (_GAP if last else 0)) / (whole or 1)
    parts = [svg.text(_LEFT - 8, _TOP + (n + 0.5) * _ROW + 3, name, "quiet", "end") for n, name in enumerate(_ROWS)]
    x = _LEFT
    parts.append(_bar(x, 1, timeline["first"] * scale, "wait", f"the first blocks come: {seconds(timeline['first'])}"))
    x += timeline["first"] * scale
    for step in shown:
        if last and step is last[0]:
            parts.append(svg.text(x + _GAP / 2, _TOP + 3 * _ROW + 4, "⋯", "quiet", "middle"))
            x += _GAP
        parts += _step(step, x, scale, names)
        x += step.took * scale
    parts.append(_bar(x, 4, timeline["last"] * scale, "wait", f"the last blocks leave: {seconds(timeline['last'])}"))
    height = _TOP + len(_ROWS) * _ROW
    parts.append(svg.legend(_LEFT, height + 18, _MEANING))
    parts.append(svg.text(_WIDTH, height + 18, f"{seconds(whole)} drawn, {count(total)} steps", "quiet", "end"))
    return svg.picture(_WIDTH, height + 26, f"timeline of {count(total)} steps", *parts)


def _step(step: DrawnStep, x: float, scale: float, names: Mapping[str, str]) -> list[str]:
    after = "the last step" if step.axis is None else f"then {names.get(step.axis, step.axis)} turns"
    parts = [
        svg.path([(x, _TOP - 4), (x, _TOP + len(_ROWS) * _ROW)], "rule"),
        _bar(x, 0, step.compute * scale, "shape", f"step {step.number}: {seconds(step.took)}, {after}"),
        _bar(x, 1, step.comes * scale, "dma", f"blocks for the next step: {seconds(step.comes)}"),
        _bar(x, 2, step.mxu * scale, "mxu", f"matrix unit: {seconds(step.mxu)}"),
        _bar(x, 3, step.vpu * scale, "vpu", f"vector unit: {seconds(step.vpu)}"),
        _bar(x + step.comes * scale, 4, step.leaves * scale, "dma", f"finished blocks: {seconds(step.leaves)}"),
        _bar(x + step.compute * scale, 5, step.waits * scale, "wait", f"copies take longer by {seconds(step.waits)}"),
    ]
    if step.took * scale > 24:
        parts.append(svg.text(x + 3, _TOP - 8, str(step.number), "quiet"))
    return parts


def _bar(x: float, row: int, width: float, kind: str, title: str) -> str:
    return svg.box(x, _TOP + row * _ROW + (_ROW - _BAR) / 2, width, _BAR, kind, title) if width > 0 else ""
