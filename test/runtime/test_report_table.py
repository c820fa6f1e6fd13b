"""The table of ``kopt report``."""

from __future__ import annotations

from kopt.runtime.report_table import table

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
