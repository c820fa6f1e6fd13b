"""What becomes of the arguments of functions in tables: operands, further ones, options; numbers of loops."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import kopt.language as hl
from kopt.dialects.tile import SplatOp
from kopt.errors import UnsupportedError
from kopt.frontend.ops.rules import _arguments
from kopt.walk import walk

from .support import imported, reference


@pytest.mark.parametrize(
    ("arity", "args", "kwargs", "operands", "extra", "options"),
    [
        (1, "a", {}, "a", "", {}),
        (2, "ab", {}, "ab", "", {}),
        (1, "ab", {}, "a", "b", {}),
        (1, "", {"input": "a"}, "a", "", {}),
        (2, "a", {"other": "b"}, "ab", "", {}),
        (2, "", {"other": "b", "input": "a"}, "ab", "", {}),
        (3, "a", {"weight": "c", "end": "b"}, "abc", "", {}),
        (2, "", {"input": "a", "end": "b", "weight": "c"}, "ab", "c", {}),
        (2, "a", {"other": "b", "alpha": 2}, "ab", "", {"alpha": 2}),
        # Where all operands are there, what else has a name is an option.
        (1, "a", {"weight": "c"}, "a", "", {"weight": "c"}),
        (2, "ab", {"weight": "c"}, "ab", "", {"weight": "c"}),
        (1, "a", {"inplace": True}, "a", "", {}),
        (1, "a", {"inplace": False, "out": None}, "a", "", {}),
    ],
)
def test_arguments(arity: int, args: str, kwargs: dict[str, Any], operands: str, extra: str, options: dict) -> None:
    found = _arguments(arity, tuple(args), dict(kwargs))
    assert found == (tuple(operands), tuple(extra), options)


@pytest.mark.parametrize(
    ("arity", "args", "kwargs", "message"),
    [
        (2, "a", {}, "expected 2 operands, found 1"),
        (3, "", {"input": "a", "other": "b"}, "expected 3 operands, found 2"),
        (1, "a", {"out": "b"}, "'out=' is not supported"),
    ],
)
def test_arguments_that_are_refused(arity: int, args: str, kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        _arguments(arity, tuple(args), dict(kwargs))


def test_numbers_of_loops_as_truth_values():
    """Whether they are not 0; as integers and floats, the numbers."""

    def numbers(x):
        truths = torch.empty([6], dtype=torch.bool, device=x.device)
        whole = torch.empty([6], dtype=torch.int64, device=x.device)
        floats = torch.empty([6], dtype=torch.float32, device=x.device)
        for i in hl.grid(6):
            truths[i] = torch.full([], i, dtype=torch.bool)
            whole[i] = torch.full([], i, dtype=torch.int64)
            floats[i] = torch.full([], i, dtype=torch.float32)
        return truths, whole, floats

    splats = walk(imported(numbers, torch.zeros(6)).module, SplatOp)
    assert {str(op.result.type.element_type) for op in splats} == {"i32", "i64"}  # pyright: ignore
    found = reference(numbers, torch.zeros(6))
    wanted = torch.arange(6)
    for one, want in zip(found, (wanted.bool(), wanted, wanted.float()), strict=True):
        torch.testing.assert_close(torch.as_tensor(one).to(want.dtype), want)
