"""What becomes of the arguments of functions in tables: operands, further ones, options."""

from __future__ import annotations

from typing import Any

import pytest

from kopt.errors import UnsupportedError
from kopt.frontend.ops.rules import _arguments


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
