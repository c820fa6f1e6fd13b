"""Bodies in which a product waits for what the vector unit makes of another product of the same visit."""

from __future__ import annotations

import pytest

from kopt.analysis.launch_models.chains import chained
from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.plans import GridNames
from test.analysis.one_launch import one_launch

TILE = "!tile.tile<b0=8 x 128 x f32>"
SQUARE = "!tile.tile<128 x 128 x f32>"
#: The type of a product: `tile.dot %q, %w : D`, of a row of blocks and a square.
DOT = f"{TILE}, {SQUARE} -> {TILE}"
FIRST, EXP, SECOND = "%s = tile.dot %q, %w : D\n", "%p = tile.exp %s : T\n", "%d = tile.dot %p, %w : D\n"


def paths(body: str) -> set[tuple[str, ...]]:
    """The paths of the bodies, in a kernel that has the factors ``%q`` and ``%w``."""
    text = f"""%q = tile.load %x[%i, :] : memref<64x128xf32> -> T
    %w = tile.load %y[:, :] : memref<128x128xf32> -> {SQUARE}
    %id = tile.id %i : !tile.range<b0=8>
    %four = arith.constant 4 : index
    %c = arith.cmpi slt, %id, %four : index
    {body}"""
    text = text.replace(": T\n", f": {TILE}\n").replace("-> T\n", f"-> {TILE}\n").replace(": D\n", f": {DOT}\n")
    grid = one_launch(text, x="64x128xf32", y="128x128xf32").grid
    return {*chained(Launch(grid, GridNames.of(grid)))}


def loop(body: str, tag: str = "b1") -> str:
    return f"tile.for %{tag}: {tag}=2 in (0, 8) {{\n{body}}}\n"


CHAINS = {
    "by way of an exponential": FIRST + EXP + SECOND,
    "by way of several ops": FIRST
    + "%a = tile.neg %s : T\n%b = tile.add %q, %a : T\n%p = tile.maximum %b, %q : T\n"
    + SECOND,
    "as the other factor": FIRST + f"%h = tile.reshape %s : {TILE} to !tile.tile<8 x 128 x f32>\n"
    "%t = tile.transpose %h [1, 0] : !tile.tile<8 x 128 x f32>\n"
    f"%d = tile.dot %q, %t : {TILE}, !tile.tile<128 x 8 x f32> -> !tile.tile<b0=8 x 8 x f32>\n",
    "through an accumulator": FIRST + "%a = tile.dot %q, %w, %s : D\n%p = tile.exp %a : T\n" + SECOND,
    "others between and behind": FIRST + "%o = tile.dot %q, %w : D\n" + EXP + SECOND + "%e = tile.dot %q, %w : D\n",
    "in the third product only": FIRST + "%o = tile.dot %q, %w : D\n%p = tile.exp %o : T\n" + SECOND,
}


@pytest.mark.parametrize("body", CHAINS.values(), ids=CHAINS)
def test_a_product_that_waits_for_another(body: str) -> None:
    """In a cell's body, or in that of a loop."""
    assert paths(body) == {("b0",)}
    assert paths(loop(body)) == {("b0", "b1")}
    assert paths(loop(loop(body, "b2"))) == {("b0", "b1", "b2")}


APART = {
    "nothing": "",
    "vector work alone": "%p = tile.exp %q : T\n",
    "one product": FIRST + EXP,
    "one product of what the vector unit makes": "%p = tile.exp %q : T\n" + SECOND,
    "two products": FIRST + "%d = tile.dot %q, %w : D\n",
    "a sum of products": FIRST + "%d = tile.dot %q, %w, %s : D\n",
    "an accumulator that waits": FIRST + EXP + "%d = tile.dot %q, %w, %p : D\n",
}


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_products_that_do_not_wait(body: str) -> None:
    """What is added up is needed last."""
    assert paths(body) == set() and paths(loop(body)) == set()


