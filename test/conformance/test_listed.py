"""What kernels are promised of torch: how much of it works, and that what the table leaves out torch leaves out too."""

from __future__ import annotations

import pytest

from .kernels import Inputs, expected
from .listed import DTYPES, SHARE, WITHOUT_CALLS, calls_of, count, names, works
from .table import TARGETS
from .test_conformance import RAGGED


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("target", TARGETS)
def test_nearly_all_works(target: str, dtype: str) -> None:
    """The share that the language promises; the tests of the calls say that what the table calls working does."""
    working, listed = count(target, dtype)
    assert working / listed >= SHARE, [name for name in names() if works(target, name, dtype) is False]


@pytest.mark.parametrize("name", names())
def test_listed_operations_are_called(name: str) -> None:
    """Each has a call in the table, in every dtype in which torch has it."""
    calls = calls_of(name)
    assert calls
    for dtype in DTYPES:
        if works("reference", name, dtype) is None:
            taken = [call for group, call in calls if _torch_takes(call, group.domain, dtype, RAGGED[group.form])]
            assert not taken, f"torch takes {taken[0]} in {dtype}: the table should"


def test_what_has_no_calls_is_not_in_the_table() -> None:
    """What is listed without a call has a reason, and no call."""
    assert not [name for name in WITHOUT_CALLS if calls_of(name)]


def _torch_takes(call: str, domain: str, dtype: str, shape: tuple[int, ...]) -> bool:
    try:
        expected(call, Inputs.of(domain, dtype, shape))
    except (RuntimeError, TypeError):
        return False
    return True
