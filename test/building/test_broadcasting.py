"""Which dimensions of tiles meet: from the right, or by their loops."""

from __future__ import annotations

import pytest

from kopt.building.broadcasting import Dims, join_dim, joined_dims, meeting_places, order_in
from kopt.dialects.tile import DimAttr


def dims(text: str) -> Dims:
    """``a=4 8 1``: tagged by their letters, or plain."""
    pairs = [word.partition("=") for word in text.split()]
    return tuple(DimAttr(int(size), tag) if size else DimAttr(int(tag)) for tag, _, size in pairs)


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ("4", "4", "4"),
        ("4", "1", "4"),
        ("1", "1", "1"),
        ("4", "5", None),
        ("a=4", "a=4", "a=4"),
        ("a=4", "1", "a=4"),
        ("a=4", "4", None),
        ("a=4", "b=4", None),
        ("a=1", "b=1", None),
        ("a=1", "4", None),
    ],
)
def test_what_two_dimensions_become(a: str, b: str, both: str | None) -> None:
    wanted = None if both is None else dims(both)[0]
    assert join_dim(*dims(a), *dims(b)) == join_dim(*dims(b), *dims(a)) == wanted


@pytest.mark.parametrize(
    ("shapes", "both"),
    [
        (["a=4 8", "8"], "a=4 8"),
        (["a=4 8", "a=4 1"], "a=4 8"),
        (["a=4 1", "1 8"], "a=4 8"),
        (["a=4 b=8", "a=4"], "a=4 b=8"),  # by its loop, not from the right
        (["a=4 b=8", "b=8"], "a=4 b=8"),
        (["a=4 b=8", "c=8"], None),
        (["a=4 b=8 16", "a=4 16"], "a=4 b=8 16"),
        (["a=4 16 16", "a=4 16"], "a=4 16 16"),
        (["a=4 b=8 16", "b=8 16"], "a=4 b=8 16"),
        (["a=4 16 b=8", "a=4 16"], None),
        (["a=4 16 b=8", "16 b=8"], "a=4 16 b=8"),
        (["a=4 b=8", "b=8 a=4"], None),
        (["", "a=4"], "a=4"),
        (["", ""], ""),
        ([], ""),
        (["8", "4 8", "3 4 8"], "3 4 8"),
        (["8", "7"], None),
        (["a=4", "b=8 1"], "b=8 a=4"),
        (["a=4", "a=4 1 8", "8"], "a=4 1 8"),
        (["4 1", "1 8", "2 1 1"], "2 4 8"),
        (["a=4 a=4", "a=4"], "a=4 a=4"),
    ],
)
def test_what_tiles_broadcast_to(shapes: list[str], both: str | None) -> None:
    """In any order."""
    wanted = None if both is None else dims(both)
    assert joined_dims(map(dims, shapes)) == joined_dims(map(dims, reversed(shapes))) == wanted


@pytest.mark.parametrize(
    ("low", "high", "places"),
    [
        ("8", "a=4 8", [1]),
        ("a=4", "a=4 b=8", [0]),
        ("b=8", "a=4 b=8", [1]),
        ("a=4 8", "a=4 8", [0, 1]),
        ("a=4 1", "a=4 b=8 c=2", [0, 2]),
        ("1 c=2", "a=4 b=8 c=2", [1, 2]),
        ("a=4 c=2", "a=4 b=8 c=2", [0, 2]),
        ("c=2 a=4", "a=4 b=8 c=2", None),
        ("1 a=4", "a=4 b=8 c=2", None),
        ("5 c=2", "a=4 b=8 c=2", None),
        # Plain ones stand right before the next, or at the end, whatever plain ones there are before.
        ("a=4 8", "a=4 8 8", [0, 2]),
        ("a=4 8", "a=4 b=8 8", [0, 2]),
        ("a=4 8", "a=4 8 b=2", None),
        ("8 b=2", "8 8 b=2", [1, 2]),
        ("", "a=4 8", []),
        ("a=4 8", "8", None),
    ],
)
def test_where_dimensions_meet(low: str, high: str, places: list[int] | None) -> None:
    assert meeting_places(dims(low), dims(high)) == places


@pytest.mark.parametrize(
    ("some", "wanted", "places"),
    [
        ("a=4 8", "8 a=4", [1, 0]),
        ("8 8", "8 1 8", [0, 2]),
        ("8", "1 8", [1]),
        ("8 8", "8 1", None),
        ("a=4", "4", None),
        ("", "8", []),
    ],
)
def test_dimensions_in_another_order(some: str, wanted: str, places: list[int] | None) -> None:
    assert order_in(dims(some), dims(wanted)) == places
