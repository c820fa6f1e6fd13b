"""The numbers that docs/output-only.md rests on, from the benchmark itself."""

from __future__ import annotations

import pytest
from output_only import compare, exponential, is_worse

from examples.registry import EXAMPLES


@pytest.mark.slow
def test_stages_of_one_large_kernel() -> None:
    rows = {row["output_only"]: row for row in exponential("tpu7x", cycles=False)}
    assert "exceeded scoped vmem limit by 16.00M" in rows["off, default limit"]["problem"]
    assert rows["off"]["problem"] is None
    assert rows["donate"]["hlo_ops"] == ["broadcast"]
    assert rows["donate"]["vmem_bytes"] == rows["return"]["vmem_bytes"] == 33_554_432
    for way in ("return", "swap"):
        assert (rows[way]["hlo_ops"], rows[way]["arguments"], rows[way]["aliases"]) == ([], 1, 0)
        assert rows[way]["alias_bytes"] == rows[way]["temp_bytes"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["add", "softmax_two_pass", "welford", "swiglu"])
def test_no_kernel_gets_worse(name: str) -> None:
    example = next(example for example in EXAMPLES if example.name == name)
    before, after = compare(example, "ragged", "v6e")
    assert after["arguments"] == before["arguments"] - 1
    assert after["aliases"] == 0
    assert is_worse(before, after) == []
