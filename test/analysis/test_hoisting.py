"""Which loop of a grid may become one of its dimensions, and when the ops around it run then."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.hoisting import HoistPlan, NotHoistable, hoistable, plan_hoist, walks_extent
from kopt.dialects.atomic import RmwOp
from kopt.dialects.tile import ForOp, GridOp, StoreOp
from test.named import only

X, ROWS, TILE = "memref<64x96xf32>", "memref<64xf32>", "!tile.tile<b0=16 x f32>"
WIDE = "!tile.tile<b0=16 x b1=32 x f32>"
TEXT = f"""
func.func @f(%x: {X}, %y: {ROWS}, %o: {ROWS}, %n: index) {{{{
  tile.grid (%i: b0=16) in ({{extent}}) {{{{
    %zero = tile.full 0.0 : {TILE}
    %first = tile.begin %i : !tile.range<b0=16>
    %end = tile.end %i : !tile.range<b0=16>
    {{before}}
    %r = tile.for %k: b1={{size}} in ({{lower}}, {{upper}}) iter(%a = {{init}}) -> ({TILE}) {{{{
      {{inside}}
      tile.yield %next : {TILE}
    }}}}
    {{after}}
  }}}}
  func.return
}}}}
"""
SUM = f"""
  %v = tile.load %x[%i, %k] : {X} -> {WIDE}
  %s = tile.reduce add %v [1] : {WIDE}
  %next = tile.add %a, %s : {TILE}
