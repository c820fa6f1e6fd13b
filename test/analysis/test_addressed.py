"""Windows at loaded numbers: which arrays have them, by which indices, and what tells where they are."""

from __future__ import annotations

import pytest

from kopt.analysis.address_choice import addressed_windows
from kopt.analysis.addressed import addressed, moving, words_of
from kopt.analysis.windows import Window
from test.analysis.one_launch import OneLaunch, one_launch

NUMBER = """%at = tile.begin %i : !tile.range<b0=1>
      %s = tile.load %ids[%at] : memref<64xi32> -> !tile.tile<i32>
      %n = tile.extract %s : !tile.tile<i32> to index"""
PAGE = "%v = tile.load %x[%n, :, :] : memref<100x16x128xf32> -> !tile.tile<16 x 128 x f32>"


def launch(*lines: str, writes: str = "out", number: str = NUMBER, **more: str) -> OneLaunch:
    arrays = {"x": "100x16x128xf32", "ids": "64xi32", "out": "64x16x128xf32"} | more
    return one_launch("\n".join((number, *lines)), "(%i: b0=1, %j: b1=8) in (64, 16)", writes, **arrays)


def window(found: OneLaunch, name: str = "x") -> Window | None:
    place = found.place(name)
    return addressed(place.window, found.launch, place.axes)


def test_a_page_is_squeezed_away_at_its_number() -> None:
    found = launch(PAGE)
    at = window(found)
    assert at is not None and at.block == (1, 16, 128)
    assert [dim.kind for dim in at.dims] == ["point", "whole", "whole"]
    assert at.addresses == (found.values["ids"],) and at.grid_dims == {0}


@pytest.mark.parametrize(("factor", "size", "wanted"), [(16, 16, True), (32, 16, True), (8, 16, False), (1, 16, False)])
def test_a_range_from_whole_blocks_on(factor: int, size: int, wanted: bool) -> None:
    begin = f"""%f = arith.constant {factor} : index
      %b = arith.muli %n, %f : index
      tile.for %k: b2={size} in (0, {size}) {{
        %r = tile.shift %k by %b : !tile.range<b2={size}>
        %v = tile.load %x[%r, :] : memref<6400x128xf32> -> !tile.tile<b2={size} x 128 x f32>
      }}"""
    found = launch(begin, x="6400x128xf32")
    at = window(found)
    assert (at is not None) is wanted


@pytest.mark.parametrize(
    "lines",
    [
        [f"%m = tile.full true : !tile.tile<16 x 128 x i1>\n{PAGE.replace('] :', '] mask %m :')}"],
        [PAGE.replace("%n, :, :", "%at, :, :")],  # the grid tells
        ["%v = tile.load %x[%n, %n, %n] : memref<100x16x128xf32> -> !tile.tile<f32>"],  # a scalar
        [PAGE, PAGE.replace("%v", "%w").replace("%n, :, :", "0, :, :")],  # they do not agree
        ["%go = arith.constant true", f"scf.if %go {{\n{PAGE}\n}}"],  # it may not run
        ["%zero = arith.constant 0 : index", f"tile.for %k: b2=1 in (%zero, %n) {{\n{PAGE}\n}}"],
    ],
)
def test_others_have_none(lines: list[str]) -> None:
    assert window(launch(*lines)) is None


def test_what_the_launch_writes_is_none_and_tells_none() -> None:
    one = (
        "%one = tile.full 1.0 : !tile.tile<f32>\ntile.store %one, %x[0, 0, 0] : !tile.tile<f32>, memref<100x16x128xf32>"
    )
    assert window(launch(PAGE, one, writes="out x")) is None
    assert window(launch(PAGE, writes="out ids")) is None


def test_numbers_that_are_loaded_as_a_block_too_are_none() -> None:
    block = "%many = tile.load %ids[0:8] : memref<64xi32> -> !tile.tile<8 x i32>"
    assert window(launch(PAGE, block)) is None


def test_numbers_have_to_fit_scalar_memory() -> None:
    for count, wanted in ((1 << 16, True), (1 << 18, False)):
        number = NUMBER.replace("memref<64xi32>", f"memref<{count}xi32>")
        found = launch(PAGE, number=number, ids=f"{count}xi32")
        assert (window(found) is not None) is wanted
        assert words_of(found.values["ids"]) >= count


def test_a_loop_of_some_visits_runs() -> None:
    assert window(launch(f"tile.for %k: b2=1 in (0, 4) {{\n{PAGE}\n}}")) is not None
    assert window(launch(f"tile.for %k: b2=1 in (0, 0) {{\n{PAGE}\n}}")) is None


def test_without_numbers_the_dimension_is_whole() -> None:
    place = launch(PAGE).place("x")
    assert [dim.kind for dim in moving(place.window, place.axes).dims] == ["whole", "whole", "whole"]


# Which are chosen.


def chosen(found: OneLaunch, *names: str, elsewhere: tuple[str, ...] = ()) -> set[str]:
    places = [found.place(name) for name in names]
    windows = addressed_windows(places, found.grid.ranges, {found.values[name] for name in elsewhere})
    return {str(memory.name_hint) for memory in windows}


def test_pages_that_move_less_than_the_array_are_chosen() -> None:
    assert chosen(launch(PAGE), "x") == {"x"}


def test_of_a_small_array_the_whole_moves_less() -> None:
    """64 pages, of which each cell fetches one, are more than the two that there are."""
    page = PAGE.replace("100x", "2x")
    assert chosen(launch(page, x="2x16x128xf32"), "x") == set()


def test_numbers_that_stand_elsewhere_tell_nothing() -> None:
    assert chosen(launch(PAGE), "x", elsewhere=("ids",)) == set()


def test_windows_share_the_numbers_that_scalar_memory_holds() -> None:
    """Two arrays of numbers of 256 KiB and more are too much together: the first array has its own."""
    count = 1 << 16
    first = NUMBER.replace("memref<64xi32>", f"memref<{count + 1}xi32>")
    again = first.replace("%s", "%s2").replace("%n", "%n2").replace("%ids", "%more").replace("%at", "%at2")
    page = PAGE.replace("%v", "%v2").replace("%n", "%n2").replace("%x", "%y")
    sizes = {"ids": f"{count + 1}xi32", "more": f"{count + 1}xi32", "y": "100x16x128xf32"}
    found = launch(PAGE, again, page, number=first, **sizes)
    assert chosen(found, "x", "y") == {"x"} and chosen(found, "y", "x") == {"y"}
