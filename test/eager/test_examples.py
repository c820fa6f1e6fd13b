"""The kernels of the examples and of the table of calls: their own Python beside torch."""

from __future__ import annotations

import pytest

from examples.check import run as run_example
from examples.registry import BY_NAME, DTYPES
from test.conformance.kernels import Inputs, run
from test.conformance.table import GROUPS, Group
from test.conformance.test_conformance import RAGGED

EXAMPLES = [(name, dtype, size) for name in BY_NAME for dtype, size in (("bf16", "tiny"), ("f32", "ragged"))]


@pytest.mark.parametrize(("name", "dtype", "size"), EXAMPLES)
def test_example_is_right(name: str, dtype: str, size: str) -> None:
    assert run_example(BY_NAME[name], size, DTYPES[dtype], "eager") == []


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.title)
def test_calls(group: Group, tmp_path) -> None:
    """Each call of the table, in each dtype."""
    for dtype in group.dtypes:
        inputs = Inputs.of(group.domain, dtype, RAGGED[group.form])
        problems = run(group, group.calls, inputs, "eager", tmp_path)
        assert not problems, "\n".join(problems)
