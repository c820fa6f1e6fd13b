"""Pictures: well-formed, as many shapes as there are facts, and texts that stay texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from kopt.explain.drawings import landscape, memory, svg, timeline
from kopt.explain.drawings.dataflow import dataflow
from kopt.explain.drawings.parts import parts
from kopt.explain.drawings.roofline import roofline
from kopt.explain.plan_view import plan_view
from test.explain.conftest import TUNED

Explained = Callable[[str], dict[str, Any]]


def shapes(picture: str | None, kind: str, tag: str = "rect") -> list[ElementTree.Element]:
    """The shapes of a class."""
    assert picture is not None
    return [one for one in ElementTree.fromstring(picture).iter(tag) if one.get("class") == kind]


def test_texts_are_escaped():
    picture = svg.picture(9, 9, '"<', svg.text(1, 2, "<&>"), svg.box(0, 0, 1, 1, "dma", "a<b"))
    root = ElementTree.fromstring(picture)
    assert root.get("aria-label") == '"<' and [one.text for one in root.iter("text")] == ["<&>"]
    assert [one.text for one in root.iter("title")] == ["a<b"]


def test_each_array_buffer_and_access_has_a_box(explained: Explained):
    launch = explained("matmul")["plan"]["launches"][0]
    picture = dataflow(launch)
    assert len(shapes(picture, "box")) == 9  # x, y and out: an array, a buffer and an access each
    assert len(shapes(picture, "edge", "path")) == 6
    origins = {group.get("data-origin") for group in ElementTree.fromstring(picture).iter("g")} - {None}
    assert origins == {str(one["origin"]) for one in launch["accesses"]}


def test_a_timeline_has_its_steps(explained: Explained):
    """Of the 16 steps of a product, the first seven and the last two; the copies at both ends are exposed."""
    grid = explained("matmul")["plan"]["launches"][0]["timelines"][0]
    first, last, total = timeline.steps(grid)
    assert (len(first), len(last), total) == (7, 2, 16)
    assert [step.axis for step in first] == ["b1", "b1", "b1", "b0", "b1", "b1", "b1"] and last[-1].axis is None
    assert last[-1].comes == 0 and first[0].leaves == 0
    picture = timeline.drawn(grid, {})
    assert len(shapes(picture, "mxu")) == 10  # one is the legend's
    assert len(shapes(picture, "wait")) >= 3
    assert timeline.exposed(grid) >= grid["first"] + grid["last"]


def test_loops_that_copy_have_timelines_of_their_own(explained: Explained):
    launch = explained("pipeline")["plan"]["launches"][0]
    loops = [one for one in launch["timelines"] if one["loop"] is not None]
    assert [one["axes"] for one in loops] == [[["b2", 8.0]]]
    (loop,) = loops
    assert all(one["mxu"] > 0 for one in loop["classes"]) and loop["classes"][0]["comes"] > 0
    assert len(shapes(timeline.drawn(loop, {}), "mxu")) == 9


def test_memory_has_its_buffers_and_the_limit(explained: Explained):
    found = explained("attention")["plan"]["memory"][0]
    picture = memory.vmem(found)
    assert len(shapes(picture, "window")) == 1 + sum(one["use"] == "window" for one in found["buffers"])
    assert len(shapes(picture, "spill")) > 1 and len(shapes(picture, "limit", "path")) == 1
    shared = memory.shared(explained("triton")["plan"]["launches"][0]["memory"])
    assert len(shapes(shared, "dma")) == 2


def test_a_kernel_is_below_its_roof(explained: Explained):
    found = explained("matmul")["plan"]["launches"][0]["roofline"]
    picture = roofline(found)
    (point,), (roof,) = shapes(picture, "point", "circle"), shapes(picture, "roof", "path")
    heights = [float(part.split()[1]) for part in roof.get("d", "").removeprefix("M ").split(" L ")]
    assert float(point.get("cy", "0")) >= min(heights)
    assert roofline({**found, "seconds": None}) is None


def test_the_longest_part_is_the_bottleneck(explained: Explained):
    launch = explained("matmul")["plan"]["launches"][0]
    picture = parts(launch["cost"], launch["roofline"]["bandwidth"])
    widths = {kind: float(shapes(picture, kind)[0].get("width", "0")) for kind in ("shape", "mxu", "vpu", "dma")}
    assert widths["shape"] > widths["mxu"] > widths["dma"] > widths["vpu"]
    assert parts({**launch["cost"], "seconds": None}, 1.0) is None


def test_a_landscape_has_its_places():
    candidates = TUNED["candidates"]
    picture = landscape.heat_map(candidates)
    assert sum(len(shapes(picture, f"heat{step}")) for step in range(5)) == 12
    assert len(shapes(picture, "heat0")) and len(shapes(picture, "heat4"))
    ranked = landscape.ranking(candidates)
    assert len(shapes(ranked, "point", "circle")) == 6 and len(shapes(ranked, "best", "circle")) == 1
    assert landscape.heat_map(candidates[:1]) is None and landscape.ranking([]) is None


@pytest.mark.parametrize("tuned", [None, TUNED, {"candidates": []}])
def test_the_view_has_a_section_for_all(tuned: dict[str, Any] | None, explained: Explained):
    text = plan_view({**explained("softmax"), "tuned": tuned})
    assert ("Configurations" in text) == (tuned is not None)
    ElementTree.fromstring(f"<main>{text}</main>")
