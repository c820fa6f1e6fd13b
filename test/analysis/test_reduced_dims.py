"""Row statistics that loops carry: which are better off with the dimension that was reduced, as one lane."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import bf16, f32

from kopt.analysis.reduced_dims import Rows, carried_rows, keeps, kept
from kopt.dialects.tile import DimAttr, ReshapeOp, TileType
from kopt.walk import walk
from test.analysis.one_launch import OneLaunch, one_launch

BLOCK, ROW, COLUMN = "!tile.tile<b0=8 x b1=128 x f32>", "!tile.tile<b0=8 x f32>", "!tile.tile<b0=8 x 1 x f32>"
MAXIMUM = "%m = tile.reduce max %v [1] : T\n%n = tile.maximum %a, %m : R\n"
SPREAD = f"%c = tile.reshape %n : {ROW} to {COLUMN}\n%w = tile.broadcast %c dims [0, 1] : {COLUMN} to T\n"


def kernel(visit: str, last: str = "n", before: str = "", behind: str = "") -> OneLaunch:
    """A kernel whose loop carries a row as ``%a``, from ``%top`` to ``%r``, and loads a block ``%v`` in each visit.

    ``T`` and ``R`` are the types of block and row; a row ``%b`` is loaded in front of the loop.
    """
    body = f"""%top = tile.full -inf : R
    %b = tile.load %bias[%i] : memref<64xf32> -> R
    {before}
    %r = tile.for %k: b1=128 in (0, 512) iter(%a = %top) -> ({ROW}) {{
      %v = tile.load %x[%i, %k] : memref<64x512xf32> -> T
      {visit}
      tile.yield %{last} : R
    }}
    {behind}"""
    body = body.replace("T\n", f"{BLOCK}\n").replace("R\n", f"{ROW}\n")
    return one_launch(body, writes="y o", x="64x512xf32", y="64x512xf32", bias="64xf32", o="64xf32")


def found(visit: str, last: str = "n", before: str = "", behind: str = "") -> list[Rows]:
    return list(carried_rows(kernel(visit, last, before, behind).launch))


def names(values) -> set[str]:
    return {str(value.name_hint) for value in values}


# The dimension.


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TileType([DimAttr(8, "b0")], f32), TileType([DimAttr(8, "b0"), DimAttr(1)], f32)),
        (TileType([DimAttr(4), DimAttr(8, "b0")], bf16), TileType([DimAttr(4), DimAttr(8, "b0"), DimAttr(1)], bf16)),
        (TileType([DimAttr(1)], f32), TileType([DimAttr(1), DimAttr(1)], f32)),
        (TileType([], f32), TileType([DimAttr(1)], f32)),
    ],
)
def test_one_lane_comes_last(before: TileType, after: TileType) -> None:
    assert kept(before) == after


@pytest.mark.parametrize(
    ("type", "keeping"),
    [(COLUMN, True), ("!tile.tile<1 x b0=8 x f32>", False), ("!tile.tile<b0=8 x 1 x 1 x f32>", False)],
)
def test_reshapes_that_give_no_more_than_the_dimension(type: str, keeping: bool) -> None:
    values = kernel(f"%c = tile.reshape %a : {ROW} to {type}\n%n = tile.neg %a : R\n").values
    assert keeps(values["c"].owner, values["a"]) is keeping
    assert not keeps(values["n"].owner, values["a"])


# What is found.


def test_a_running_maximum_that_is_spread_along_lanes() -> None:
    behind = f"tile.store %r, %o[%i] : {ROW}, memref<64xf32>"
    one = kernel(MAXIMUM + SPREAD, behind=behind)
    (rows,) = carried_rows(one.launch)
    assert names(rows.values) == {"top", "a", "m", "n", "r"} and names(rows.given) == {"m"}
    users = {name: {use.operation.name for use in rows.taken(one.values[name])} for name in names(rows.values)}
    assert users == {"top": set(), "a": set(), "m": set(), "n": {"tile.reshape"}, "r": {"tile.store"}}


PAYS = {
    "spread as well": (MAXIMUM + SPREAD, set("amnr")),
    "added up alone": ("%m = tile.reduce add %v [1] : T\n%n = tile.add %a, %m : R\n", set("amnr")),
    "two reductions": (
        "%m = tile.reduce max %v [1] : T\n%l = tile.reduce add %v [1] : T\n%s = tile.add %m, %l : R\n"
        "%n = tile.maximum %a, %s : R\n",
        set("amlsnr"),
    ),
    "beside a row from outside": (
        "%m = tile.reduce max %v [1] : T\n%s = tile.mul %m, %b : R\n%n = tile.add %a, %s : R\n",
        set("ambsnr"),
    ),
    "beside a constant that others take": (
        MAXIMUM + f"tile.store %top, %o[%i] : {ROW}, memref<64xf32>\n",
        set("amnr"),
    ),
    "selected by comparing rows": (
        "%m = tile.reduce max %v [1] : T\n%c = tile.lt %a, %m : R\n%n = tile.select %c, %m, %a : R\n",
        set("amcnr"),
    ),
    "in a branch": (
        f"""%m = tile.reduce max %v [1] : T
        %id = tile.id %k : !tile.range<b1=128>
        %zero = arith.constant 0 : index
        %first = arith.cmpi eq, %id, %zero : index
        %n = scf.if %first -> ({ROW}) {{
          scf.yield %m : R
        }} else {{
          %s = tile.maximum %a, %m : R
          scf.yield %s : R
        }}
        """,
        set("amsnr"),
    ),
}


@pytest.mark.parametrize(("visit", "values"), PAYS.values(), ids=PAYS)
def test_what_is_better_off(visit: str, values: set[str]) -> None:
    assert [names(rows.values) - {"top"} for rows in found(visit)] == [values]


LOAD = "%d = tile.load %bias[%i] : memref<64xf32> -> R\n"
STAYS = {
    "rows that memory has, in the loop": LOAD + "%m = tile.reduce max %v [1] : T\n%s = tile.mul %m, %d : R\n"
    "%n = tile.add %a, %s : R\n",
    "stored at each visit": MAXIMUM + f"tile.store %n, %o[%i] : {ROW}, memref<64xf32>\n",
    "spread from lanes": MAXIMUM + f"%w = tile.broadcast %n dims [0] : {ROW} to T\n",
    "not carried": "%m = tile.reduce max %v [1] : T\n" + SPREAD.replace("%n", "%m") + "%n = tile.neg %a : R\n",
    "of no reduction": LOAD + "%n = tile.add %a, %d : R\n" + SPREAD,
    "along rows": "%m = tile.reduce max %v [0] : T\n%n = tile.neg %a : R\n",
    "of a dimension and lanes": "%m = tile.reduce max %v [0, 1] : T\n%n = tile.neg %a : R\n",
}


@pytest.mark.parametrize("visit", STAYS.values(), ids=STAYS)
def test_what_stays_in_lanes(visit: str) -> None:
    assert found(visit) == []


def test_reductions_in_front_of_a_loop() -> None:
    """What is reduced once is spread once."""
    before = "%u = tile.load %x[%i, 0:128] : memref<64x512xf32> -> !tile.tile<b0=8 x 128 x f32>\n"
    before += "%m = tile.reduce max %u [1] : !tile.tile<b0=8 x 128 x f32>\n"
    assert found("%n = tile.maximum %a, %m : R\n" + SPREAD, before=before) == []


def test_what_is_done_behind_the_loop_costs_one_relayout() -> None:
    behind = f"%t = tile.neg %r : R\ntile.store %t, %o[%i] : {ROW}, memref<64xf32>\n"
    (rows,) = found(MAXIMUM, behind=behind)
    assert names(rows.values) == {"top", "a", "m", "n", "r", "t"} and rows.pays


# Narrow elements are not reshaped.

NARROW = "!tile.tile<b0=8 x {0}>"


@pytest.mark.parametrize(("element", "count"), [("bf16", 0), ("f16", 0), ("i8", 0), ("f32", 1), ("i32", 1)])
def test_rows_that_leave_in_narrow_elements(element: str, count: int) -> None:
    """A cast to them is lane by lane; what takes it has it without the dimension."""
    type = NARROW.format(element)
    behind = f"%t = tile.cast %r : {ROW} to {type}\n%u = tile.reshape %t : {type} to !tile.tile<8 x 1 x {element}>\n"
    assert len(found(MAXIMUM + SPREAD, behind=behind)) == count


def test_conditions_on_rows_that_others_take() -> None:
    """None but those that choose among rows, which no reshape has to have."""
    condition = "%z = tile.lt %n, %m : R\n"
    assert len(found(MAXIMUM + SPREAD + condition)) == 1
    taken = f"%g = tile.reshape %z : {NARROW.format('i1')} to !tile.tile<b0=8 x 1 x i1>\n"
    assert found(MAXIMUM + SPREAD + condition + taken) == []


# Shapes.


@pytest.mark.parametrize(
    ("shape", "row", "dims", "count"),
    [
        ("b0=8 x 4 x 16", "b0=8 x 4", "[2]", 1),
        ("b0=8 x 4 x 16", "b0=8 x 16", "[1]", 0),
        ("b0=8 x 4 x 16", "b0=8", "[1, 2]", 0),
        ("b0=8 x 1", "b0=8", "[1]", 1),
        ("b0=8", "", "[0]", 0),
        ("1 x 16", "1", "[1]", 1),
    ],
)
def test_the_last_dimension_alone_and_not_the_only_one(shape: str, row: str, dims: str, count: int) -> None:
    block, rows = f"!tile.tile<{shape} x f32>", f"!tile.tile<{row}{' x ' * bool(row)}f32>"
    body = f"""%z = tile.full 0.0 : {rows}
    %v = tile.full 1.0 : {block}
    %r = tile.for %k: b1=2 in (0, 8) iter(%a = %z) -> ({rows}) {{
      %m = tile.reduce add %v {dims} : {block}
      %n = tile.add %a, %m : {rows}
      tile.yield %n : {rows}
    }}"""
    rows_found = [*carried_rows(one_launch(body, x="64x512xf32").launch)]
    assert [names(one.values) for one in rows_found] == [{"z", "a", "m", "n", "r"}] * count


def test_two_statistics_are_found_apart() -> None:
    body = f"""%z = tile.full 0.0 : {ROW}
    %r, %q = tile.for %k: b1=128 in (0, 512) iter(%a = %z, %b = %z) -> ({ROW}, {ROW}) {{
      %v = tile.load %x[%i, %k] : memref<64x512xf32> -> {BLOCK}
      %m = tile.reduce max %v [1] : {BLOCK}
      %n = tile.maximum %a, %m : {ROW}
      %l = tile.reduce add %v [1] : {BLOCK}
      %s = tile.add %b, %l : {ROW}
      tile.yield %n, %s : {ROW}, {ROW}
    }}"""
    rows = [names(one.values) for one in carried_rows(one_launch(body, x="64x512xf32").launch)]
    assert rows == [{"z", "a", "m", "n", "r"}, {"z", "b", "l", "s", "q"}]


def test_a_loop_without_a_range_carries_too() -> None:
    body = f"""%z = tile.full 0.0 : {ROW}
    %v = tile.load %x[%i, 0:128] : memref<64x512xf32> -> !tile.tile<b0=8 x 128 x f32>
    %go = arith.constant 1 : i1
    %r = tile.while %go iter(%a = %z) -> ({ROW}) {{
      %m = tile.reduce max %v [1] : !tile.tile<b0=8 x 128 x f32>
      %n = tile.maximum %a, %m : {ROW}
      tile.yield %go, %n : i1, {ROW}
    }}"""
    assert [names(one.values) for one in carried_rows(one_launch(body, x="64x512xf32").launch)] == [
        {"z", "a", "m", "n", "r"}
    ]


def test_constants_are_given_by_none() -> None:
    """Each use may have its own, with the dimension or without."""
    one = kernel(MAXIMUM + SPREAD, behind=f"tile.store %top, %o[%i] : {ROW}, memref<64xf32>")
    (rows,) = carried_rows(one.launch)
    assert "top" not in names(rows.given)
    assert [use.operation.name for use in rows.taken(one.values["top"])] == ["tile.store"]
    assert [op for op in walk(one.grid, ReshapeOp) if keeps(op, one.values["n"])] == [one["c"]]


OTHER = "%{0} = tile.load %bias[%i] : memref<64xf32> -> R\n".format
STORE = f"tile.store %{{0}}, %o[%i] : {ROW}, memref<64xf32>\n".format


def test_what_is_computed_behind_the_loop_of_other_rows_stays_in_lanes() -> None:
    """One relayout of what the loop gives, for those of two rows and of the result."""
    behind = OTHER("p") + OTHER("q") + "%s = tile.mul %r, %p : R\n%t = tile.add %s, %q : R\n" + STORE("t")
    (rows,) = found(MAXIMUM + SPREAD, behind=behind)
    assert names(rows.values) >= {"a", "n", "r"} and names(rows.values).isdisjoint({"p", "q", "s", "t"})
    assert names(value for value in rows.values if rows.taken(value)) >= {"r"}


def test_what_is_computed_behind_the_loop_of_its_result_alone_keeps_the_dimension() -> None:
    """One relayout in either case."""
    (rows,) = found(MAXIMUM + SPREAD, behind="%s = tile.exp %r : R\n" + STORE("s"))
    assert names(rows.values) >= {"r", "s"}


def test_rows_that_a_later_loop_carries_on_keep_the_dimension() -> None:
    """However many others they are computed with in front of it."""
    later = f"""%u = tile.for %l: b2=128 in (0, 512) iter(%d = %t) -> ({ROW}) {{
      %e = tile.load %x[%i, %l] : memref<64x512xf32> -> !tile.tile<b0=8 x b2=128 x f32>
      %f = tile.reduce max %e [1] : !tile.tile<b0=8 x b2=128 x f32>
      %g = tile.maximum %d, %f : R
      tile.yield %g : R
    }}
    """
    behind = OTHER("p") + OTHER("q") + "%s = tile.mul %r, %p : R\n%t = tile.add %s, %q : R\n" + later + STORE("u")
    (rows,) = found(MAXIMUM + SPREAD, behind=behind)
    assert names(rows.values) >= {"r", "s", "t", "u"}
