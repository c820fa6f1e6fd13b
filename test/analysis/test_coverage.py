"""What `kopt.analysis.coverage` claims of grids, against tables and against runs that count every write."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import kopt
from kopt.analysis.coverage import Coverage, coverage, stays_inside, unspecified, written_boxes
from kopt.dialects.tile import GridOp, StoreOp, array_type
from kopt.errors import KoptError
from kopt.ir.from_ssa import IndexAnalysis
from test.named import named, only

from .coverage_oracle import times_written

ONCE, ALL, UNKNOWN = Coverage.ONCE, Coverage.ALL, Coverage.UNKNOWN

PRELUDE = """
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c7 = arith.constant 7 : index
    %c92 = arith.constant 92 : index
    %true = tile.full true : !tile.tile<b0=8 x i1>
"""


def module(shape: str, grid: str, body: str) -> ModuleOp:
    """A kernel that stores into ``%x`` of a shape."""
    return kopt.parse(f"""
func.func @f(%x: memref<{shape}xf32>, %n: memref<4xi32>) {{
  tile.grid {grid} {{
    {PRELUDE if "b0=8" in grid else PRELUDE.replace("%true", "%t0 = tile.full 0.0 : !tile.tile<f32>  //")}
    %one = tile.full 1.0 : !tile.tile<f32>
    {body}
  }}
  func.return
}}""")


def verdict(given: ModuleOp):
    """The verdict on the first argument of the module's only grid."""
    func = next(op for op in given.ops if isinstance(op, FuncOp))
    grid = next(op for op in given.walk() if isinstance(op, GridOp))
    return coverage(func.body.block.args[0], grid)


def store(entries: str, dims: str, shape: str, name: str = "v", rest: str = "") -> str:
    """A store of ones at an index list, of a block of the given dimensions."""
    tile = f"!tile.tile<{dims + ' x ' if dims else ''}f32>"
    value = f"%{name} = tile.full 1.0 : {tile}"
    return f"{value}\n    tile.store %{name}, %x[{entries}]{rest} : {tile}, memref<{shape}xf32>"


MIXED_ROWS = (
    "%r = tile.id %i : !tile.range<b0=1>\n%s = arith.muli %r, %c3 : index\n"
    "%c8 = arith.constant 8 : index\n%t = arith.remsi %s, %c8 : index\n"
)
SHIFTED_LOOP = (
    "%s = tile.shift %i by %c4 : !tile.range<b0=8>\n"
    "%lo = tile.begin %s : !tile.range<b0=8>\n%hi = tile.end %s : !tile.range<b0=8>\n"
    "tile.for %k: b1=4 in (%lo, %hi) {\n" + store("%k", "b1=4", "100") + "\n}\n"
)


