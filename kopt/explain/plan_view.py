"""The page's view of the plan: pictures and tables of each launch, as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from kopt.explain.drawings import landscape, memory, timeline
from kopt.explain.drawings.amounts import count, seconds, size
from kopt.explain.drawings.dataflow import dataflow
from kopt.explain.drawings.parts import parts
from kopt.explain.drawings.roofline import roofline

#: Rows of a cost: the item, its name, how it is said.
COSTS = (
    ("seconds", "time", seconds),
    ("mxu_seconds", "matrix units alone", seconds),
    ("vpu_seconds", "vector units alone", seconds),
    ("exposed_seconds", "copies that nothing hides", seconds),
    ("overhead_seconds", "the steps' and visits' own", seconds),
    ("host_seconds", "passes over arrays around the kernel", seconds),
    ("steps", "steps, or programs", count),
    ("waves", "waves of programs", count),
    ("bytes_in", "bytes read", size),
    ("bytes_out", "bytes written", size),
    ("vmem_bytes", "VMEM of blocks", size),
    ("live_bytes", "values beyond registers", size),
    ("smem_bytes", "scalar memory", size),
    ("shared_bytes", "shared memory of a program", size),
    ("registers", "registers of a thread", count),
)


def plan_view(data: Mapping[str, Any]) -> str:
    """All launches."""
    launches, calls = data["plan"]["launches"], data["plan"]["memory"]
    alike = len(calls) == len(launches)
    sections = [_launch(one, calls[n] if alike else None) for n, one in enumerate(launches)]
    return "".join(sections or ["<p>No launch was planned.</p>"]) + _calls(calls, alike) + _tuned(data["tuned"])


def _tuned(tuned: Mapping[str, Any] | None) -> str:
    """What a tuner found."""
    if tuned is None:
        return ""
    candidates = tuned["candidates"]
    refused = [one for one in candidates if one["legal"] is False]
    best = landscape.words(candidates[0]["config"]) if candidates else "none"
    return "".join(
        [
            f'<section><h2>Configurations</h2><p>Best: {escape(best)}.</p><div class="figures">',
            _figure("Candidates", landscape.ranking(candidates)),
            _figure("Landscape", landscape.heat_map(candidates)),
            "</div>",
            f'<p class="note">{len(candidates)} candidates, of which {len(refused)} were refused.</p></section>',
        ]
    )


def _launch(launch: Mapping[str, Any], call: Mapping[str, Any] | None) -> str:
    names = {axis["tag"]: axis["name"] for axis in launch["axes"]}
    return "".join(
        [
            f"<section><h2>{escape(launch['name'])}</h2>",
            "<h3>How arrays come</h3>",
            dataflow(launch),
            *_timelines(launch["timelines"], names),
            '<div class="figures">',
            _figure("Memory", _memory(launch, call)),
            _figure("Roofline", roofline(launch["roofline"])),
            _figure("Time", parts(launch["cost"], launch["roofline"]["bandwidth"])),
            "</div>",
            "<h3>Cost, by kopt's model of the chip</h3>",
            _fitted(launch),
            _table(("item", ""), _costs(launch["cost"])),
            "<h3>Axes</h3>",
            _table(("axis", "block", "extent", "blocks", "schedule"), map(_axis, launch["axes"])),
            "<h3>Plan</h3>",
            f"<pre>{escape(launch['plan'])}</pre></section>",
        ]
    )


def _fitted(launch: Mapping[str, Any]) -> str:
    if launch["roofline"]["fitted"]:
        return ""
    return '<p class="note">The constants of this chip are not fitted to measurements: compare, do not add up.</p>'


def _timelines(found: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Iterator[str]:
    for one in found:
        loop = one["loop"]
        of = "the grid" if loop is None else f"loop {names.get(loop, loop)}, each time that it runs"
        yield f"<h3>Timeline of {escape(of)}</h3>{timeline.drawn(one, names)}"
        yield f'<p class="note">{_exposed(one)}</p>'
    if not found:
        yield '<p class="note">There is no timeline: programs of a GPU run as they come, or a launch tells trips.</p>'


def _exposed(found: Mapping[str, Any]) -> str:
    ends = seconds(found["first"] + found["last"])
    return f"Copies that nothing hides: {seconds(timeline.exposed(found))}, of which {ends} are the first and the last."


def _memory(launch: Mapping[str, Any], call: Mapping[str, Any] | None) -> str | None:
    if call is not None:
        return memory.vmem(call)
    return None if launch["memory"] is None else memory.shared(launch["memory"])


def _calls(calls: Sequence[Mapping[str, Any]], alike: bool) -> str:
    """The memory of kernels that are not one a launch."""
    return "" if alike else "".join(_figure(f"Memory of {call['name']}", memory.vmem(call)) for call in calls)


def _figure(title: str, picture: str | None) -> str:
    return "" if picture is None else f"<div><h3>{escape(title)}</h3>{picture}</div>"


def _costs(cost: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((name, said(cost[key])) for key, name, said in COSTS if cost[key] is not None)


def _axis(axis: Mapping[str, Any]) -> tuple[str, ...]:
    name = axis["name"] if axis["name"] == axis["tag"] else f"{axis['name']} ({axis['tag']})"
    return name, count(axis["size"]), axis["extent"], count(axis["trips"]), axis["schedule"] or axis["form"]


def _table(heads: Sequence[str], rows: Any) -> str:
    head = "".join(f"<th>{escape(word)}</th>" for word in heads)
    cells = ("".join(f"<td>{escape(str(word))}</td>" for word in row) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
