"""What an explanation says: exact texts, where their lines come from, what passes did, and the plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kopt.lowered import Lowered
from test.explain.conftest import SUBJECTS

Explained = Callable[[str], dict[str, Any]]


def text_of(data: dict[str, Any], stage: dict[str, Any]) -> str:
    return "\n".join(data["texts"][line] for line in stage["lines"])


def places_of(data: dict[str, Any], origin: int) -> set[tuple[int, int]]:
    """Lines and columns of an origin, of the one source."""
    return {tuple(data["places"][place][1:]) for place in data["origins"][origin]}


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_texts_are_those_of_the_stages(name: str, explained: Explained, lowered: Callable[[str], Lowered]):
    """Every stage has the text that `Lowered.stages` gives, and says nothing of it where nothing changed."""
    data, before = explained(name), ""
    stages = lowered(name).stages()
    assert [stage["name"] for stage in data["stages"]] == [name for name, _ in stages]
    for stage, (_, text) in zip(data["stages"], stages, strict=True):
        if stage["lines"] is None:
            assert text == before and stage["status"] == "unchanged"
        else:
            assert text_of(data, stage) == text and len(stage["lines"]) == len(stage["origins"])
            assert stage["status"] in ("import", "changed")
        before = text
    assert data["emitted"]["lines"] == lowered(name).source.split("\n")
    assert len(data["emitted"]["lines"]) == len(data["emitted"]["origins"])
    assert json.loads(json.dumps(data)) == data


@pytest.mark.parametrize("name", SUBJECTS)
def test_hunks_lead_from_each_text_to_the_next(name: str, explained: Explained):
    data = explained(name)
    first, *others = [stage for stage in data["stages"] if stage["lines"] is not None]
    before = first["lines"]
    for stage in others:
        after, at, made = stage["lines"], 0, []
        for start, end, left, right in stage["diff"]:
            made += [*before[at:start], *after[left:right]]
            at = end
        assert [*made, *before[at:]] == after
        before = after


def test_lines_come_from_the_places_of_their_operations(explained: Explained):
    """The load of a softmax is one line of each text, and all of these come from where the source loads."""
    data = explained("softmax")
    source = data["sources"][0]
    line = next(
        n for n, text in enumerate(source["parts"][0]["lines"], source["parts"][0]["start"]) if "softmax(x[" in text
    )
    place = (line, source["parts"][0]["lines"][line - source["parts"][0]["start"]].index("x[") + 1)
    for stage in data["stages"]:
        if stage["lines"] is None:
            continue
        loads = [
            n
            for n, id in enumerate(stage["lines"])
            if " tile.load " in data["texts"][id] or " tile.get " in data["texts"][id]
        ]
        assert len(loads) == 1 and places_of(data, stage["origins"][loads[0]]) == {place}
    emitted = [n for n, text in enumerate(data["emitted"]["lines"]) if "x = x_ref[...]" in text]
    assert [places_of(data, data["emitted"]["origins"][n]) for n in emitted] == [{place}]


def test_only_what_the_kernel_is_made_of_is_shown(explained: Explained):
    source = explained("softmax")["sources"]
    assert [one["file"] for one in source] == ["softmax.py"]
    text = "\n".join(line for part in source[0]["parts"] for line in part["lines"])
    assert text.startswith("@kopt.kernel\ndef softmax(x):") and "softmax_two_pass" not in text


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_emitted_line_that_names_its_place_comes_from_there(name: str, explained: Explained):
    """Comments in emitted code say the same lines as the writers' own record."""
    data = explained(name)
    emitted, checked = data["emitted"], 0
    for text, origin in zip(emitted["lines"], emitted["origins"], strict=True):
        _, _, comment = text.partition("  # ")
        file, colon, rest = comment.partition(":")
        if colon and file.endswith(".py"):
            checked += 1
            assert int(rest.split(":")[0]) in {line for line, _ in places_of(data, origin)}
    assert checked > 3 or name == "triton"


def test_the_lines_of_a_plan_come_from_the_accesses_that_it_serves(explained: Explained):
    data = explained("matmul")
    stage = next(stage for stage in data["stages"] if stage["name"] == "plan-accesses")
    lines = {
        data["texts"][id].strip().split(" ")[0]: origin
        for id, origin in zip(stage["lines"], stage["origins"], strict=True)
    }
    accesses = {one["buffer"]: one["origin"] for one in data["plan"]["launches"][0]["accesses"]}
    assert {name: lines[f"@{name}"] for name in accesses} == accesses and len(set(accesses.values())) == 3


def test_values_are_those_of_the_interpreter(explained: Explained):
    """Probabilities are from 0 to 1, in every stage that the reference runs; of large arguments nothing is run."""
    data = explained("softmax")
    with_values = [stage for stage in data["stages"] if stage["values"]]
    assert len(with_values) > 3
    for stage in with_values:
        last = max(stage["values"], key=int)
        low, high = map(float, stage["values"][last].split(" in ")[0].split(" … "))
        assert (
            "div" in data["texts"][stage["lines"][int(last)]] or "softmax" in data["texts"][stage["lines"][int(last)]]
        )
        assert 0 < low < high < 1
    assert "33,554,432 elements" in explained("matmul")["no_values"]
    assert not any(stage["values"] for stage in explained("matmul")["stages"])


def test_remarks_stand_at_the_pass_that_made_them(explained: Explained):
    stages = {stage["name"]: stage for stage in explained("matmul")["stages"]}
    (said,) = stages["plan-vmem"]["remarks"]
    assert said["severity"] == "remark" and "takes" in said["message"] and "VMEM" in said["message"]
    assert explained("matmul")["places"][said["place"]][1] > 1


def test_the_plan_has_costs_a_timeline_and_memory(explained: Explained):
    data = explained("matmul")
    (launch,), (memory,) = data["plan"]["launches"], data["plan"]["memory"]
    assert [axis["name"] for axis in launch["axes"]] == ["tile_m", "tile_n", "b2"]  # all columns at once: no loop
    assert launch["roofline"]["flops"] == 2 * 4096**3
    assert launch["roofline"]["bytes"] == launch["cost"]["bytes_in"] + launch["cost"]["bytes_out"]
    assert sum(one["bytes"] for one in memory["buffers"]) == launch["cost"]["vmem_bytes"] <= memory["limit"]
    grid = launch["timelines"][0]
    assert sum(one["count"] for one in grid["classes"]) == launch["cost"]["steps"]
    assert data["kernel"]["chip"] == "v6e" and data["kernel"]["refused"] is None


def test_axes_are_called_as_in_the_source(explained: Explained):
    (launch,) = explained("pipeline")["plan"]["launches"]
    assert [axis["name"] for axis in launch["axes"]] == ["tile_m", "tile_n", "tile_k"]


def test_a_refusal_is_explained_where_it_happened(refused: dict[str, Any]):
    last = refused["stages"][-1]
    assert last["status"] == "refused" and last["remarks"][-1]["severity"] == "error"
    assert refused["kernel"]["refused"] and refused["emitted"] is None
    assert refused["no_values"] == "nobody asked for values"
    assert refused["places"][last["remarks"][-1]["place"]][1] > 4
