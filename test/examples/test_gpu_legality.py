"""The script that asks Triton's compiler for every chip: with one that is made up, and once with the real one."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("triton")

import gpu_legality

from examples.registry import Example
from kopt.targets.chips import GPU_CHIPS


def test_refusals_are_the_exit_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """All chips are asked; what spills is said, and only what is refused fails."""
    reasons = {"gfx942": None, "sm90": None}

    def made_up(example: Example, dtype: str, chip: str) -> dict[str, Any]:
        return {"spill_bytes": 8 * (example.name == "exp" and chip == "sm86"), "reason": reasons.get(chip)}

    monkeypatch.setattr(gpu_legality, "compiled", made_up)
    assert gpu_legality.main(["exp", "add", "--json"]) == 0
    rows = {row["chip"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert list(rows) == list(GPU_CHIPS) and {row["kernels"] for row in rows.values()} == {2}
    assert rows["sm86"]["spilled"] == {"exp": 8} and rows["sm90"]["spilling"] == 0
    reasons["gfx942"] = "out of resource"
    assert gpu_legality.main(["exp", "--chip", "gfx942"]) == 1
    assert "gfx942: exp: out of resource" in capsys.readouterr().out
    assert gpu_legality.main(["exp", "--chip", "sm90"]) == 0


def test_what_cannot_be_lowered_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = gpu_legality.subjects(["exp"])
    monkeypatch.setattr(gpu_legality, "arguments", lambda example, dtype: ())
    assert gpu_legality.compiled(example, "bf16", "sm90")["reason"]


@pytest.mark.slow
def test_the_compiler_itself() -> None:
    assert gpu_legality.main(["exp", "matmul_4096", "--chip", "sm90", "--chip", "gfx942"]) == 0
