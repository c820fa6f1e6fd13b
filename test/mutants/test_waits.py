"""Waits of emitted kernels that are left out are detected by ``pallas:strict``: some of what ``make races`` tries."""

from __future__ import annotations

import pytest
import torch

from examples.registry import BY_NAME

from .waits import Case, without_one


@pytest.mark.slow
def test_copies_of_loops() -> None:
    case = Case(BY_NAME["softmax_two_pass"], "v6e", "fori", "tiny")
    source = case.lowered().source
    changed = [text for _, text in without_one(source)]
    assert len(changed) == 2 and case.outcome(source) == ""
    for text in changed:
        assert "copies were started that nothing waits for" in case.outcome(text)


@pytest.mark.slow
def test_blocks_that_no_group_shares() -> None:
    """Groups of whole blocks: each block waits for the one before, which rows of other groups make wait elsewhere."""
    case = Case(BY_NAME["grouped_matmul"], "v6e", "fori", "tiny")
    rows = case.args[0].size(0)
    starts = torch.tensor([0, rows // 16 * 16, *[rows] * (len(case.args[2]) - 2)], dtype=case.args[2].dtype)
    case.args = (*case.args[:2], starts, *case.args[3:])
    case.wanted = case.example.reference(*case.args)
    source = case.lowered().source
    assert case.outcome(source) == ""
    (text,) = [text for line, text in without_one(source) if "not(shared)" in _above(source, line)]
    assert case.outcome(text) != ""


def _above(source: str, line: int) -> str:
    """The branch that a line is in."""
    return "".join(source.split("\n")[line - 4 : line - 1])
