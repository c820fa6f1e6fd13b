"""Values that have something in common because ops, loops and branches hand it on."""

from __future__ import annotations

import pytest
from xdsl.dialects import scf
from xdsl.ir import Operation, Use

from kopt.analysis.ties import Ties, carrying, in_loop
from kopt.dialects.tile import ELEMENTWISE, ForOp, SplatOp, StoreOp, WhileOp, YieldOp
from kopt.walk import walk
from test.analysis.one_launch import OneLaunch, one_launch

ROW = "!tile.tile<b0=8 x f32>"
ADD = ELEMENTWISE["add"]
#: Sums hand on, and what spreads a number would, if that were a tile.
TIES = Ties(lambda op: op.operands if isinstance(op, ADD | SplatOp) else ())


def kernel(lines: str) -> OneLaunch:
    """A kernel that has two loaded rows ``%v`` and ``%w``, and the constant ``%z``; ``R`` is the type of a row."""
    body = f"""%v = tile.load %x[%i] : memref<64xf32> -> R
    %w = tile.load %y[%i] : memref<64xf32> -> R
    %z = tile.full 0.0 : R
    %id = tile.id %i : !tile.range<b0=8>
    %four = arith.constant 4 : index
    %c = arith.cmpi slt, %id, %four : index
    {lines}"""
    return one_launch(body.replace("R\n", f"{ROW}\n"), writes="y", x="64xf32", y="64xf32")


def component(lines: str, first: str) -> set[str]:
    """The names of what is tied to a value."""
    found = kernel(lines)
    values = TIES.component(found.values[first])
    assert values[0] is found.values[first] and len(set(values)) == len(values)
    return {str(value.name_hint) for value in values}


LOOP = """%r, %q = tile.for %k: b1=2 in (0, {stop}) iter(%a = %v, %b = %w) -> (R, R) {{
      {body}
      tile.yield {yields} : R, R
    }}
""".replace("R", ROW)
WHILE = f"""%r = tile.while %c iter(%a = %v) -> ({ROW}) {{
      %s = tile.add %a, %a : {ROW}
      tile.yield %c, %s : i1, {ROW}
    }}
"""
BRANCH = """%r, %q = scf.if %c -> (R, R) {{
      scf.yield {yes} : R, R
    }} else {{
      scf.yield {no} : R, R
    }}
""".replace("R", ROW)
SUM, EXP = "%s = tile.add %v, %w : R\n", "%e = tile.exp %v : R\n"


@pytest.mark.parametrize("first", ["v", "w", "s"])
def test_an_op_ties_its_operands_to_its_result(first: str) -> None:
    assert component(SUM, first) == {"v", "w", "s"}


@pytest.mark.parametrize(
    ("lines", "first", "found"),
    [
        ("", "v", {"v"}),
        # Exponents hand on nothing: neither to what they are of, nor from it.
        (EXP, "v", {"v"}),
        (EXP, "e", {"e"}),
        (EXP + "%s = tile.add %e, %w : R\n", "w", {"w", "e", "s"}),
        # Along several ops, in either direction, and of one value twice.
        ("%s = tile.add %v, %v : R\n%t = tile.add %s, %v : R\n%u = tile.add %w, %t : R\n", "u", set("vstuw")),
        ("%s = tile.add %v, %v : R\n%t = tile.add %s, %v : R\n%u = tile.add %w, %t : R\n", "v", set("vstuw")),
        # What is no tile is left out.
        ("%n = arith.constant 2.0 : f32\n%o = tile.splat %n : f32 to R\n", "o", {"o"}),
    ],
)
def test_what_is_tied_to_a_value(lines: str, first: str, found: set[str]) -> None:
    assert component(lines, first) == found


def test_a_constant_is_tied_and_hands_on_nothing() -> None:
    lines = "%s = tile.add %v, %z : R\n%t = tile.add %z, %w : R\n"
    assert component(lines, "v") == {"v", "z", "s"}
    assert component(lines, "w") == {"w", "z", "t"}
    assert component(lines, "z") == {"z"}


@pytest.mark.parametrize("stop", [0, 2, 7, 8])
def test_a_loop_hands_on_what_it_carries(stop: int) -> None:
    """However often it runs: of no visit the result is what it starts with."""
    lines = LOOP.format(stop=stop, body="", yields="%a, %b")
    for first in ("v", "a", "r"):
        assert component(lines, first) == {"v", "a", "r"}
    for first in ("w", "b", "q"):
        assert component(lines, first) == {"w", "b", "q"}


@pytest.mark.parametrize(
    ("body", "yields", "found"),
    [
        ("", "%b, %a", set("vwabrq")),
        (f"%e = tile.exp %a : {ROW}", "%e, %b", set("vare")),
        (f"%s = tile.add %a, %b : {ROW}", "%s, %w", set("vwabsrq")),
        (f"%s = tile.add %a, %z : {ROW}", "%s, %z", set("varsz")),
        ("", "%z, %w", set("varz")),
    ],
)
def test_values_that_come_round(body: str, yields: str, found: set[str]) -> None:
    assert component(LOOP.format(stop=8, body=body, yields=yields), "r") == found


