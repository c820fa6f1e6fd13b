"""The table of ``kopt report``."""

from __future__ import annotations

import json

import pytest

from kopt.runtime.report_table import Report, table

TPU = {"target": "pallas:v6e", "legal": True, "reason": None, "arg_bytes": 41943040, "share": 0.123, "cycles": None}
TPU |= {"estimated_cycles": 1234, "cycles_reason": "trips depend on what 'offsets' holds"}
GPU = {"target": "triton:sm90", "legal": False, "reason": "no room", "registers": None, "compile_s": 0.25}


def test_one_table_for_all_targets() -> None:
    """A column a target; keys that nobody answered are left out; reasons stand below."""
    lines = table([TPU, GPU]).splitlines()
    assert lines[0].split() == ["pallas:v6e", "triton:sm90"]
    assert [line.split()[-2:] for line in lines[2:6]] == [
        ["yes", "no"],
        ["41,943,040", "-"],
        ["0.12", "-"],
        ["-", "0.25"],
    ]
    assert "registers" not in "\n".join(lines) and "1,234" not in "\n".join(lines)
    assert "pallas:v6e: no cycles: trips depend on what 'offsets' holds" in lines
    assert lines[-1] == "triton:sm90: no room"


def test_launches_are_columns_of_their_own() -> None:
    """A kernel of several launches shows each after the whole."""
    launch = {"target": "pallas:v6e", "bundles": 7}
    head = table([{**TPU, "launches": [launch, launch]}]).splitlines()[0]
    assert head.split() == ["pallas:v6e", "pallas:v6e", "#0", "pallas:v6e", "#1"]


def test_ops_are_counted() -> None:
    """Repeated HLO ops are said once; none at all is said too."""
    lines = table([{**TPU, "hlo_ops": ["copy", "pad", "copy"]}, {**TPU, "hlo_ops": []}]).splitlines()
    assert next(line for line in lines if line.startswith("HLO")).endswith("copy×2, pad        none")


def test_a_report_prints_as_its_table() -> None:
    """And is a dictionary in every other way."""
    report = Report(TPU)
    assert str(report) == table([TPU])
    assert report == TPU and repr(report) == repr(TPU) and json.loads(json.dumps(report)) == TPU


def test_notebooks_show_the_table_escaped() -> None:
    """What compilers say may look like HTML."""
    shown = Report({**GPU, "reason": "expected <pointer> & got <i32>"})._repr_html_()
    assert shown.startswith("<pre>") and "expected &lt;pointer&gt; &amp; got &lt;i32&gt;" in shown


@pytest.mark.parametrize(
    ("report", "note"),
    [
        ({"bound": "HBM", "share": 0.62}, "t: bound by HBM; the chip's own limit is 62% of the cycles"),
        ({"bound": "latency", "share": None}, "t: bound by latency"),
        ({"spill_bytes": 9000}, "t: warning: each thread spills 9,000 bytes of registers to memory"),
    ],
)
def test_what_bounds_a_kernel_is_said_below(report: dict[str, object], note: str) -> None:
    """And what registers it lacks."""
    assert table([{"target": "t", **report}]).splitlines()[-1].startswith(note)


@pytest.mark.parametrize(("shared", "warned"), [(0, False), (116224, False), (116225, True), (232448, True)])
def test_a_program_that_is_alone_is_said(shared: int, warned: bool) -> None:
    """sm90 has 227 KiB for the programs of a multiprocessor."""
    text = table([{"target": "triton:sm90", "shared_bytes": shared, "spill_bytes": 0}])
    assert ("warning: one program at a time" in text) == warned and "spills" not in text


FULL = {
    "target": "pallas:v6e",
    "predicted_ms": 0.0123456,
    "items_ms": {"MXU": 0.001, "HBM": 0.01, "VPU": 0.0},
    "vmem_items": {"x (window)": 1024},
    "chosen": {"block_sizes": [8], "launches": [{"order": ["i", "j"], "loops": {"k": "resident unroll 4"}}]},
    "runner_up": {"change": "k blocks of 512 (not 256)", "lost": "predicted +9 %"},
    "next": [
        {"change": "k blocks of 1,024 (not 256)", "gain": -0.18, "config": {"block_sizes": [1024]}},
        {"change": "2 warps (not 4)", "gain": -0.05, "config": {}},
    ],
    "warnings": ["little room"],
}


def test_predictions_are_lines_below() -> None:
    """Where time and memory go, what was chosen, what lost, what to try next."""
    lines = table([FULL]).splitlines()
    assert lines[2].split() == ["predicted", "ms", "0.0123"]
    assert [line.removeprefix("pallas:v6e: ") for line in lines[4:]] == [
        "each unit alone: HBM 0.01 ms, MXU 0.001 ms",
        "VMEM: x (window) 1,024",
        "chosen: loop k resident unroll 4; order i, j",
        "runner-up: k blocks of 512 (not 256): predicted +9 %",
        "warning: little room",
        "next thing to try: k blocks of 1,024 (not 256): −18 % (config {'block_sizes': [1024]})",
        "or: 2 warps (not 4): −5 %",
    ]


def test_nothing_to_try_is_said() -> None:
    assert "no single change" in table([{**FULL, "next": []}])
    assert "next thing" not in table([{**FULL, "next": None}])


def test_few_threads_are_warned_of() -> None:
    held = {"programs": 1, "share": 0.12, "limited_by": "registers"}
    text = table([{"target": "triton:sm90", "occupancy": held}])
    assert "warning: 12% of the threads" in text and "registers leave room for 1 program;" in text
    assert "warning" not in table([{"target": "triton:sm90", "occupancy": {**held, "share": 0.5}}])
