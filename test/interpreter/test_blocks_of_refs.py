"""The blocks of refs that copies name, and the places of their index lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kopt.dialects.tile import ALL, SliceAttr
from kopt.errors import AccessError
from kopt.interpreter.pallas import block_of
from kopt.interpreter.values import Bound

ARRAY = np.arange(70).reshape(10, 7)


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [
        ([ALL, ALL], ARRAY),
        ([3, ALL], ARRAY[3:4]),
        ([SliceAttr(1, 9, 3), SliceAttr(2, 5)], ARRAY[1:9:3, 2:5]),
        ([SliceAttr(0, 10, 5), 6], ARRAY[::5, 6:7]),
        ([Bound(4, 3, 10, 1, 4), SliceAttr(0, 0)], ARRAY[4:7, :0]),
    ],
)
def test_blocks(entries: list[Any], wanted: np.ndarray) -> None:
    found = block_of(None, ARRAY, entries)  # pyright: ignore[reportArgumentType]
    assert np.array_equal(found, wanted) and np.shares_memory(found, ARRAY) == bool(wanted.size)


@pytest.mark.parametrize(
    "entries", [[10, ALL], [-1, ALL], [SliceAttr(4, 11), ALL], [ALL, SliceAttr(3, 8)], [Bound(8, 3, 10, 2, 4), ALL]]
)
def test_blocks_that_are_not_there(entries: list[Any]) -> None:
    with pytest.raises(AccessError, match="a copy of elements"):
        block_of(None, ARRAY, entries)  # pyright: ignore[reportArgumentType]
