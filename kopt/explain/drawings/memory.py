"""VMEM over the time of a cell: buffers, which are there all the time, what waits beyond registers, and the limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kopt.explain.drawings import svg
from kopt.explain.drawings.amounts import count, size

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP = 620.0, 230.0, 76.0, 12.0, 18.0
_USES = (("window", "windows"), ("scratch", "scratch"), ("pipeline", "pipelines"), ("spill", "values beyond registers"))
#: Buffers whose names fit beside each other have at least this height.
_NAMED = 13.0
#: What is said of a GPU's program beside its memory.
_PROGRAM = (("warps", "warps"), ("stages", "stages"), ("occupancy", "programs at once"))


def vmem(memory: Mapping[str, Any]) -> str:
    """The picture of one call."""
    buffers = sum(one["bytes"] for one in memory["buffers"])
    most = buffers + max((waiting for _, waiting in memory["spills"]), default=0)
    top = 1.1 * max(most, memory["limit"])
    base, right = _TOP + _HEIGHT, _WIDTH - _RIGHT

    def y(value: float) -> float:
        return base - _HEIGHT * value / top

    parts, stacked = [], 0
    for one in memory["buffers"]:
        high, low = y(stacked + one["bytes"]), y(stacked)
        parts.append(svg.box(_LEFT, high, right - _LEFT, max(0.0, low - high - 0.6), one["use"], one["text"]))
        if low - high > _NAMED:
            parts.append(svg.text(_LEFT + 8, (low + high) / 2 + 4, f"{one['name']}: {size(one['bytes'])}", "light"))
        stacked += one["bytes"]
    parts += _spills(memory, stacked, y, right)
    parts += [
        svg.path([(_LEFT, y(memory["limit"])), (right, y(memory["limit"]))], "limit"),
        svg.text(right, y(memory["limit"]) - 5, f"limit {size(memory['limit'])}", "", "end"),
        svg.path([(_LEFT, _TOP), (_LEFT, base), (right, base)], "axis"),
        *(svg.text(_LEFT - 8, y(top * n / 4) + 4, size(top * n / 4), "quiet", "end") for n in range(4)),
        svg.text(_LEFT, base + 15, "a cell of the grid begins", "quiet"),
        svg.text(right, base + 15, "ends", "quiet", "end"),
        svg.legend(_LEFT, base + 34, _USES),
    ]
    return svg.picture(_WIDTH, base + 42, f"VMEM of {memory['name']}: {size(most)} of {size(memory['limit'])}", *parts)


def _spills(memory: Mapping[str, Any], stacked: float, y: Any, right: float) -> list[str]:
    """What waits, from phase to phase."""
    phases = [phase for phase, _ in memory["spills"]]
    if not phases:
        return []
    start, end = phases[0], max(phases[-1], phases[0] + 1)
    parts = []
    for (phase, waiting), until in zip(memory["spills"], [*phases[1:], end], strict=True):
        left, width = (_LEFT + (right - _LEFT) * (at - start) / (end - start) for at in (phase, until))
        if waiting:
            title = f"{size(waiting)} wait beyond registers"
            high, low = y(stacked + waiting), y(stacked)
            parts.append(svg.box(left, high, width - left, low - high, "spill", title))
    return parts


def shared(memory: Mapping[str, Any]) -> str:
    """A GPU program's shared memory and registers beside what there is."""
    rows = [
        ("shared memory", memory["shared_bytes"], memory["limit"], size),
        ("registers of a thread", memory["registers"], 255, count),
    ]
    parts = []
    for number, (name, value, limit, said) in enumerate(rows):
        y = 22 + number * 46
        share = (value or 0) / limit
        parts += [
            svg.text(0, y - 6, f"{name}: {said(value)} of {said(limit)}"),
            svg.box(0, y, 400, 16, "box"),
            svg.box(0, y, 400 * min(1.0, share), 16, "dma" if share <= 1 else "wait"),
        ]
    told = (f"{count(memory[key])} {word}" for key, word in _PROGRAM)
    parts.append(svg.text(0, 114, ", ".join(told), "quiet"))
    return svg.picture(420, 122, "shared memory and registers of a program", *parts)
