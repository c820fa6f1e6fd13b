"""Failing kernels are made smaller: their sizes, too."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import torch

from test.property import exploring
from test.property.failures import Failure
from test.property.judge import judge, module_of, results
from test.property.shrinking import shrunk

TEXT = """\
import sys

import torch

import kopt
import kopt.language as hl


def inputs():
    return [torch.arange(17).float(), torch.arange(12).float()]


def kernel(a0, a1):
    o0 = torch.empty([17], dtype=torch.float32)
    o1 = torch.empty([12], dtype=torch.float32)
    for i0 in hl.tile(17, block_size=8):
        v0 = a0[i0]
        v1 = torch.exp(v0)
        v2 = v0 * 3
        if v2.sum() > 5:
            v3 = torch.sin(v2)
        o0[i0] = v2
    for i1 in hl.tile(12, block_size=16):
        o1[i1] = a1[i1] + 1
    return (o0, o1)
"""


def test_statements_and_sizes_go() -> None:
    """What fails here is a ragged block of more than one lane that is stored, in memory of that size."""

    def fails(text: str) -> bool:
        loop = re.search(r"i0 in hl.tile\((\d+), block_size=(\d+)\)", text)
        extent, block = map(int, loop.groups()) if loop else (0, 0)
        return extent % max(block, 1) > 0 and block > 1 and f"torch.arange({extent})" in text and "o0[i0] = v2" in text

    found = shrunk(TEXT, fails)
    assert "hl.tile(1, block_size=2)" in found
    assert not any(gone in found for gone in ("exp", "sin", "i1", "o1 = ", "17", "12"))


def test_a_failure_of_a_target_stays_that_failure(tmp_path: Path) -> None:
    """A target that spoils tensors of more than two elements: the kernel still runs, and is wrong in the same way."""

    def spoiled(module, target):
        return [torch.where(torch.arange(t.numel()) > 1, t + 1, t) for t in results(module, target)]

    with mock.patch.object(exploring, "results", spoiled):
        said = f"reference: result 0: 15 of 17 differ; at [2] 7.0, torch gives 6.0\n\n{TEXT}"
        found = Failure.of(said).shrunk(tmp_path)
    assert found.said.startswith("reference: result 0: ")
    assert "sin" not in found.text
    assert "17" not in found.text
    module = module_of(found.text, tmp_path)
    assert judge(module).problems(results(module, "reference")) == []


def test_what_a_lowering_does_wrong_is_a_lit_test_of_its_own(tmp_path: Path) -> None:
    """The IR, with the command that compares the target with the reference; None where that finds nothing."""
    failure = Failure.of(f"triton:interpret: result 0: 1 of 17 differ; at [2] 7.0, torch gives 6.0\n\n{TEXT}")
    assert failure.as_lit_test(tmp_path) is None
    with mock.patch("test.property.failures.run_file", lambda path, root: mock.Mock(failed=True)):
        lit = failure.as_lit_test(tmp_path)
    assert lit is not None
    assert lit.startswith("// RUN: kopt run %s --target triton:interpret --check\n")
    assert "func.func @kernel" in lit