@pytest.mark.parametrize("first", ["v", "a", "s", "r"])
def test_a_loop_without_a_range_hands_on_too(first: str) -> None:
    """The number of what it carries is counted behind the condition."""
    assert component(WHILE, first) == set("vasr")


@pytest.mark.parametrize(
    ("yes", "no", "first", "found"),
    [
        ("%v, %w", "%v, %w", "v", {"v", "r"}),
        ("%v, %w", "%w, %v", "v", set("vwrq")),
        ("%v, %w", "%z, %w", "r", {"r", "v", "z"}),
        ("%v, %w", "%z, %z", "w", {"w", "q", "z"}),
    ],
)
def test_a_branch_hands_on_what_either_arm_yields(yes: str, no: str, first: str, found: set[str]) -> None:
    assert component(BRANCH.format(yes=yes, no=no), first) == found


# Uses.


def uses(lines: str, name: str, user: type[Operation]) -> tuple[OneLaunch, list[Use]]:
    found = kernel(lines)
    return found, [use for use in found.values[name].uses if isinstance(use.operation, user)]


@pytest.mark.parametrize(
    ("lines", "name", "user", "result"),
    [
        (SUM, "w", ADD, "s"),
        (EXP, "v", ELEMENTWISE["exp"], None),
        (f"tile.store %v, %y[%i] : {ROW}, memref<64xf32>\n", "v", StoreOp, None),
        (LOOP.format(stop=8, body="", yields="%a, %b"), "v", ForOp, "r"),
        (LOOP.format(stop=8, body="", yields="%a, %b"), "w", ForOp, "q"),
        (LOOP.format(stop=8, body="", yields="%b, %a"), "b", YieldOp, "r"),
        (LOOP.format(stop="%four", body="", yields="%a, %b"), "four", ForOp, None),
        (WHILE, "v", WhileOp, "r"),
        (WHILE, "s", YieldOp, "r"),
        (WHILE, "c", WhileOp, None),
        (WHILE, "c", YieldOp, None),
        (BRANCH.format(yes="%v, %w", no="%z, %z"), "w", scf.YieldOp, "q"),
        (BRANCH.format(yes="%v, %w", no="%z, %z"), "c", scf.IfOp, None),
    ],
)
def test_the_result_that_a_use_ties_to(lines: str, name: str, user: type[Operation], result: str | None) -> None:
    found, (use,) = uses(lines, name, user)
    assert TIES.result(use) is (None if result is None else found.values[result])


def test_what_is_made_of_others() -> None:
    lines = SUM + EXP + LOOP.format(stop=8, body="", yields="%a, %b")
    lines += BRANCH.format(yes="%v, %w", no="%z, %z").replace("%r, %q", "%f, %g")
    values = kernel(lines).values
    made = {
        name for name in ("v", "z", "s", "e", "a", "b", "k", "r", "q", "f", "g", "x", "i") if TIES.makes(values[name])
    }
    assert made == set("sabrqfg")


# Loops.


def test_the_loop_that_carries_a_value() -> None:
    found = kernel(LOOP.format(stop=8, body="%t = tile.exp %a : R", yields="%t, %b").replace(": R", f": {ROW}"))
    values, (loop,) = found.values, found.loops
    assert carrying(values["a"]) == carrying(values["b"]) == [loop]
    for name in ("k", "t", "r", "v", "i", "x"):
        assert carrying(values[name]) == []
    again = kernel(WHILE)
    assert carrying(again.values["a"]) == walk(again.grid, WhileOp) and carrying(again.values["s"]) == []


def test_what_runs_at_each_visit_of_a_loop() -> None:
    """Branches and conditions on visits are no loops; neither is a loop in itself, nor the grid."""
    found = kernel(f"""%outside = tile.exp %v : {ROW}
    scf.if %c {{
      %branch = tile.exp %v : {ROW}
      scf.yield
    }}
    tile.when first(%i) {{
      %visit = tile.exp %v : {ROW}
    }}
    tile.for %k: b1=8 in (0, 8) {{
      %once = tile.exp %v : {ROW}
      scf.if %c {{
        %deep = tile.exp %v : {ROW}
        scf.yield
      }}
      tile.for %l: b2=2 in (0, 8) {{
        %deeper = tile.exp %v : {ROW}
      }}
    }}
    {WHILE}""")
    assert {
        name for name in ("v", "outside", "branch", "visit", "once", "deep", "deeper", "s", "r") if in_loop(found[name])
    } == {
        "once",
        "deep",
        "deeper",
        "s",
    }
    assert [in_loop(loop) for loop in found.loops] == [False, True] and not in_loop(found.grid)
