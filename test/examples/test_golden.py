"""The golden tables: what kopt chooses for the examples, and what comes out, is as the tables say."""

from __future__ import annotations

import pytest
import torch
from golden import SIZES_OF, TARGETS, check, compare, read, table
from support.digests import digest, same

from examples.registry import BY_NAME


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", BY_NAME)
def test_an_example_is_as_in_the_table(name: str, target: str) -> None:
    assert check("chosen", target, [name], update=False) == []


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["v4", "v5e", "v5p", "tpu7x"])
@pytest.mark.parametrize("name", BY_NAME)
def test_what_is_chosen_fits_other_chips(name: str, chip: str) -> None:
    """At real sizes; tables have the blocks of one chip of each family."""
    example = BY_NAME[name]
    assert example.kernel.lower(*example.unfilled("real", torch.bfloat16), target=f"pallas:{chip}").source


@pytest.mark.parametrize("kind", SIZES_OF)
@pytest.mark.parametrize("target", TARGETS)
def test_a_table_has_a_row_for_each_example_and_size(kind: str, target: str) -> None:
    assert set(read(table(kind, target))) == {(name, size) for name in BY_NAME for size in SIZES_OF[kind]}


def test_every_difference_is_named() -> None:
    was = {"blocks": {"b0": 32}, "launches": [{"grid": [4, 1], "moved_bytes": None}]}
    now = {"blocks": {"b0": 64}, "launches": [{"grid": [2, 1], "moved_bytes": 10}]}
    assert compare(was, was) == []
    assert compare(was, now) == [
        ".blocks.b0: 32 -> 64",
        ".launches[0].grid[0]: 4 -> 2",
        ".launches[0].moved_bytes: null -> 10",
    ]
    assert compare(was, {"refusal": "no"})


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_digests_tell_rounding_from_a_wrong_element(dtype: torch.dtype) -> None:
    values = torch.randn(37, 20, dtype=dtype)
    rounded = (values.double() * (1 + torch.finfo(dtype).eps)).to(dtype)
    wrong = values.clone()
    wrong[3, 4] += 1
    assert same([digest(values)], [digest(values)])
    assert same([digest(values)], [digest(rounded)])
    assert not same([digest(values)], [digest(wrong)])
    assert not same([digest(values)], [digest(values.where(values < 1, torch.inf))])


def test_digests_of_integers_are_exact() -> None:
    values = torch.arange(100)
    assert same([digest(values)], [digest(values.clone())])
    assert not same([digest(values)], [digest(values + (values == 99))])
