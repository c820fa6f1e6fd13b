"""Which elements a store writes over a grid: as a plain run of its loops does, or a reason why that is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest

from kopt import parse
from kopt.analysis.boxes import Boxes
from kopt.analysis.written import Unsure, Written, WrittenPart, written_by
from kopt.dialects.tile import GridOp, StoreOp
from kopt.ir.from_ssa import IndexAnalysis
from test.named import only

TEXT = """
func.func @f(%x: memref<40x12xf32>, %y: memref<40xf32>, %n: index, %c: i1) {{
  tile.grid (%i: b0={size}, %j: b1=3) in ({rows}, 12) {{
    %b = tile.begin %i : !tile.range<b0={size}>
    %e = tile.end %i : !tile.range<b0={size}>
    %id = tile.id %i : !tile.range<b0={size}>
    %two = arith.constant 2 : index
    %twice = arith.muli %id, %two : index
    %sum = arith.addi %id, %jd : index
    {body}
  }}
  func.return
}}
""".replace("    %sum", "    %jd = tile.id %j : !tile.range<b1=3>\n    %sum")
BLOCK = "tile.store %v, %x[{}] : !tile.tile<{}f32>, memref<40x12xf32>"
FLAT = "tile.store %v, %y[{}] : !tile.tile<{}f32>, memref<40xf32>"


def store(to: str, entries: str, dims: str) -> str:
    return f"%v = tile.full 1.0 : !tile.tile<{dims}f32>\n {to.format(entries, dims)}"


def written(body: str, rows: int = 40, size: int = 8) -> Written:
    module = parse(TEXT.format(body=body, rows=rows, size=size))
    return written_by(only(module, StoreOp), only(module, GridOp), IndexAnalysis())


def elements(boxes: Boxes) -> Counter[tuple[int, ...]]:
    return Counter(
        index
        for lower, upper in zip(boxes.lower.tolist(), boxes.upper.tolist(), strict=True)
        for index in product(*(range(low, high) for low, high in zip(lower, upper, strict=True)))
    )


def together(found: Written, shape: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The elements of an array that every combination of the parts' boxes holds."""
    parts = [(part.dims, set(elements(part.boxes))) for part in found.parts]
    return {
        index
        for index in product(*map(range, shape))
        if all(tuple(index[dim] for dim in dims) in held for dims, held in parts)
    }


def blocks(extent: int, size: int) -> Iterator[range]:
    return (range(begin, min(begin + size, extent)) for begin in range(0, extent, size))


