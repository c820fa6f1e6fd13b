"""Host ops as torch code: calls with their arguments, and views."""

from __future__ import annotations

import pytest

from kopt.lowering.torch.module import print_module
from test.lowering.host_ops import CALLS, VIEWS, body, call, given


@pytest.mark.parametrize(
    ("name", "inputs", "arguments", "types", "text"), [(*row[:4], row[-1]) for row in CALLS if row[-1] is not None]
)
def test_calls(name: str, inputs: str, arguments: str, types: str, text: str) -> None:
    assert body(print_module, *call(name, inputs, arguments, types)) == text


@pytest.mark.parametrize(("op", "text"), [(row[0], row[-1]) for row in VIEWS if row[-1] is not None])
def test_arrays_and_views(op: str, text: str) -> None:
    assert body(print_module, *given(op)) == text
