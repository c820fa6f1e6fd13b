"""Choosing sizes for the open blocks of a module: legal ones, halves, what stays as it is given."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.block_sizes import choose_sizes, fullness, halved, legal_sizes, within_outer
from kopt.planning.block_sizes import rooms
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS

V5E, SM90 = TPU_CHIPS["v5e"], GPU_CHIPS["sm90"]
TEXT = """
func.func @f(%x: memref<{rows}x{lanes}xf32>, %y: memref<{rows}x{lanes}xf32>) {{
  tile.grid (%i: b0={size}, %j: b1=128) in ({rows}, {lanes}) {{
    %v = tile.load %x[%i, %j] : memref<{rows}x{lanes}xf32> -> !tile.tile<b0={size} x b1=128 x f32>
    tile.store %v, %y[%i, %j] : !tile.tile<b0={size} x b1=128 x f32>, memref<{rows}x{lanes}xf32>
  }}
  func.return
}}
"""
GROUPS = (("b0",), ("b1",))


def module(rows: int = 4096, lanes: int = 4096, size: int = 8):
    return parse(TEXT.format(rows=rows, lanes=lanes, size=size))


@pytest.mark.parametrize("chip", [V5E, SM90])
@pytest.mark.parametrize(("rows", "lanes"), [(4096, 4096), (1, 1), (7, 100), (100_000, 128), (0, 128)])
def test_a_size_for_each_group_that_fits(chip, rows: int, lanes: int) -> None:
    sizes = choose_sizes(module(rows, lanes), GROUPS, [8, 128], chip)
    assert len(sizes) == 2 and all(size > 0 for size in sizes)
    assert chip is V5E or all(size & (size - 1) == 0 for size in sizes)
    assert chip is SM90 or sizes == legal_sizes(module(rows, lanes), GROUPS, sizes, V5E)


def test_a_block_that_no_loop_uses_keeps_its_size() -> None:
    assert choose_sizes(module(), ((), ("b0",), ()), [3, 8, 5], V5E)[::2] == [3, 5]
    assert choose_sizes(module(), ((), ()), [3, 5], V5E) == [3, 5]
    assert choose_sizes(module(), (), [], V5E) == []


def test_a_block_of_one_that_was_imported_with_more_stays_one() -> None:
    assert choose_sizes(module(size=1), GROUPS, [16, 128], V5E)[0] == 1


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([8, 128], [8, 128]),
        ([1, 1], [8, 128]),
        ([9, 129], [16, 256]),
        ([4096, 4096], [4096, 4096]),
        ([5000, 100], [5000, 128]),
    ],
)
def test_sizes_are_rounded_up_to_tiles(given: list[int], wanted: list[int]) -> None:
    assert legal_sizes(module(), GROUPS, given, V5E) == wanted


def test_a_block_of_all_is_not_rounded() -> None:
    assert legal_sizes(module(100, 300), GROUPS, [100, 300], V5E) == [100, 300]


def test_groups_that_share_a_size_are_rounded_together() -> None:
    assert legal_sizes(module(), (("b0", "b1"),), [100], V5E) == [128]


@pytest.mark.parametrize(
    ("chip", "sizes", "wanted"),
    [
        (V5E, [64, 512], [32, 256]),
        (V5E, [24, 384], [8, 128]),  # whole tiles
        (V5E, [8, 128], [8, 128]),
        (SM90, [64, 512], [32, 256]),
        (SM90, [1, 2], [1, 1]),
    ],
)
def test_halves_are_no_smaller_than_the_least(chip, sizes: list[int], wanted: list[int]) -> None:
    assert halved(module(), GROUPS, sizes, chip) == wanted


WALKED = """
func.func @f(%x: memref<4096x128xf32>) {
  tile.grid (%i: b0=64) in (4096) {
    %begin = tile.begin %i : !tile.range<b0=64>
    %end = tile.end %i : !tile.range<b0=64>
    tile.for %j: b1=64 in (%begin, %end) {
      %v = tile.load %x[%j, :] : memref<4096x128xf32> -> !tile.tile<b1=64 x 128 x f32>
    }
  }
  func.return
}
"""


@pytest.mark.parametrize(("sizes", "wanted"), [([32, 64], [32, 32]), ([64, 64], [64, 64]), ([64, 8], [64, 8])])
def test_what_walks_a_block_is_no_larger(sizes: list[int], wanted: list[int]) -> None:
    assert within_outer(parse(WALKED), GROUPS, sizes) == wanted
    outer, inner = sizes
    assert within_outer(parse(WALKED), (("b1",), (), ("b0",)), [inner, 7, outer]) == [wanted[1], 7, wanted[0]]


@pytest.mark.parametrize("chip", [V5E, SM90])
def test_larger_blocks_are_fuller(chip) -> None:
    small, large = (fullness(module(size=size), chip, rooms(chip)[0]) for size in (8, 4096))
    assert 0 < small < large


def test_powers_of_two_where_divisors_are_not_wanted() -> None:
    (rows, lanes) = choose_sizes(module(96, 1536), GROUPS, [8, 128], V5E, divides=False)
    assert rows & (rows - 1) == 0 and lanes & (lanes - 1) == 0


@pytest.mark.parametrize(("chip", "asked"), [(V5E, 4), (SM90, 8)])
def test_of_the_first_few_the_best_in_seconds_is_chosen(chip, asked: int) -> None:
    seen: list[dict[str, int]] = []
    found = choose_sizes(module(), GROUPS, [8, 128], chip, seconds=lambda sizes: 1 / len(seen.append(sizes) or seen))
    assert found == [*seen[-1].values()] and len(seen) == asked


def test_of_equal_seconds_the_first_stays() -> None:
    found = choose_sizes(module(), GROUPS, [8, 128], V5E, seconds=lambda sizes: float("inf"))
    assert found == choose_sizes(module(), GROUPS, [8, 128], V5E)