#: (name, shape, grid, body, what is claimed)
CASES = [
    ("blocks", "96", "(%i: b0=8) in (96)", store("%i", "b0=8", "96"), ONCE),
    ("ragged", "100", "(%i: b0=8) in (100)", store("%i", "b0=8", "100"), ONCE),
    ("one block larger than the array", "5", "(%i: b0=8) in (5)", store("%i", "b0=8", "5"), ONCE),
    ("ends early", "100", "(%i: b0=8) in (99)", store("%i", "b0=8", "100"), UNKNOWN),
    ("starts late", "100", "(%i: b0=8) in (1 to 100)", store("%i", "b0=8", "100"), UNKNOWN),
    ("no cells", "100", "(%i: b0=8) in (0)", store("%i", "b0=8", "100"), UNKNOWN),
    ("no elements", "0x4", "(%i: b0=8) in (0)", store("%i, :", "b0=8 x 4", "0x4"), ONCE),
    ("rows and all", "100x7", "(%i: b0=8) in (100)", store("%i, :", "b0=8 x 7", "100x7"), ONCE),
    ("rows and a slice", "100x7", "(%i: b0=8) in (100)", store("%i, 0:6", "b0=8 x 6", "100x7"), UNKNOWN),
    ("permuted", "7x100", "(%i: b0=8, %j: b1=4) in (100, 7)", store("%j, %i", "b1=4 x b0=8", "7x100"), ONCE),
    ("diagonal", "100x100", "(%i: b0=8) in (100)", store("%i, %i", "b0=8 x b0=8", "100x100"), UNKNOWN),
    ("one block on its diagonal", "8x8", "(%i: b0=8) in (8)", store("%i, %i", "b0=8 x b0=8", "8x8"), ONCE),
    ("an idle dimension", "100", "(%i: b0=8, %j: b1=4) in (100, 8)", store("%i", "b0=8", "100"), ALL),
    ("an idle dimension of one cell", "100", "(%i: b0=8, %j: b1=4) in (100, 4)", store("%i", "b0=8", "100"), ONCE),
    ("stored twice", "100", "(%i: b0=8) in (100)",
     store("%i", "b0=8", "100") + "\n" + store("%i", "b0=8", "100", "w"), ALL),
    ("masked", "96", "(%i: b0=8) in (96)", store("%i", "b0=8", "96", rest=" mask %true"), UNKNOWN),
    ("scalars", "12", "(%i: b0=1) in (12)",
     "%r = tile.id %i : !tile.range<b0=1>\n" + store("%r", "", "12"), ONCE),
    ("even scalars", "12", "(%i: b0=1) in (6)",
     "%r = tile.id %i : !tile.range<b0=1>\n%s = arith.muli %r, %c2 : index\n" + store("%s", "", "12"), UNKNOWN),
    ("even and odd scalars", "12", "(%i: b0=1) in (6)",
     "%r = tile.id %i : !tile.range<b0=1>\n%s = arith.muli %r, %c2 : index\n%t = arith.addi %s, %c1 : index\n"
     + store("%s", "", "12") + "\n" + store("%t", "", "12", "w"), ONCE),
    ("reversed scalars", "8", "(%i: b0=1) in (8)",
     "%r = tile.id %i : !tile.range<b0=1>\n%s = arith.subi %c7, %r : index\n" + store("%s", "", "8"), ONCE),
    ("quotient and remainder", "4x2", "(%i: b0=1) in (8)",
     "%r = tile.id %i : !tile.range<b0=1>\n%s = arith.floordivsi %r, %c2 : index\n%t = arith.remsi %r, %c2 : index\n"
     + store("%s, %t", "", "4x2"), ONCE),
    ("quotient and wrong remainder", "4x2", "(%i: b0=1) in (8)",
     "%r = tile.id %i : !tile.range<b0=1>\n%s = arith.floordivsi %r, %c2 : index\n%t = arith.remsi %s, %c2 : index\n"
     + store("%s, %t", "", "4x2"), UNKNOWN),
    ("loaded scalars", "8", "(%i: b0=1) in (8)",
     "%q = tile.load %n[0] : memref<4xi32> -> !tile.tile<i32>\n%r = tile.extract %q : !tile.tile<i32> to index\n"
     + store("%r", "", "8"), UNKNOWN),
    ("constants that cover", "2x100", "(%i: b0=8) in (100)",
     store("0, %i", "b0=8", "2x100") + "\n" + store("1, %i", "b0=8", "2x100", "w"), ONCE),
    ("constants that do not", "3x100", "(%i: b0=8) in (100)",
     store("0, %i", "b0=8", "3x100") + "\n" + store("2, %i", "b0=8", "3x100", "w"), UNKNOWN),
    ("slices that tile", "10x96", "(%i: b0=8) in (96)",
     store("0:4, %i", "4 x b0=8", "10x96") + "\n" + store("4:10, %i", "6 x b0=8", "10x96", "w"), ONCE),
    ("slices that overlap", "10x96", "(%i: b0=8) in (96)",
     store("0:6, %i", "6 x b0=8", "10x96") + "\n" + store("4:10, %i", "6 x b0=8", "10x96", "w"), ALL),
    ("slices that tile, in an idle dimension", "10x96", "(%i: b0=8, %j: b1=4) in (96, 8)",
     store("0:4, %i", "4 x b0=8", "10x96") + "\n" + store("4:10, %i", "6 x b0=8", "10x96", "w"), ALL),
    ("slices that tile by rows and by columns", "10x12", "(%i: b0=8) in (8)",
     store("0:4, :", "4 x 12", "10x12") + "\n" + store("4:10, 0:5", "6 x 5", "10x12", "w")
     + "\n" + store("4:10, 5:12", "6 x 7", "10x12", "z"), ONCE),
    ("rows in another order, two columns", "8x2", "(%i: b0=1) in (8)", MIXED_ROWS
     + store("%t, 0", "", "8x2") + "\n" + store("%t, 1", "", "8x2", "w"), ONCE),
    ("rows in another order, a column twice", "8x2", "(%i: b0=1) in (8)", MIXED_ROWS
     + store("%t, 0", "", "8x2") + "\n" + store("%t, 0", "", "8x2", "w"), UNKNOWN),
    ("an update", "96", "(%i: b0=8) in (96)",
     "%v = tile.full 1.0 : !tile.tile<b0=8 x f32>\natomic.rmw add %v, %x[%i] : !tile.tile<b0=8 x f32>, memref<96xf32>",
     UNKNOWN),
    ("slices with steps that tile", "10x96", "(%i: b0=8) in (96)",
     store("0:10:2, %i", "5 x b0=8", "10x96") + "\n" + store("1:10:2, %i", "5 x b0=8", "10x96", "w"), ONCE),
    ("a shifted half and a half", "16", "(%i: b0=8) in (8)",
     "%c8 = arith.constant 8 : index\n%s = tile.shift %i by %c8 : !tile.range<b0=8>\n"
     + store("%i", "b0=8", "16") + "\n" + store("%s", "b0=8", "16", "w"), ONCE),
    ("reversed blocks", "96", "(%i: b0=8) in (96)",
     """%r = tile.id %i : !tile.range<b0=8>
    %e = arith.addi %r, %c1 : index
    %c8 = arith.constant 8 : index
    %m = arith.muli %e, %c8 : index
    %c96 = arith.constant 96 : index
    %b = arith.subi %c96, %m : index
    %f = tile.begin %i : !tile.range<b0=8>
    %o = arith.subi %b, %f : index
    %s = tile.shift %i by %o : !tile.range<b0=8>
    """ + store("%s", "b0=8", "96"), ONCE),
    ("a loop over the grid's block", "100", "(%i: b0=32) in (100)",
     "%lo = tile.begin %i : !tile.range<b0=32>\n%hi = tile.end %i : !tile.range<b0=32>\n"
     "tile.for %k: b1=12 in (%lo, %hi) {\n" + store("%k", "b1=12", "100") + "\n}", ONCE),
    ("a loop over the grid's block, shifted", "100", "(%i: b0=8) in (96)",
     SHIFTED_LOOP + store("0:4", "4", "100", "w"), ALL),
    ("a loop over the grid's block, shifted away", "100", "(%i: b0=8) in (96)",
     SHIFTED_LOOP + store("96:100", "4", "100", "w"), UNKNOWN),
    ("a loop over the grid's block, shifted beyond", "96", "(%i: b0=8) in (96)",
     SHIFTED_LOOP.replace("<100", "<96"), UNKNOWN),
    ("a loop over numbers", "4x100", "(%i: b0=2) in (4)",
     "tile.for %k: b1=12 in (0, 100) {\n" + store("%i, %k", "b0=2 x b1=12", "4x100") + "\n}", ONCE),
    ("a loop that leaves out", "4x100", "(%i: b0=2) in (4)",
     "tile.for %k: b1=12 in (0, 99) {\n" + store("%i, %k", "b0=2 x b1=12", "4x100") + "\n}", UNKNOWN),
    ("an idle loop of no visits", "4", "(%i: b0=2) in (4)",
     "tile.for %k: b1=12 in (5, 5) {\n" + store("%i", "b0=2", "4") + "\n}", UNKNOWN),
    ("an idle loop", "4", "(%i: b0=2) in (4)",
     "tile.for %k: b1=12 in (0, 100) {\n" + store("%i", "b0=2", "4") + "\n}", ALL),
    ("the last visit of an idle loop", "4", "(%i: b0=2) in (4)",
     "tile.for %k: b1=12 in (0, 100) {\ntile.when last(%k) {\n" + store("%i", "b0=2", "4") + "\n}\n}", ONCE),
    ("a last visit of a loop that moves it", "100", "(%i: b0=8) in (100)",
     "tile.when last(%i) {\n" + store("%i", "b0=8", "100") + "\n}", UNKNOWN),
    ("a condition", "100", "(%i: b0=8) in (100)",
     "%r = tile.id %i : !tile.range<b0=8>\n%b = arith.cmpi slt, %r, %c7 : index\nscf.if %b {\n"
     + store("%i", "b0=8", "100") + "\n}", UNKNOWN),
    ("computed rows", "100", "(%i: b0=8) in (100)",
     "%g = tile.index %i : !tile.range<b0=8>\n%h = tile.mul %g, %g : !tile.tile<b0=8 x i32>\n"
     + store("%h", "b0=8", "100"), UNKNOWN),
    ("lane numbers", "100", "(%i: b0=8) in (100)",
     "%g = tile.index %i : !tile.range<b0=8>\n" + store("%g", "b0=8", "100"), ONCE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shape", "grid", "body", "claimed"), CASES, ids=[case[0] for case in CASES])
def test_claims(name: str, shape: str, grid: str, body: str, claimed: Coverage) -> None:
    given = module(shape, grid, body)
    found = verdict(given)
    assert found.coverage is claimed, found.reason
    assert bool(found.reason) == (claimed is UNKNOWN)


@pytest.mark.parametrize(
    "body",
    [
        store("%i, :", "b0=8 x 3", "96x3"),
        store("%i, 0:1", "b0=8 x 1", "96x3") + store("%i, 1:3", "b0=8 x 2", "96x3", "w"),
    ],
    ids=["one store", "two"],
)
def test_nothing_is_claimed_of_too_many_pieces(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = module("96x3", "(%i: b0=8) in (96)", body)
    assert verdict(given).coverage is ONCE
    monkeypatch.setattr("kopt.analysis.boxes.LIMIT", 0)
    found = verdict(given)
    assert found.coverage is UNKNOWN and found.reason.endswith("leaves out elements")


@pytest.mark.parametrize(
    ("shape", "grid", "body", "reason"),
    [
        ("100", "(%i: b0=8) in (99)", store("%i", "b0=8", "100"), "leaves out element [99]"),
        ("96", "(%i: b0=8) in (96)", store("%i", "b0=8", "96", rest=" mask %true"), "is masked"),
        ("9", "(%i: b0=1) in (9)", "", "nothing is stored into it"),
        (
            "3x100",
            "(%i: b0=8) in (100)",
            store("0, %i", "b0=8", "3x100") + store("2, %i", "b0=8", "3x100", "w"),
            "leaves out element [1, 0]",
        ),
        (
            "100x3",
            "(%i: b0=8) in (100)",
            store("%i, 0", "b0=8", "100x3") + store("%i, 2", "b0=8", "100x3", "w"),
            "leaves out element [0, 1]",
        ),
        (
            "96",
            "(%i: b0=8) in (96)",
            "%v = tile.full 1.0 : !tile.tile<b0=8 x f32>\n"
            "atomic.rmw add %v, %x[%i] : !tile.tile<b0=8 x f32>, memref<96xf32>",
            "updates elements that it reads",
        ),
    ],
)
def test_reasons(shape: str, grid: str, body: str, reason: str) -> None:
    found = verdict(module(shape, grid, body))
    assert found.reason.endswith(reason)
    assert (found.blame is not None) == bool(body)


@pytest.mark.parametrize(
    ("shape", "body", "written"),
    [
        ("96", store("%i", "b0=8", "96"), [[[(0, 96)]]]),
        ("100", store("%i", "b0=8", "100"), [[[(0, 96)]]]),
        ("10x96", store("0:4, %i", "4 x b0=8", "10x96"), [[[(0, 4), (0, 96)]]]),
        ("96x3", store("%i, 0", "b0=8", "96x3") + store("%i, 2", "b0=8", "96x3", "w"),
         [[[(0, 96), (0, 1)]], [[(0, 96), (2, 3)]]]),
        ("96", store("%i", "b0=8", "96", rest=" mask %true"), []),
        ("96", "", []),
    ],
)  # fmt: skip
def test_elements_that_are_surely_written(shape: str, body: str, written: list) -> None:
    """Of each store; of all together where nothing is left out."""
    given = module(shape, "(%i: b0=8) in (96)", body)
    found = written_boxes(only(given, FuncOp).body.block.args[0], only(given, GridOp))
    assert [
        [list(zip(*box, strict=True)) for box in zip(boxes.lower.tolist(), boxes.upper.tolist(), strict=True)]
        for boxes in found
    ] == written


def test_arrays_without_elements_of_a_meaning() -> None:
    made = named(
        kopt.parse("""
    func.func @f(%x: memref<8xf32>) {
      %new = host.alloc : memref<8xf32>
      %filled = host.alloc fill 0.0 : memref<8xf32>
      %view = host.reshape %new : memref<8xf32> to memref<2x4xf32>
      func.return
    }""")
    )
    assert {name for name in ("x", "new", "filled", "view") if unspecified(made[name])} == {"new"}


@pytest.mark.parametrize(
    ("entry", "extent", "inside"),
    [("%i", "?", True), ("%s", "?", False), ("%i", 64, False)],
)
def test_lanes_beyond_an_open_extent(entry: str, extent: str | int, inside: bool) -> None:
    """They are beyond an array of that extent, where the block is not shifted."""
    given = kopt.parse(f"""
    func.func @f(%x: memref<{extent}xf32>, %y: memref<?xf32>) {{
      %m = tile.dim %{"x" if extent == "?" else "y"} 0 : memref<?xf32>
      tile.grid (%i: b0=8) in (%m) {{
        %c1 = arith.constant 1 : index
        %s = tile.shift %i by %c1 : !tile.range<b0=8>
        {store(entry, "b0=8", str(extent))}
      }}
      func.return
    }}""")
    written = only(given, StoreOp)
    assert stays_inside(written.entries[0], array_type(written.memory).get_shape()[0], IndexAnalysis()) is inside


# Random kernels against runs.

BLOCKS = st.integers(1, 5)


@st.composite
def kernels(draw: st.DrawFn) -> tuple[str, str, str]:
    """A shape of two dimensions, a grid of two ranges, and one to three stores of random entries."""
    sizes = [draw(BLOCKS), draw(BLOCKS)]
    extents = [draw(st.integers(0, 9)), draw(st.integers(0, 9))]
    lowers = [draw(st.sampled_from([0, 0, 0, 0, 1, 2])) for _ in extents]
    extents = [max(extent, lower) for extent, lower in zip(extents, lowers, strict=True)]
    shape = [max(1, extent + draw(st.sampled_from([0, 0, 0, 0, -1, 1]))) for extent in extents]
    grid = f"(%i: a={sizes[0]}, %j: b={sizes[1]}) in ({lowers[0]} to {extents[0]}, {lowers[1]} to {extents[1]})"
    lines: list[str] = []
    for number in range(draw(st.integers(1, 3))):
        lines += _random_store(draw, number, sizes, shape)
    return "x".join(map(str, shape)), grid, "\n".join(lines)


def _random_store(draw: st.DrawFn, number: int, sizes: list[int], shape: list[int]) -> list[str]:
    lines: list[str] = []
    entries, dims = [], []
    for place in range(2):
        entry, dim, made = _random_entry(draw, place, f"{number}_{place}", sizes, shape[place])
        lines += made
        entries.append(entry)
        dims += [dim] if dim else []
    line = store(", ".join(entries), " x ".join(dims), "x".join(map(str, shape)), f"s{number}")
    wrap = draw(st.sampled_from(["", "", "", "tile.when last(%i) {", "tile.when first(%j) {"]))
    return [*lines, wrap, line, "}" if wrap else ""]


def _random_entry(draw: st.DrawFn, place: int, name: str, sizes: list[int], extent: int) -> tuple[str, str, list[str]]:
    which = draw(st.sampled_from([place, place, place, 1 - place]))
    axis, size = "ij"[which], sizes[which]
    type = f"!tile.range<{'ab'[which]}={size}>"
    kind = draw(st.sampled_from(["range", "range", "range", "all", "slice", "constant", "affine", "shift", "reversed"]))
    if kind == "all":
        return ":", str(extent), []
    if kind == "slice":
        first, step = draw(st.integers(0, extent)), draw(st.integers(1, 2))
        last = draw(st.integers(first, extent))
        return f"{first}:{last}:{step}", str(len(range(first, last, step))), []
    if kind == "constant":
        return str(draw(st.integers(0, extent - 1))), "", []
    if kind == "range":
        return f"%{axis}", f"{'ab'[which]}={size}", []
    factor, offset = draw(st.sampled_from([-2, -1, 1, 2])), draw(st.integers(0, extent))
    made = [
        f"%n{name} = tile.{'begin' if kind == 'reversed' else 'id'} %{axis} : {type}",
        f"%f{name} = arith.constant {-2 if kind == 'reversed' else factor} : index",
        f"%o{name} = arith.constant {extent - size if kind == 'reversed' else offset} : index",
        f"%m{name} = arith.muli %n{name}, %f{name} : index",
        f"%t{name} = arith.addi %m{name}, %o{name} : index",
    ]
    if kind == "affine":
        return f"%t{name}", "", made
    made.append(f"%h{name} = tile.shift %{axis} by %t{name} : {type}")
    return f"%h{name}", f"{'ab'[which]}={size}", made


@settings(max_examples=150, deadline=None, derandomize=True)
@given(kernels())
def test_never_claims_what_a_run_denies(kernel: tuple[str, str, str]) -> None:
    given = module(*kernel)
    found = verdict(given)
    try:
        counts = times_written(given)
    except KoptError:
        assume(False)
        return
    fewest, most = int(counts.min(initial=1)), int(counts.max(initial=1))
    if found.coverage is ONCE:
        assert (fewest, most) == (1, 1)
    assert bool(found) == (fewest > 0), found.reason
    if (fewest, most) == (1, 1):
        assert found.coverage is ONCE


#: The grid's limit, the array's extent, what is stored at, and whether lanes beyond the limit are beyond the array.
ENDS = [
    (95, 95, "%i", True),
    (95, 96, "%i", False),
    (95, 94, "%i", True),
    (96, 200, "%i", True),
    (95, 96, "%k", True),
    (95, 97, "%k", False),
    (95, 98, "%k", False),
    (95, 103, "%l", False),
    (95, 102, "%l", True),
]


@pytest.mark.parametrize(("limit", "extent", "entry", "inside"), ENDS)
def test_whether_lanes_beyond_a_range_are_beyond_the_array(limit, extent, entry, inside) -> None:
    shifts = "\n".join(f"%{n} = tile.shift %i by {by} : !tile.range<b0=8>" for n, by in [("k", "%c1"), ("l", "%c7")])
    grid = f"(%i: b0=8) in ({limit})"
    given = module(str(extent), grid, f"{shifts}\n{store(entry, 'b0=8', str(extent))}")
    (written,) = [op for op in given.walk() if isinstance(op, StoreOp)]
    assert stays_inside(written.entries[0], extent, IndexAnalysis()) == inside


@pytest.mark.parametrize(
    ("shift", "extent", "inside"),
    [(None, 95, True), (None, 96, False), ("%below", 95, False)],
)
def test_parts_of_a_shifted_block(shift: str | None, extent: int, inside: bool) -> None:
    """Lanes that a part of the last block lacks come behind the limit, which is shifted as the block is."""
    store_of_part = store("%k", "b1=2", str(extent))
    given = module(
        str(extent),
        "(%i: b0=8) in (95)",
        f"""%below = arith.constant -1 : index
    {f"%s = tile.shift %i by {shift} : !tile.range<b0=8>" if shift else ""}
    %lo = tile.begin %{"s" if shift else "i"} : !tile.range<b0=8>
    %hi = tile.end %{"s" if shift else "i"} : !tile.range<b0=8>
    tile.for %k: b1=2 in (%lo, %hi) {{
      {store_of_part}
    }}""",
    )
    (written,) = [op for op in given.walk() if isinstance(op, StoreOp)]
    assert stays_inside(written.entries[0], extent, IndexAnalysis()) == inside
