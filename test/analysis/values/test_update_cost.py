"""What each way to write an update takes, and whether its array stays in VMEM."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt.analysis.values.update_cost import MOST_ROWS, UpdateSizes, cycles, fits, most_compared
from kopt.analysis.values.updates import UpdateOp
from kopt.targets.budget import Budget
from kopt.targets.chips import TPU_CHIPS
from test.analysis.one_launch import one_launch
from test.named import only

V5E, V6E = TPU_CHIPS["v5e"], TPU_CHIPS["v6e"]
ROWS = UpdateSizes(1000, 64, 128, False, True, True, False, 64, True)


@pytest.mark.parametrize(
    ("sizes", "kinds"),
    [
        (ROWS, {"row_loop", "one_hot"}),
        (replace(ROWS, sums=False), {"row_loop"}),  # nothing but sums is a product
        (replace(ROWS, sums=False, commutes=False), {"row_loop"}),
        (replace(ROWS, rows=MOST_ROWS), {"row_loop", "one_hot"}),
        (replace(ROWS, rows=MOST_ROWS + 1), {"row_loop"}),
        (replace(ROWS, flat=True, width=1), {"row_loop", "one_hot"}),
        (replace(ROWS, flat=True, sums=False), {"row_loop", "one_hot"}),
        (replace(ROWS, flat=True, commutes=False, sums=False), {"row_loop"}),
        (replace(ROWS, flat=True, target=Budget.COMPARED // 64), {"row_loop", "one_hot"}),
        (replace(ROWS, flat=True, target=Budget.COMPARED // 64 + 1), {"row_loop"}),
    ],
)
def test_the_ways_there_are(sizes: UpdateSizes, kinds: set[str]) -> None:
    found = cycles(sizes, V5E)
    assert found.keys() == kinds and all(cost > 0 for cost in found.values())


@pytest.mark.parametrize("field", ["target", "rows", "width"])
@pytest.mark.parametrize("flat", [True, False])
def test_more_costs_no_less(field: str, flat: bool) -> None:
    sizes = replace(ROWS, flat=flat)
    small, large = (cycles(replace(sizes, **{field: n}), V5E) for n in (32, 128))
    assert all(large[kind] >= small[kind] for kind in small)


def test_narrow_values_need_one_part() -> None:
    wide, narrow = (cycles(replace(ROWS, narrow=narrow), V5E)["one_hot"] for narrow in (False, True))
    assert narrow < wide


def test_a_larger_unit_takes_fewer_passes() -> None:
    sizes = replace(ROWS, rows=256, width=256)
    assert cycles(sizes, V6E)["one_hot"] < cycles(sizes, V5E)["one_hot"]


def test_numbers_that_are_in_scalar_memory_need_no_way_there() -> None:
    staged, there = (cycles(replace(ROWS, staged=one), V5E)["row_loop"] for one in (True, False))
    assert there < staged


def test_no_rows_take_no_visits() -> None:
    none = replace(ROWS, rows=0, visits=0)
    assert cycles(none, V5E)["row_loop"] < cycles(replace(none, rows=1, visits=1), V5E)["row_loop"]


# The sizes of updates.


def update(
    op: str = "atomic.rmw add %v, %x[%n, :]",
    dims: str = "b0=16 x 8",
    array: str = "100x8xf32",
    extent: int = 32,
    more: str = "",
    result: bool = False,
    head: str = "",
) -> UpdateOp:
    type = f"!tile.tile<{dims} x {array.split('x')[-1]}>"
    one = "1" if array.endswith("i32") else "1.0"
    body = f"""%n = tile.load %ids[%i] : memref<{extent}xi32> -> !tile.tile<b0=16 x i32>
      {head}
      %v = tile.full {one} : {type}
      {"%old = " if result else ""}{op} : {type}, memref<{array}>{" -> " + type if result else ""}
      {more}"""
    found = one_launch(body, f"(%i: b0=16) in ({extent})", "x", x=array, ids=f"{extent}xi32")
    return only(found.launch, UpdateOp)  # pyright: ignore[reportArgumentType]


def test_sums_of_rows_whose_numbers_are_loaded() -> None:
    assert UpdateSizes.of(update()) == UpdateSizes(100, 16, 8, False, True, True, False, 16, False)


@pytest.mark.parametrize(
    ("op", "elements", "found"),
    [
        ("atomic.rmw add %v, %x[%n]", 16, ("b0", Budget.COMPARED // 16)),
        ("atomic.rmw add %v, %x[%n]", 1000, None),  # of few lanes a loop takes no longer
        ("tile.store %v, %x[%n]", 16, None),
    ],
)
def test_lanes_that_comparisons_update_at_once(op: str, elements: int, found: tuple[str, int] | None) -> None:
    assert most_compared(update(op, "b0=16", f"{elements}xi32")) == found


def test_a_store_does_not_commute() -> None:
    found = UpdateSizes.of(update("tile.store %v, %x[%n, :]"))
    assert (found.commutes, found.sums) == (False, False)


def test_nor_does_what_hands_back_previous_values() -> None:
    used = "%s = tile.neg %old : !tile.tile<b0=16 x 8 x f32>"
    found = UpdateSizes.of(update(result=True, more=used))
    assert not found.commutes and UpdateSizes.of(update(result=True)).commutes


@pytest.mark.parametrize(
    ("array", "sums", "narrow"), [("f32", True, False), ("bf16", True, True), ("i32", False, False)]
)
def test_sums_are_of_floats(array: str, sums: bool, narrow: bool) -> None:
    found = UpdateSizes.of(update(array=f"100x8x{array}"))
    assert (found.sums, found.narrow) == (sums, narrow)


def test_numbers_of_all_dimensions_are_of_elements() -> None:
    found = UpdateSizes.of(update("atomic.rmw add %v, %x[%n, %n]", "b0=16"))
    assert found == UpdateSizes(800, 16, 1, True, True, True, False, 16, True)


def test_a_block_that_hangs_over_visits_what_there_is() -> None:
    found = UpdateSizes.of(update(extent=5))
    assert (found.rows, found.visits) == (16, 5)


def test_numbers_that_are_computed_are_staged() -> None:
    head = "%two = tile.full 2 : !tile.tile<b0=16 x i32>\n%m = tile.mul %n, %two : !tile.tile<b0=16 x i32>"
    found = UpdateSizes.of(update("atomic.rmw add %v, %x[%m, :]", head=head))
    assert found.staged and found.visits == 16


@pytest.mark.parametrize(
    ("array", "op", "dims", "wanted"),
    [
        ("100x8xf32", "[%n, :]", "b0=16 x 8", True),
        ("100000x4096xf32", "[%n, :]", "b0=16 x 4096", False),
        # One column is picked: the window is without that dimension.
        ("100000x4096xf32", "[%n, 7]", "b0=16", True),
        ("1000000xf32", "[%n]", "b0=16", True),
        ("100000000xf32", "[%n]", "b0=16", False),
    ],
)
def test_whether_rows_stay_in_vmem(array: str, op: str, dims: str, wanted: bool) -> None:
    assert fits(update(f"atomic.rmw add %v, %x{op}", dims, array), V5E) is wanted