"""
STORE = f"tile.store %r, %o[%i] : {TILE}, {ROWS}\n"
UPDATE = f"%old = atomic.rmw add %zero, %y[%i] : {TILE}, {ROWS} -> {TILE}\n"
PARTS = {
    "extent": 64,
    "before": "",
    "size": 32,
    "lower": 0,
    "upper": 96,
    "init": "%zero",
    "inside": SUM,
    "after": STORE,
}


def grid(**parts: str | int) -> GridOp:
    """The grid of a sum of rows, some of its parts others."""
    return only(parse(TEXT.format(**PARTS | parts)), GridOp)


def phases(plan: HoistPlan) -> dict[str, str]:
    """When ops run: by the names of their results, stores by that of their memory."""
    signs = {StoreOp: ">", RmwOp: "+"}
    return {signs[type(op)] + str(op.memory.name_hint) if isinstance(op, StoreOp | RmwOp)
            else str(op.results[0].name_hint): phase for op, phase in plan.phases.items()}  # fmt: skip


def load(name: str, memory: str = "y") -> str:
    """A load of rows."""
    return f"%{name} = tile.load %{memory}[%i] : {ROWS} -> {TILE}\n"


def add(name: str, a: str, b: str) -> str:
    """A sum of rows."""
    return f"%{name} = tile.add %{a}, %{b} : {TILE}\n"


def store(value: str, memory: str) -> str:
    """A store of rows."""
    return f"tile.store %{value}, %{memory}[%i] : {TILE}, {ROWS}\n"


#: What is never used is in no hurry: it is no more than repeated.
UNUSED = {"first": "every", "end": "every"}


@pytest.mark.parametrize(
    "parts, wanted",
    [
        ({}, {"zero": "first", ">o": "last"}),
        (
            {"before": load("w") + add("start", "w", "zero"), "init": "%start"},
            {"zero": "first", "w": "first", "start": "first", ">o": "last"},
        ),
        (
            {"before": load("w"), "after": add("q", "r", "w") + store("q", "o")},
            {"zero": "first", "w": "last", "q": "last", ">o": "last"},
        ),
        (
            {"before": load("w"), "inside": SUM.replace("%a, %s", "%w, %s")},
            {"zero": "first", "w": "every", ">o": "last"},
        ),
        (
            {"before": load("w"), "init": "%w", "after": add("q", "r", "w") + store("q", "o")},
            {"zero": "every", "w": "every", "q": "last", ">o": "last"},
        ),
        (
            {"before": load("w") + add("d", "w", "w"), "inside": SUM.replace("%a, %s", "%d, %s")},
            {"zero": "first", "w": "every", "d": "every", ">o": "last"},
        ),
        ({"before": store("zero", "y")}, {"zero": "first", ">y": "first", ">o": "last"}),
        (
            {"before": UPDATE.replace("%old = ", "").replace(" -> " + TILE, "")},
            {"zero": "first", "+y": "first", ">o": "last"},
        ),
        (
            {"before": load("w"), "init": "%w", "after": STORE + store("r", "y")},
            {"zero": "every", "w": "first", ">o": "last", ">y": "last"},
        ),
    ],
)
def test_ops_run_when_they_are_needed(parts: dict[str, str], wanted: dict[str, str]) -> None:
    """First for the initial value and for a store before, last for the epilogue, always for the body or for several."""
    plan = plan_hoist(grid(**parts))
    assert plan.loop.range.name_hint == "k"
    assert phases(plan) == UNUSED | wanted


REFUSED = {
    "an unknown bound": ({"upper": "%n"}, "its bounds are not numbers"),
    "a bound of another kind": ({"lower": "%first", "upper": "96"}, "its bounds are not numbers"),
    "a block that is read and written": (
        {"after": store("r", "y"), "inside": load("w") + SUM},
        "it reads what the cell writes",
    ),
    "a block that is written before": (
        {"before": store("zero", "y") + load("w"), "init": "%w"},
        "it reads what it writes",
    ),
    "a block that is written before and after": (
        {"before": load("w") + store("zero", "y"), "init": "%w", "after": store("r", "y")},
        "it reads what it writes",
    ),
    "a block that is written inside": (
        {"before": load("w"), "init": "%w", "inside": SUM + store("s", "y")},
        "it reads what it writes",
    ),
    "a block that is updated": (
        {"before": load("w"), "init": "%w", "after": f"atomic.rmw add %r, %y[%i] : {TILE}, {ROWS}"},
        "it reads what it updates",
    ),
    "an update whose old value is needed": ({"before": UPDATE, "init": "%old"}, "each visit would repeat 'atomic.rmw'"),
    "an update whose old value the end needs": (
        {"before": UPDATE, "after": add("q", "r", "old") + store("q", "o")},
        "each visit would repeat 'atomic.rmw'",
    ),
    "a reduction again and again": (
        {
            "before": "%u = tile.load %x[%i, :] : memref<64x96xf32> -> !tile.tile<b0=16 x 96 x f32>\n"
            "%w = tile.reduce add %u [1] : !tile.tile<b0=16 x 96 x f32>",
            "inside": SUM.replace("%a, %s", "%w, %s"),
        },
        "each visit would repeat 'tile.reduce'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_loops_that_may_not(name: str) -> None:
    parts, message = REFUSED[name]
    for plan in (hoistable, plan_hoist):
        with pytest.raises(NotHoistable, match=message):
            plan(grid(**parts))


SECOND = "tile.for %l: b2=8 in (0, 16) {\n}\n"


@pytest.mark.parametrize("lines, loops", [("", 0), (SECOND, 1), (SECOND + SECOND.replace("b2", "b3"), 2)])
def test_a_body_has_one_loop(lines: str, loops: int) -> None:
    found = only(parse(f"func.func @f() {{\ntile.grid (%i: b0=8) in (64) {{\n{lines}\n}}\nfunc.return\n}}"), GridOp)
    if loops == 1:
        assert plan_hoist(found).loop is only(found, ForOp)
    else:
        with pytest.raises(NotHoistable, match=f"the grid's body has {loops} loops"):
            hoistable(found)


@pytest.mark.parametrize("type", ["4 x i1", "4 x f16", None])
def test_what_scratch_memory_cannot_carry(type: str | None) -> None:
    kind = "i32" if type is None else f"!tile.tile<{type}>"
    module = parse(f"""
    func.func @f(%z: {kind}) {{
      tile.grid (%i: b0=8) in (64) {{
        %r = tile.for %k: b1=8 in (0, 16) iter(%a = %z) -> ({kind}) {{
          tile.yield %a : {kind}
        }}
      }}
      func.return
    }}
    """)
    with pytest.raises(NotHoistable) as found:
        hoistable(only(module, GridOp))
    assert str(found.value) == f"it carries a value of type {kind}"


@pytest.mark.parametrize(
    "extent, size, lower, upper, reason",
    [
        (64, 32, 0, 96, None),
        (64, 32, 0, 65, None),
        (64, 32, 0, 33, None),
        (64, 32, 0, 32, "it has one visit only"),
        (64, 128, 0, 96, "it has one visit only"),
        (64, 32, 64, 96, "it has one visit only"),
        (64, 4, "%first", "%end", None),
        (64, 16, "%first", "%end", "it has one visit only"),
        (64, 5, "%first", "%end", "not all of its blocks are whole"),
        (60, 4, "%first", "%end", "not all of its blocks are whole"),
    ],
)
def test_sizes_decide_at_last(extent: int, size: int, lower: int | str, upper: int | str, reason: str | None) -> None:
    """While sizes are open, each of these may be hoisted."""
    inside = SUM.replace("b1=32", f"b1={size}")
    found = grid(extent=extent, size=size, lower=lower, upper=upper, inside=inside)
    loop = only(found, ForOp)
    assert hoistable(found).loop is loop
    if reason is None:
        assert plan_hoist(found).loop is loop
    else:
        with pytest.raises(NotHoistable) as refused:
            plan_hoist(found)
        assert str(refused.value) == reason


@pytest.mark.parametrize(
    "bounds, wanted",
    [("0, %m", True), ("1, %m", False), ("0, %n", False), ("0, 8", False), ("%n, %m", False)],
)
def test_loops_that_walk_an_extent(bounds: str, wanted: bool) -> None:
    module = parse(f"""
    func.func @f(%x: memref<?xf32>, %n: index) {{
      %m = tile.dim %x 0 : memref<?xf32>
      tile.grid (%i: b0=8) in (64) {{
        tile.for %k: b1=8 in ({bounds}) {{
        }}
      }}
      func.return
    }}""")
    assert walks_extent(only(module, ForOp)) is wanted