# A store of rows i and columns j, run: for each cell, the rows and columns that it writes.
RUNS = {
    "blocks": ("%i, %j", "b0=8 x b1=3 x ", lambda i, j: (i, j)),
    "rows": ("%i, :", "b0=8 x 12 x ", lambda i, j: (i, range(12))),
    "one column of them": ("%i, 5", "b0=8 x ", lambda i, j: (i, [5])),
    "a slice": ("%i, 2:5", "b0=8 x 3 x ", lambda i, j: (i, range(2, 5))),
    "a slice of steps": ("%i, 1:12:4", "b0=8 x 3 x ", lambda i, j: (i, range(1, 12, 4))),
    "where blocks begin": ("%b, :", "12 x ", lambda i, j: ([i[0]], range(12))),
    "numbers of blocks": ("%id, :", "12 x ", lambda i, j: ([i[0] // 8], range(12))),
    "every second": ("%twice, %j", "b1=3 x ", lambda i, j: ([i[0] // 8 * 2], j)),
    "sums of two numbers": ("%sum, 0", "", lambda i, j: ([i[0] // 8 + j[0] // 3], [0])),
    "two dimensions of one loop": ("%id, %twice", "", lambda i, j: ([i[0] // 8], [i[0] // 8 * 2])),
}


@pytest.mark.parametrize(("entries", "dims", "cell"), RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("rows", [40, 37, 8, 3])
def test_what_is_written_is_what_a_run_writes(entries: str, dims: str, cell, rows: int) -> None:
    found = written(store(BLOCK, entries, dims), rows)
    counts = Counter(index for i in blocks(rows, 8) for j in blocks(12, 3) for index in product(*cell(i, j)))
    assert together(found, (40, 12)) == set(counts)
    repeats = any(part.again or max(elements(part.boxes).values()) > 1 for part in found.parts)
    assert (found.again or repeats) == (max(counts.values()) > 1)


def test_parts_are_of_dimensions_that_move_together() -> None:
    apart = written(store(BLOCK, "%i, %j", "b0=8 x b1=3 x "))
    assert [part.dims for part in apart.parts] == [(0,), (1,)]
    assert apart.part_of(1) is apart.parts[1]
    both = written(store(BLOCK, "%id, %twice", ""))
    assert [part.dims for part in both.parts] == [(0, 1)] and both.part_of(0) is both.part_of(1)


@pytest.mark.parametrize(
    ("body", "again"),
    [
        (store(BLOCK, "%i, %j", "b0=8 x b1=3 x "), False),
        (store(FLAT, "%i", "b0=8 x "), True),  # at each of four %j
        (f"tile.when first(%j) {{\n {store(FLAT, '%i', 'b0=8 x ')}\n }}", False),
        (f"tile.when last(%j) {{\n {store(FLAT, '%i', 'b0=8 x ')}\n }}", False),
        (f"tile.when first(%j) {{\n tile.for %k: b2=4 in (0, 8) {{\n {store(FLAT, '%i', 'b0=8 x ')}\n }}\n }}", True),
        (f"tile.when first(%j) {{\n tile.for %k: b2=4 in (0, 4) {{\n {store(FLAT, '%i', 'b0=8 x ')}\n }}\n }}", False),
        (f"tile.when first(%j) {{\n tile.for %k: b2=4 in (%b, %e) {{\n {store(FLAT, '%i', 'b0=8 x ')}\n }}\n }}", True),
    ],
)
def test_loops_that_no_index_moves_with_write_again(body: str, again: bool) -> None:
    assert written(body).again is again


def test_a_loop_over_the_blocks_of_another_walks_what_that_one_does() -> None:
    found = written(f"tile.for %k: b2=4 in (%b, %e) {{\n {store(BLOCK, '%k, %j', 'b2=4 x b1=3 x ')}\n }}", rows=37)
    assert found.parts[0] == WrittenPart((0,), found.parts[0].boxes)
    assert set(elements(found.parts[0].boxes)) == {(row,) for row in range(37)}


def test_more_blocks_than_are_followed_one_by_one() -> None:
    """Those that follow one another are one interval, whatever numbers them."""
    text = """
func.func @f(%out: memref<90000000xf32>) {
  tile.grid (%i: b0=1) in (90000000) {
    %n = tile.id %i : !tile.range<b0=1>
    %v = tile.full 1.0 : !tile.tile<f32>
    tile.store %v, %out[%n] : !tile.tile<f32>, memref<90000000xf32>
  }
  func.return
}"""
    module = parse(text)
    (part,) = written_by(only(module, StoreOp), only(module, GridOp), IndexAnalysis()).parts
    assert (part.boxes.lower.tolist(), part.boxes.upper.tolist()) == ([[0]], [[90_000_000]])


def test_guards_keep_other_visits_out() -> None:
    found = written(f"tile.when last(%i) {{\n {store(BLOCK, '%i, %j', 'b0=8 x b1=3 x ')}\n }}")
    assert together(found, (40, 12)) == set(product(range(32, 40), range(12)))


def test_lane_numbers_are_their_range() -> None:
    found = written("%l = tile.index %i : !tile.range<b0=8>\n " + store(BLOCK, "%l, %j", "b0=8 x b1=3 x "), rows=37)
    assert together(found, (40, 12)) == set(product(range(37), range(12)))


def test_shifted_blocks_have_the_same_valid_lanes() -> None:
    found = written(
        "%s = tile.shift %i by %two : !tile.range<b0=8>\n " + store(BLOCK, "%s, %j", "b0=8 x b1=3 x "), rows=37
    )
    assert together(found, (40, 12)) == set(product(range(2, 39), range(12)))


def test_numbers_that_fall() -> None:
    found = written("%nine = arith.constant 9 : index\n %o = arith.subi %nine, %id : index\n " + store(FLAT, "%o", ""))
    assert set(elements(found.parts[0].boxes)) == {(9,), (8,), (7,), (6,), (5,)} and found.again


def test_blocks_that_overlap_write_again() -> None:
    """Blocks of 8 at every 4th row."""
    found = written(
        "%four = arith.constant -4 : index\n %o = arith.muli %id, %four : index\n"
        " %s = tile.shift %i by %o : !tile.range<b0=8>\n " + store(BLOCK, "%s, %j", "b0=8 x b1=3 x "),
        rows=16,
    )
    assert together(found, (40, 12)) == set(product(range(12), range(12)))
    rows = elements(found.parts[0].boxes)
    assert found.parts[0].again or max(rows.values()) > 1


UNSURE = {
    "masked": (
        "%m = tile.full true : !tile.tile<b0=8 x i1>\n %v = tile.full 1.0 : !tile.tile<b0=8 x f32>\n"
        " tile.store %v, %y[%i] mask %m : !tile.tile<b0=8 x f32>, memref<40xf32>",
        "is masked",
    ),
    "under a condition": (f"scf.if %c {{\n {store(FLAT, '%i', 'b0=8 x ')}\n }}", "is under a condition"),
    "computed rows": (
        "%l = tile.full 3 : !tile.tile<b0=8 x i32>\n " + store(FLAT, "%l", "b0=8 x "),
        "writes rows picked by computed numbers",
    ),
    "a number from outside": (store(FLAT, "%n", ""), "is indexed by what is only known when running"),
    "any number of visits": (
        f"tile.for %k: b2=4 in (0, %n) {{\n {store(FLAT, '%i', 'b0=8 x ')}\n }}",
        "is in a loop that may have no visits",
    ),
    "no visits": (
        f"tile.for %k: b2=4 in (4, 4) {{\n {store(FLAT, '%i', 'b0=8 x ')}\n }}",
        "is in a loop of no visits",
    ),
    "first and last": (
        f"tile.when first(%j) {{\n tile.when last(%j) {{\n {store(FLAT, '%i', 'b0=8 x ')}\n }}\n }}",
        "is in visits that cannot be first and last",
    ),
}


@pytest.mark.parametrize(("body", "reason"), UNSURE.values(), ids=UNSURE)
def test_why_it_is_not_known(body: str, reason: str) -> None:
    with pytest.raises(Unsure) as caught:
        written(body)
    assert str(caught.value) == reason
