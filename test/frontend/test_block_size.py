"""Sizes of blocks as numbers: what they stay, who is noted to have read them, what a short block makes of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kopt.errors import UnsupportedError
from kopt.frontend import lane_counts
from kopt.frontend.block_size import BlockSize, Shape, follows, is_short, number, plain, valid, varies
from kopt.frontend.lane_counts import _numbers, open_tag
from kopt.frontend.lengths import agreed, computed, length_of_block
from kopt.frontend.tracer import BlockInfo


def full(size: int = 4) -> tuple[BlockSize, BlockInfo]:
    """The size of blocks that are all full."""
    block = BlockInfo(0, size)
    return BlockSize(size, "b", block), block


def short(size: int = 4, last: int = 2) -> tuple[BlockSize, BlockInfo]:
    """The size of blocks of which the last one has fewer lanes; it is counted as a text."""
    block = BlockInfo(0, size)
    length = length_of_block("b", (size, last))
    return BlockSize(size, "b", block, lambda: "count", True, lambda: length), block


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        (lambda n: n + 1, 5),
        (lambda n: 1 - n, -3),
        (lambda n: n // 3, 1),
        (lambda n: 7 % n, 3),
        (lambda n: n / 2, 2.0),
        (lambda n: n**2, 16),
        (lambda n: n << 1, 8),
        (lambda n: -n, -4),
        (lambda n: ~n, -5),
        (lambda n: n == 4, True),
        (lambda n: n < 4, False),
        (lambda n: n >= 4.5, False),
        (lambda n: bool(n), True),
        (lambda n: int(n), 4),
        (lambda n: f"{n:03}", "004"),
        (lambda n: hash(n), hash(4)),
        (lambda n: divmod(n, 3), (1, 1)),
        (lambda n: math.floor(n), 4),
    ],
    ids=range(18),
)
def test_full_blocks_are_numbers_that_note_who_reads_them(of: Callable[[Any], object], wanted: object) -> None:
    size, block = full()
    assert not block.observed and not block.read
    found = of(size)
    assert found == wanted and type(found) in (type(wanted), BlockSize)
    assert block.observed and block.read


def test_multiples_of_full_blocks_stay_sizes() -> None:
    size, block = full()
    for made in (size * 3, 3 * size):
        assert isinstance(made, BlockSize) and made.lanes == 12 and made.block is block
        assert (made.own, made.ragged, made.tag) == (False, False, "")
    assert size.own and type(size + 1) is int


@pytest.mark.parametrize(
    ("of", "lanes", "last"),
    [
        (lambda n: n + 1, 5, 3),
        (lambda n: 7 - n, 3, 5),
        (lambda n: n * 3, 12, 6),
        (lambda n: n // 3, 1, 0),
        (lambda n: n % 3, 1, 2),
        (lambda n: -n, -4, -2),
    ],
    ids=range(6),
)
def test_short_blocks_stay_sizes(of: Callable[[Any], Any], lanes: int, last: int) -> None:
    size, block = short()
    made = of(size)
    assert isinstance(made, BlockSize) and made.lanes == lanes and made.block is block
    assert made.ragged and not made.own and made.tag == ""
    assert varies(made) and agreed(computed(operator.add, made.read, 0)) == []
    assert agreed(computed(lambda n, m: (n, m), made.read, size.read)) == []
    assert agreed(computed(lambda n, m: n in (lanes, last), made.read, 0)) == [True]


@pytest.mark.parametrize(
    ("of", "wanted"), [(lambda n: n // 5, 0), (lambda n: n % 2, 0), (lambda n: n & 1, 0), (lambda n: n > 1, True)]
)
def test_what_is_the_same_for_the_short_block(of: Callable[[Any], object], wanted: object) -> None:
    found = of(short()[0])
    assert found == wanted and type(found) is type(wanted)


@pytest.mark.parametrize(
    "of",
    [int, float, bool, str, hash, lambda n: n == 4, lambda n: n > 3],
    ids=range(7),
)
def test_what_differs_in_the_short_block(of: Callable[[Any], object]) -> None:
    if of is bool:
        assert bool(short()[0]) is True
        of = lambda n: bool(n - 4)  # noqa: E731
    with pytest.raises(UnsupportedError, match="how many lanes the last block has is not known"):
        of(short()[0])


def test_what_leaves_sizes_is_counted() -> None:
    counted: list[tuple[Any, ...]] = []

    def count(*operands: Any) -> str:
        counted.append(operands)
        return "counted"

    size, block = short()
    assert follows(operator.truediv, count, size, 2, stays=False) == "counted" and counted == [("count", 2)]
    assert follows(operator.truediv, count, 8, full()[0], stays=False) == 2.0 and len(counted) == 1
    assert follows(operator.mod, count, size, 2, stays=False) == 0 and len(counted) == 1
    assert block.observed and block.read


def test_sizes_for_libraries() -> None:
    size, _ = full()
    nested = plain([size, (size, 2), {"a": size, "b": slice(size, None, 2)}, Shape([size, 3]), "text"])
    assert nested == [4, (4, 2), {"a": 4, "b": slice(4, None, 2)}, (4, 3), "text"]
    assert list(map(type, nested)) == [int, tuple, dict, tuple, str] and type(nested[2]["b"].start) is int
    assert type(plain((size,))) is tuple and type(plain([size])) is list and number(size) == 4


def test_which_sizes_are_short() -> None:
    (whole, block), (last, _) = full(), short()
    assert (is_short(whole), is_short(last), is_short(4)) == (False, True, False)
    assert (varies(whole), varies(last), varies(4), varies(short(4, 4)[0])) == (False, True, False, False)
    assert (valid(whole), valid(last), valid("a")) == (whole, "count", "a")
    assert not block.observed


def test_shapes() -> None:
    shape = Shape([full()[0], 3])
    assert (shape.numel(), Shape().numel(), Shape([5]).numel()) == (12, 1, 5)
    assert type(shape + (2,)) is Shape and shape + (2,) == (4, 3, 2) and type(shape[:1]) is Shape and shape[1] == 3
    with pytest.raises(TypeError):
        shape + [2]  # pyright: ignore


@pytest.mark.parametrize(
    ("extent", "jagged", "wanted"),
    [
        (16, False, (4, 0)),
        (18, False, (4, 2)),
        (5, False, (4, 1)),
        (4, False, (4,)),
        (3, False, (3,)),
        (0, False, (4,)),
        (None, False, (1, 2, 3, 4)),
        (18, True, (1, 2, 3, 4)),
    ],
)
def test_numbers_of_lanes_that_blocks_may_have(monkeypatch, extent: int | None, jagged: bool, wanted: tuple) -> None:
    tracer = SimpleNamespace(extents={"b": extent}, jagged={"b"} if jagged else set())
    monkeypatch.setattr(lane_counts, "current", lambda: tracer)
    assert _numbers("b", 4) == wanted


def test_the_open_loop_that_walks_blocks_of_a_size(monkeypatch) -> None:
    """None where there is none, or more than one."""
    size, block = full()
    registered = BlockSize(4, "", block)
    ranges: dict[str, Any] = {}
    tracer = SimpleNamespace(ranges=ranges, range_blocks={"b": block, "c": block, "d": BlockInfo(1, 4)})
    monkeypatch.setattr(lane_counts, "current", lambda: tracer)
    assert open_tag(size) == open_tag(registered) == ""
    ranges |= {"d": None}
    assert open_tag(registered) == ""
    ranges |= {"c": None}
    assert open_tag(size) == open_tag(registered) == "c"
    assert open_tag(BlockSize(8, "", block, own=False)) == open_tag(BlockSize(4)) == ""
    ranges |= {"b": None}
    assert open_tag(size) == "b" and open_tag(registered) == ""
