"""Which dimensions of an access's block may have lanes outside of their range."""

from __future__ import annotations

import pytest

from kopt.analysis.ragged import ragged_ranges
from kopt.dialects.tile import Access
from test.analysis.one_launch import OneLaunch, one_launch


def ragged(at: str, dims: str, extent: int, more: str = "") -> tuple[list[str | None], OneLaunch]:
    body = f"{more}\n%v = tile.load %x[{at}] : memref<{extent}x60xf32> -> !tile.tile<{dims}f32>"
    found = one_launch(body, f"(%i: b0=8, %j: b1=20) in ({extent}, 60)", x=f"{extent}x60xf32", ids=f"{extent}xi32")
    op = found["v"]
    assert isinstance(op, Access)
    return [None if range is None else range.name_hint for range in ragged_ranges(op)], found


@pytest.mark.parametrize(
    ("extent", "rows"), [(64, None), (63, "i"), (65, "i"), (7, "i"), (8, None), (1, "i"), (0, None)]
)
def test_the_last_block_of_rows_hangs_over(extent: int, rows: str | None) -> None:
    assert ragged("%i, %j", "b0=8 x b1=20 x ", extent)[0] == [rows, None]


@pytest.mark.parametrize(
    ("at", "dims", "wanted"),
    [
        ("%j, %i", "b1=20 x b0=8 x ", [None, "i"]),
        ("%i, :", "b0=8 x 60 x ", ["i", None]),
        ("%i, 3", "b0=8 x ", ["i"]),
        (":, %j", "63 x b1=20 x ", [None, None]),
        ("0:5, 0:5", "5 x 5 x ", [None, None]),
        ("2, 3", "", []),
    ],
)
def test_each_dimension_of_the_block_has_its_own(at: str, dims: str, wanted: list[str | None]) -> None:
    assert ragged(at, dims, 63)[0] == wanted


def test_gathered_rows_are_ragged_as_their_numbers_are() -> None:
    numbers = "%n = tile.load %ids[%i] : memref<63xi32> -> !tile.tile<b0=8 x i32>"
    assert ragged("%n, %j", "b0=8 x b1=20 x ", 63, numbers)[0] == ["i", None]
    assert ragged("%n, %j", "b0=8 x b1=20 x ", 64, numbers.replace("63", "64"))[0] == [None, None]


def test_numbers_of_no_range_are_not() -> None:
    numbers = "%n = tile.full 3 : !tile.tile<5 x i32>"
    assert ragged("%n, %j", "5 x b1=20 x ", 63, numbers)[0] == [None, None]


def test_a_shifted_range_is_ragged_as_the_range_is() -> None:
    """What is asked is whether its block is full, wherever it goes."""
    shift = "%c = arith.constant 2 : index\n%s = tile.shift %i by %c : !tile.range<b0=8>"
    assert ragged("%s, %j", "b0=8 x b1=20 x ", 63, shift)[0] == ["i", None]