# Visits.


def test_another_body_is_another_visit() -> None:
    assert paths(FIRST + EXP + loop(SECOND)) == set()
    assert paths(FIRST + loop(EXP + SECOND)) == set()
    assert paths(loop(FIRST + EXP) + loop("%d = tile.dot %q, %w : D\n", "b2")) == set()


def test_each_body_is_asked_for_itself() -> None:
    other = (FIRST + EXP + SECOND).replace("%s", "%s2").replace("%p", "%p2").replace("%d", "%d2")
    assert paths(loop(FIRST + EXP + SECOND) + loop(other, "b2")) == {("b0", "b1"), ("b0", "b2")}
    assert paths(loop(FIRST + EXP + SECOND) + loop(FIRST.replace("%s", "%s2"), "b2")) == {("b0", "b1")}
    assert paths(FIRST + EXP + SECOND + loop(other)) == {("b0",), ("b0", "b1")}


def carrying(yields: str) -> str:
    return f"""%z = tile.full 0.0 : {TILE}
    %r = tile.for %k: b1=2 in (0, 8) iter(%a = %z) -> ({TILE}) {{
      %p = tile.exp %a : T
      {SECOND}
      tile.yield %{yields} : T
    }}
    """


def test_what_the_visit_before_has_made_is_there() -> None:
    """Neither does the next loop's visit wait for it, nor a product behind the loop in the cell."""
    assert paths(carrying("d")) == set() and paths(carrying("p")) == set()
    behind = "%e = tile.exp %r : T\n%f = tile.dot %e, %w : D\n"
    assert paths(carrying("d") + behind) == set()


def test_loops_without_a_range_have_paths_too() -> None:
    body = f"""%r = tile.while %c iter(%a = %q) -> ({TILE}) {{
      {FIRST}
      {EXP}
      {SECOND}
      tile.yield %c, %d : i1, {TILE}
    }}
    """
    ((cell, inner),) = paths(body)
    assert cell == "b0" and inner.startswith("while.")


# Branches.


def branch(yes: str, no: str, result: str = "p") -> str:
    return f"%{result} = scf.if %c -> ({TILE}) {{\n{yes}}} else {{\n{no}}}\n"


def test_a_branch_is_a_part_of_its_visit() -> None:
    """A product waits in an arm, for one in front of it or in the same arm."""
    arm = f"{EXP}{SECOND}scf.yield %d : T\n"
    assert paths(FIRST + branch(arm, "scf.yield %q : T\n", "e")) == {("b0",)}
    assert paths(branch(FIRST + arm, "scf.yield %q : T\n", "e")) == {("b0",)}
    assert paths(loop(FIRST + f"tile.when first(%i) {{\n{EXP}{SECOND}}}\n")) == {("b0", "b1")}


def test_a_product_behind_a_branch_waits_for_what_either_arm_makes() -> None:
    """As of scores that are masked in some visits only."""
    exp, plain, other = "%m = tile.exp %s : T\nscf.yield %m : T\n", "scf.yield %s : T\n", "scf.yield %q : T\n"
    for yes, no in ((exp, plain), (exp, other), (other, exp)):
        assert paths(FIRST + branch(yes, no) + SECOND) == {("b0",)}
        assert paths(loop(FIRST + branch(yes, no) + SECOND)) == {("b0", "b1")}
    assert paths(FIRST + branch(other, other) + SECOND) == set()


def test_other_results_of_a_branch_do_not_wait() -> None:
    both = f"""%o, %p = scf.if %c -> ({TILE}, {TILE}) {{
      scf.yield %YES : {TILE}, {TILE}
    }} else {{
      scf.yield %q, %q : {TILE}, {TILE}
    }}
    """
    assert paths(FIRST + both.replace("%YES", "%q, %s") + SECOND) == {("b0",)}
    assert paths(FIRST + both.replace("%YES", "%s, %q") + SECOND) == set()
