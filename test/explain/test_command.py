"""`kopt explain` in each of its forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt.tools.main import main

DOUBLED = """\
import torch
import kopt.language as hl

def doubled(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        out[t] = x[t] * 2
    return out
"""


@pytest.fixture(autouse=True)
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with a kernel."""
    monkeypatch.chdir(tmp_path)
    Path("sums.py").write_text(DOUBLED)


def test_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "sums.py:doubled", "f32[1024]", "--target", "pallas:v6e"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("doubled.html: ") and " passes, " in said
    assert Path("doubled.html").read_text().startswith("<!DOCTYPE html>")


def test_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "sums.py:doubled", "f32[1024]", "--target", "triton:sm90", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == 1 and data["kernel"]["target"] == "triton:sm90"
    assert any(stage["values"] for stage in data["stages"])
    assert main(["explain", "sums.py:doubled", "f32[1024]", "--target=triton:sm90", "--json", "--no-values"]) == 0
    assert not any(stage["values"] for stage in json.loads(capsys.readouterr().out)["stages"])


def test_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    assert main(["explain", "sums.py:doubled", "f32[1024]", "--target", "pallas:v6e", "--terminal"]) == 0
    said = capsys.readouterr().out
    assert "plan-accesses" in said and "@x = %x window" in said and "passes changed nothing" in said


def test_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    """What a pass refuses is explained up to there, and is a mistake of the user's all the same."""
    assert main(["explain", "sums.py:doubled", "f64[1024]", "--target", "pallas:v6e"]) == 1
    assert capsys.readouterr().out.rstrip().endswith(", refused by legalise-element-types")
    assert "a TPU has no f64" in Path("doubled.html").read_text()


def test_an_ir_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "sums.py:doubled", "f32[1024]", "-o", "doubled.mlir"]) == 0
    assert main(["explain", "doubled.mlir", "--target", "pallas:v6e", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [source["file"] for source in data["sources"]] == ["doubled.mlir"]


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("no.json").write_text("{")
    for argv, error in {
        "explain sums.py:doubled f32[4] --tuned no.json": "'no.json' is no JSON",
        "explain sums.py:doubled f32[4] --json --terminal": "not allowed with argument",
        "explain sums.py:doubled f32[4] --target pallas:v6e -o no/where.html": "cannot write 'no/where.html'",
    }.items():
        assert main(argv.split()) == 1
        assert error in capsys.readouterr().err
