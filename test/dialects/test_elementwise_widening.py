"""Casts that lose nothing: integers and truth values of all types, by the numbers that these hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kopt.dialects.canonicalization.elementwise import widens
from kopt.dtypes import DTYPES, DType, to_ir

WHOLE = [one for one in DTYPES if one.kind in ("int", "uint", "bool")]


def held(dtype: DType) -> tuple[int, int]:
    """The least and the largest number of a type."""
    if dtype.kind == "bool":
        return 0, 1
    info = np.iinfo(dtype.numpy)
    return int(info.min), int(info.max)


@pytest.mark.parametrize(
    ("before", "after"),
    list(itertools.permutations(WHOLE, 2)),
    ids=lambda one: one.spec if isinstance(one, DType) else None,
)
def test_every_number_is_one_of_the_other_type(before: DType, after: DType) -> None:
    (low, high), (least, most) = held(before), held(after)
    fits = least <= low and high <= most
    assert widens(to_ir(before), to_ir(after)) is (fits and after.kind != "bool")
