"""In which order cells visit blocks, judged by going through them in Python."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from xdsl.dialects import scf
from xdsl.ir.affine import AffineMap

from kopt import parse
from kopt.analysis.revisit_order import CellVisits, Return, VisitGuard, bindings, fastest, grid_of, sources, tells_apart
from kopt.dialects.pallas import CallOp, WindowAttr
from kopt.dialects.tile import ForOp, GridOp, LoadOp
from kopt.errors import LoweringError
from kopt.walk import walk
from test.named import named, only

Cell = tuple[int, ...]
NAMES = "ijklmnopqrst"


def grid(*trips: int, size: int = 4, missing: int = 1) -> GridOp:
    """A grid of so many cells, the last block of each dimension with fewer lanes."""
    ranges = ", ".join(f"%{name}: b{number}={size}" for number, name in enumerate(NAMES[: len(trips)]))
    extents = ", ".join(str(size * number - missing) for number in trips)
    return only(parse(f"func.func @f() {{\ntile.grid ({ranges}) in ({extents}) {{\n}}\nfunc.return\n}}"), GridOp)


@pytest.mark.parametrize(
    "trips, last",
    [((3, 5), 1), ((3, 1), 0), ((1, 3, 1, 1), 1), ((1,), None), ((1, 1), None), ((2,), 0)],
)
def test_cells_follow_one_another_along_the_last_dimension_of_several(trips: Cell, last: int | None) -> None:
    assert fastest(grid(*trips)) == last


@pytest.mark.parametrize("trips", [(3, 5), (1, 4), (2, 1, 3), (1,), (7,)])
def test_cells_are_in_row_major_order(trips: Cell) -> None:
    visits = CellVisits(grid(*trips))
    assert visits.trips == trips
    assert visits.moving == tuple(number for number, cells in enumerate(trips) if cells > 1)
    assert visits.cells == tuple(product(*map(range, trips)))


@pytest.mark.parametrize("trips", [(1000, 1000), (3, 5000), (2, 3000, 2, 1), (50, 50, 50), (2,) * 12])
def test_of_many_cells_a_few_of_each_dimension_are_looked_at(trips: Cell) -> None:
    cells = CellVisits(grid(*trips)).cells
    kept = [sorted({cell[dim] for cell in cells}) for dim in range(len(trips))]
    assert cells == tuple(product(*kept))
    for numbers, count in zip(kept, trips, strict=True):
        assert numbers == list(range(len(numbers))) and min(count, 2) <= len(numbers) <= count
    assert len(cells) <= 2000 or all(len(numbers) <= 2 for numbers in kept)


MAPS = {
    "both": AffineMap.from_callable(lambda i, j: (i, j)),
    "outer": AffineMap.from_callable(lambda i, j: (i,)),
    "inner": AffineMap.from_callable(lambda i, j: (j,)),
    "none": AffineMap.from_callable(lambda i, j: (0 * i,)),
    "pairs": AffineMap.from_callable(lambda i, j: (i, j // 2)),
    "pairs of rows": AffineMap.from_callable(lambda i, j: (i // 2, j)),
    "two rows": AffineMap.from_callable(lambda i, j: (i // 2,)),
    "in turn": AffineMap.from_callable(lambda i, j: (i, j % 2)),
    "sum": AffineMap.from_callable(lambda i, j: (i + j,)),
    "row by row": AffineMap.from_callable(lambda i, j: (i * 3 + j,)),
    "shifted": AffineMap.from_callable(lambda i, j: (j + 1, i)),
}
SHAPES = [(4, 3), (4, 1), (1, 3), (1, 1), (2, 4)]


def numbers(index: AffineMap, cells: tuple[Cell, ...]) -> list[Cell]:
    """The block of each cell."""
    return [tuple(index.eval(list(cell), [])) for cell in cells]


def first_return(cells: tuple[Cell, ...], blocks: list[Cell]) -> Return | None:
    """The first cell whose block an earlier cell had, and the one before had not."""
    for at in range(1, len(cells)):
        seen = [number for number in range(at) if blocks[number] == blocks[at]]
        if seen and seen[-1] != at - 1:
            return Return(cells[seen[-1]], cells[seen[-1] + 1], cells[at])
    return None


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("trips", SHAPES, ids=str)
def test_blocks_of_windows(name: str, trips: Cell) -> None:
    index, cells = MAPS[name], tuple(product(*map(range, trips)))
    blocks = numbers(index, cells)
    window = WindowAttr([8] * len(index.results), index)
    visits = CellVisits(grid(*trips))
    assert list(visits.blocks(window)) == list(visits.numbered(index.results)) == list(zip(cells, blocks, strict=True))

    pairs = [(a, b) for a, b in combinations(range(len(cells)), 2) if blocks[a] == blocks[b]]
    differ = {dim for a, b in pairs for dim in range(len(trips)) if cells[a][dim] != cells[b][dim]}
    assert visits.shared(window) == visits.sharing(index.results) == differ

    back = first_return(cells, blocks)
    assert visits.come_back(window) == visits.come_back_to(index.results) == back

    used = sorted({dim for result in index.results for dim in result.used_dims()})
    alike = all(cells[a][dim] == cells[b][dim] for a, b in pairs for dim in used)
    assert tells_apart(visits.grid, index.results) is (back is None and alike)


def test_a_block_of_no_dimensions_is_one_that_all_cells_see() -> None:
    visits = CellVisits(grid(2, 3))
    assert [block for _, block in visits.numbered([])] == [()] * 6
    assert visits.come_back_to([]) is None and tells_apart(visits.grid, [])


@pytest.mark.parametrize(
    "before, again, outer",
    [((0, 2), (1, 0), 0), ((1, 0), (1, 2), 1), ((0, 1, 2), (0, 2, 0), 1)],
)
def test_the_dimension_that_brings_a_block_back(before: Cell, again: Cell, outer: int) -> None:
    assert Return(before, before, again).outer == outer


CALL = """
func.func @f(%x: memref<16xf32>) -> memref<16xf32> {{
  %new = pallas.call @f(%x) windows [<[8], (d0) -> (d0), vmem>, <[8], (d0) -> (d0), vmem>] semantics (parallel)
      aliases [-1] : (memref<16xf32>) -> (memref<16xf32>) {{
  ^bb0(%x_ref: !tile.ref<8 x f32, vmem>, %new_ref: !tile.ref<8 x f32, vmem>):
    {}
  }}
  func.return %new : memref<16xf32>
}}
"""


def test_a_call_has_a_grid() -> None:
    module = parse(CALL.format("tile.grid (%i: b0=8) in (16) {\n%n = arith.constant 3 : index\n}"))
    call = only(module, CallOp)
    assert grid_of(call) is CellVisits.of(call).grid is only(module, GridOp)
    assert CellVisits.of(call).cells == ((0,), (1,))


def test_a_call_without_a_grid_is_refused_at_its_place() -> None:
    call = only(parse(CALL.format("")), CallOp)
    with pytest.raises(LoweringError, match="the kernel has no grid") as found:
        grid_of(call)
    assert found.value.location is not None and found.value.location.line == 3


GUARDS = """
func.func @f(%x: memref<8xf32>, %c: i1) {{
  tile.grid (%i: b0=4, %j: b1=4, %one: b2=4) in (8, 8, 4) {{
    %n = tile.begin %i : !tile.range<b0=4>
    %shifted = tile.shift %i by %n : !tile.range<b0=4>
    tile.for %k: b3=4 in (0, 8) {{
      {}
    }}
  }}
  func.return
}}
"""
LOAD = "%v = tile.load %x[0] : memref<8xf32> -> !tile.tile<f32>"


@pytest.mark.parametrize(
    "lines, wanted",
    [
        (LOAD, []),
        (f"tile.when first(%i) {{\n{LOAD}\n}}", [("first", {0}, True)]),
        (f"tile.when last(%i, %j) {{\n{LOAD}\n}}", [("last", {0, 1}, True)]),
        (f"tile.when last(%j, %one) {{\n{LOAD}\n}}", [("last", {1}, True)]),
        (f"tile.when first(%one) {{\n{LOAD}\n}}", [("first", set(), True)]),
        (f"tile.when first(%k) {{\n{LOAD}\n}}", [("first", set(), False)]),
        (f"tile.when first(%i, %k) {{\n{LOAD}\n}}", [("first", {0}, False)]),
        (f"scf.if %c {{\n{LOAD}\n}}", [("other", set(), False)]),
        (
            f"tile.when first(%i) {{\ntile.for %l: b4=4 in (0, 8) {{\ntile.when last(%j) {{\n{LOAD}\n}}\n}}\n}}",
            [("last", {1}, True), ("first", {0}, True)],
        ),
    ],
)
def test_guards_from_the_innermost_outwards(lines: str, wanted: list[tuple[str, set[int], bool]]) -> None:
    module = parse(GUARDS.format(lines))
    found = CellVisits(only(module, GridOp)).guards(only(module, LoadOp))
    assert found == tuple(VisitGuard(visit, frozenset(dims), exact) for visit, dims, exact in wanted)


def test_dimensions_of_ranges() -> None:
    module = parse(GUARDS.format(LOAD))
    values, visits = named(module), CellVisits(only(module, GridOp))
    assert [visits.dimension(values[name]) for name in ("i", "j", "one", "shifted", "k")] == [0, 1, 2, 0, None]


SOURCES = """
func.func @f(%x: memref<8x8xf32>, %c: i1) {
  tile.grid (%i: b0=4, %j: b1=4) in (8, 8) {
    %n = tile.begin %i : !tile.range<b0=4>
    %e = tile.end %i : !tile.range<b0=4>
    %zero = tile.full 0.0 : !tile.tile<f32>
    %one = tile.full 1.0 : !tile.tile<f32>
    %row = tile.load %x[%n, 0] : memref<8x8xf32> -> !tile.tile<f32>
    %counted = tile.for %k: b2=2 in (%n, %e) iter(%a = %zero) -> (!tile.tile<f32>) {
      %more = tile.add %a, %one : !tile.tile<f32>
      tile.yield %more : !tile.tile<f32>
    }
    %summed = tile.for %l: b3=2 in (0, 8) iter(%b = %row) -> (!tile.tile<f32>) {
      %at = tile.begin %l : !tile.range<b3=2>
      %cell = tile.load %x[%at, 1] : memref<8x8xf32> -> !tile.tile<f32>
      %sum = tile.add %b, %cell : !tile.tile<f32>
      tile.yield %sum : !tile.tile<f32>
    }
    %chosen = scf.if %c -> (!tile.tile<f32>) {
      %m = tile.begin %j : !tile.range<b1=4>
      %column = tile.load %x[0, %m] : memref<8x8xf32> -> !tile.tile<f32>
      scf.yield %column : !tile.tile<f32>
    } else {
      scf.yield %zero : !tile.tile<f32>
    }
  }
  func.return
}
"""


@pytest.mark.parametrize(
    "name, through, without",
    [
        ("one", set(), set()),
        ("n", {"i"}, {"i"}),
        ("row", {"i", "x"}, {"i", "x"}),
        ("counted", {"i", "a"}, {"i", "a"}),
        ("more", {"a", "i"}, {"a"}),
        ("at", {"l", "i", "x"}, {"l"}),
        ("sum", {"b", "l", "i", "x"}, {"b", "l", "i", "x"}),
        ("chosen", {"c", "j", "x"}, {"c", "j", "x"}),
    ],
)
def test_bindings_with_bounds_and_without(name: str, through: set[str], without: set[str]) -> None:
    """``%more`` depends on the grid by the bounds of its loop alone, ``%at`` by what its loop is given."""
    values = named(parse(SOURCES))
    assert bindings([values[name]]) == {values[other] for other in through}
    assert sources(values[name])[1] == {values[other] for other in without}


def test_bindings_of_several_values_and_of_none() -> None:
    values = named(parse(SOURCES))
    assert bindings([]) == set()
    assert bindings([values["n"], values["m"], values["j"]]) == {values["i"], values["j"]}


def test_ops_through_loops_and_branches() -> None:
    module = parse(SOURCES)
    values = named(module)

    def owners(*names: str) -> set:
        return {values[name].owner for name in names}

    assert sources(values["one"])[0] == owners("one")
    assert sources(values["row"])[0] == owners("row", "n")
    loop = walk(module, ForOp)[1]
    assert sources(values["summed"])[0] == {*walk(loop), *owners("row", "n")}
    assert sources(values["sum"])[0] == owners("sum", "cell", "at", "row", "n")
    assert sources(values["chosen"])[0] == {*walk(only(module, scf.IfOp)), *owners("zero")}
