"""Which slot the values of two paths take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from kopt.errors import UnsupportedError
from kopt.frontend.merging import _host_equal, join, slot_of
from kopt.frontend.undefined import Undefined

from .support import seen

X = torch.randn(8, 16)
NONE = Undefined("v", "it has none")
NAN = float("nan")


class Odd:
    """What cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("no")

    __hash__ = None  # pyright: ignore


ODD = Odd()


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        (lambda x, v, t: (1, 1), None),
        (lambda x, v, t: (NAN, NAN), None),
        (lambda x, v, t: ("a", "a"), None),
        (lambda x, v, t: (ODD, ODD), None),
        (lambda x, v, t: (x, x), None),
        (lambda x, v, t: ((1, 2), (1, 2)), None),
        (lambda x, v, t: (v, v), "!tile.tile<b0=4 x 16 x f32>"),
        (lambda x, v, t: (t.begin, t.begin), "index"),
        (lambda x, v, t: (1, 2), "index"),
        (lambda x, v, t: (t.begin, 2), "index"),
        (lambda x, v, t: (1.5, NAN), "!tile.tile<f32>"),
        (lambda x, v, t: (1, 1.0), "!tile.tile<f32>"),
        (lambda x, v, t: (2.5, t.begin), "!tile.tile<f32>"),
        (lambda x, v, t: (True, False), "!tile.tile<i1>"),
        (lambda x, v, t: (True, 1), "!tile.tile<i32>"),
        (lambda x, v, t: (1, True), "!tile.tile<i1>"),
        (lambda x, v, t: (0, v), "!tile.tile<b0=4 x 16 x f32>"),
        (lambda x, v, t: (v.int(), 2.5), "!tile.tile<b0=4 x 16 x i32>"),
        (lambda x, v, t: (v.sum(), v), "!tile.tile<b0=4 x 16 x f32>"),
        (lambda x, v, t: (v[:, :1], v), "!tile.tile<b0=4 x 16 x f32>"),
        (lambda x, v, t: (v.reshape(4, 16), v), "!tile.tile<b0=4 x 16 x f32>"),
        (lambda x, v, t: (torch.zeros(4, 16), v), "!tile.tile<4 x 16 x f32>"),
        (lambda x, v, t: (NONE, v), "!tile.tile<b0=4 x 16 x f32>"),
        (lambda x, v, t: (t.begin, NONE), "index"),
        (lambda x, v, t: (NONE, 3), "index"),
        (lambda x, v, t: (2.5, NONE), "!tile.tile<f32>"),
        (lambda x, v, t: (NONE, True), "!tile.tile<i1>"),
        (lambda x, v, t: (NONE, "a"), None),
        (lambda x, v, t: (NONE, NONE), None),
        (lambda x, v, t: (x, NONE), None),
    ],
    ids=range(30),
)
def test_slots(of: Callable[..., tuple[Any, Any]], wanted: str | None) -> None:
    found = seen(lambda x, v, t: join("v", *of(x, v, t)), X)
    assert (None if found is None else str(found.type)) == wanted


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (lambda x, v, t: ("a", "b"), "'v' is str 'a' on one path and str 'b' on the other"),
        (lambda x, v, t: (ODD, Odd()), "'v' is Odd on one path and Odd on the other"),
        (lambda x, v, t: (3, "b"), "'v' is int 3 on one path and str 'b' on the other"),
        (lambda x, v, t: ("b", v), "'v' is str 'b' on one path and a device tensor"),
        (lambda x, v, t: (t, t + 1), "'v' is a tile on one path and a tile on the other"),
        (lambda x, v, t: (v, v.int()), "'v' changes its dtype from torch.float32 to torch.int32"),
        (lambda x, v, t: (v, v.sum(1)), "'v' changes its shape from a device tensor [b0=4 x 16]"),
        (lambda x, v, t: (v, v[:, :8]), "do not broadcast"),
    ],
    ids=range(8),
)
def test_what_is_no_one_value(of: Callable[..., tuple[Any, Any]], said: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        seen(lambda x, v, t: join("v", *of(x, v, t)), X)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("a", "a", True),
        ("a", "b", False),
        (None, None, True),
        (X, X.clone(), False),
        (ODD, 3, False),
        ((1, X), (1, X.clone()), False),  # which torch compares lane by lane
        (1, 1.0, True),
    ],
    ids=range(7),
)
def test_host_values_that_are_equal(a: object, b: object, wanted: bool) -> None:
    assert _host_equal(a, b) is wanted


def test_host_values_have_no_slot() -> None:
    assert [slot_of(value) for value in (1, 2.5, "a", None, X, NONE)] == [None] * 6
