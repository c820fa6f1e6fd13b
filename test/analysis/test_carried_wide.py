"""What loops and branches give of 64-bit integers: intervals that hold for every number of visits."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.carried_wide import facts_of
from kopt.analysis.wide_facts import HIGH, WideFact
from test.named import named, only

WIDE = "!tile.tile<b0=8 x i64>"
TEXT = """
func.func @f(%x: memref<100xi64>, %b: memref<100x30xi1>, %n: index, %go: i1) {{
  tile.grid (%i: b0=8) in (100) {{
    %v = tile.load %x[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>
    %zero = tile.full 0 : !tile.tile<b0=8 x i64>
    %two = tile.full 2 : !tile.tile<b0=8 x i64>
    %nine = tile.full 9 : !tile.tile<b0=8 x i64>
    %some = tile.full true : !tile.tile<b0=8 x i1>
    {body}
  }}
  func.return
}}
"""


def loop(body: str, bounds: str = "(0, 30)", inner: str = "j") -> str:
    """A loop of four visits, unless other bounds are given, whose one carried value ``%c`` begins at 0."""
    return f"""%r = tile.for %{inner}: b1=8 in {bounds} iter(%c = %zero) -> ({WIDE}) {{
      {body}
      tile.yield %d : {WIDE}
    }}"""


NESTED = f"""%d = tile.for %k: b2=8 in (0, 16) iter(%e = %c) -> ({WIDE}) {{
  %g = tile.add %e, %two : {WIDE}
  tile.yield %g : {WIDE}
}}"""
BRANCH = f"""%d = scf.if %go -> ({WIDE}) {{
  %e = tile.add %c, %two : {WIDE}
  scf.yield %e : {WIDE}
}} else {{
  scf.yield %c : {WIDE}
}}"""
POSITION = f"""%m = tile.begin %j : !tile.range<b1=8>
%w = tile.splat %m : index to !tile.tile<i64>
%p = tile.broadcast %w dims [] : !tile.tile<i64> to {WIDE}
%d = tile.select %some, %p, %c : {WIDE}"""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (loop(f"%d = tile.add %c, %two : {WIDE}"), (0, 8)),
        (loop(f"%d = tile.add %two, %c : {WIDE}"), (0, 8)),
        (loop(f"%d = tile.sub %c, %two : {WIDE}"), (-8, 0)),
        (loop(f"%a = tile.add %c, %nine : {WIDE}\n%d = tile.sub %a, %two : {WIDE}"), (0, 28)),
        (loop(f"%a = tile.add %c, %nine : {WIDE}\n%d = tile.select %some, %a, %c : {WIDE}"), (0, 36)),
        (loop(NESTED), (0, 16)),
        (loop(BRANCH), (0, 8)),
        (loop(f"%d = tile.maximum %c, %nine : {WIDE}"), (0, 9)),
        (loop(f"%d = tile.add %c, %two : {WIDE}", "(5, 5)"), (0, 0)),
    ],
)
def test_what_a_loop_gives(body: str, wanted: tuple[int, int]) -> None:
    """The sum of what its visits add at most, or what a visit keeps."""
    module = parse(TEXT.format(body=body))
    facts = facts_of(only(module, FuncOp), {})
    assert facts[named(module)["r"]] == WideFact("exact", *wanted)


def test_a_position_settles() -> None:
    module = parse(TEXT.format(body=loop(POSITION)))
    fact = facts_of(only(module, FuncOp), {})[named(module)["r"]]
    assert fact is not None and fact.kind == "exact" and fact.low == 0 and 24 <= fact.high < HIGH


def test_what_a_combination_takes_it_gives() -> None:
    """The function's operands and its results have the facts of the lanes, which `narrowing` checks that it keeps."""
    body = f"""%k = tile.associative_scan %nine dim 0 : {WIDE} {{
    ^bb0(%left: !tile.tile<i64>, %right: !tile.tile<i64>):
      %m = tile.maximum %left, %right : !tile.tile<i64>
      tile.yield %m : !tile.tile<i64>
    }}
    %r = tile.add %k, %two : {WIDE}"""
    module = parse(TEXT.format(body=body))
    facts, values = facts_of(only(module, FuncOp), {}), named(module)
    taken = [facts[values[name]] for name in ("left", "right", "m", "k")]
    assert taken == [WideFact("exact", 9, 9)] * 4 and facts[values["r"]] == WideFact("exact", 11, 11)


def test_what_comes_after_a_loop_has_facts() -> None:
    grown = loop(f"%d = tile.add %c, %two : {WIDE}")
    module = parse(TEXT.format(body=f"{grown}\n%s = tile.add %r, %nine : {WIDE}"))
    assert facts_of(only(module, FuncOp), {})[named(module)["s"]] == WideFact("exact", 9, 17)


@pytest.mark.parametrize(
    "body",
    [
        loop(f"%d = tile.add %c, %two : {WIDE}", "(0, %n)"),
        loop(NESTED.replace("(0, 16)", "(0, %n)")),
        loop(f"%a = tile.add %c, %c : {WIDE}\n%d = tile.add %a, %two : {WIDE}"),
        loop(f"%d = tile.mul %nine, %c : {WIDE}").replace("= %zero", "= %two"),
        loop(f"%d = tile.add %c, %two : {WIDE}", f"(0, {2**31 - 8})").replace("b1=8", "b1=1"),
        f"""%r = tile.while %go iter(%c = %zero) -> ({WIDE}) {{
          %d = tile.add %c, %two : {WIDE}
          tile.yield %go, %d : i1, {WIDE}
        }}""",
    ],
)
def test_what_may_grow_beyond(body: str) -> None:
    """No interval of 32 bits is known: of an unknown number of visits, of what doubles, of too many visits."""
    module = parse(TEXT.format(body=body))
    fact = facts_of(only(module, FuncOp), {})[named(module)["r"]]
    assert fact is None or fact.kind == "wrapped"


def test_a_loaded_number_that_is_halved_stays_in_its_interval() -> None:
    body = f"""%r = tile.while %go iter(%c = %v) -> ({WIDE}) {{
      %d = tile.floordiv %c, %two : {WIDE}
      tile.yield %go, %d : i1, {WIDE}
    }}"""
    module = parse(TEXT.format(body=body))
    values = named(module)
    func = only(module, FuncOp)
    assert facts_of(func, {values["x"]: (-100, 100)})[values["r"]] == WideFact("offset", -100, 100)
    assert facts_of(func, {})[values["r"]] is None


def test_what_is_moved_through_a_loop_is_as_it_was_loaded() -> None:
    body = loop(f"%d = tile.select %some, %c, %nine : {WIDE}").replace("= %zero", "= %v")
    module = parse(TEXT.format(body=body))
    assert facts_of(only(module, FuncOp), {})[named(module)["r"]] == WideFact("loaded")


BUFFER = """
func.func @f(%x: memref<100x300xi1>) {{
  %c = pallas.scratch : !tile.ref<8 x i64, vmem>
  tile.grid (%i: b0=8, %j: b1=128) in (100, 300) reduce [1] {{
    %two = tile.full 2 : !tile.tile<b0=8 x i64>
    tile.when first(%j) {{
      %zero = tile.full 0 : !tile.tile<b0=8 x i64>
      tile.put %zero, %c[:] : !tile.tile<b0=8 x i64>, !tile.ref<8 x i64, vmem>
    }}
    %v = tile.get %c[:] : !tile.ref<8 x i64, vmem> -> !tile.tile<b0=8 x i64>
    {body}
    tile.when last(%j) {{
      %r = tile.get %c[:] : !tile.ref<8 x i64, vmem> -> !tile.tile<b0=8 x i64>
    }}
  }}
  func.return
}}
"""
PUT = "tile.put %w, %c[:] : !tile.tile<b0=8 x i64>, !tile.ref<8 x i64, vmem>"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (f"%w = tile.add %v, %two : {WIDE}\n{PUT}", WideFact("exact", 0, 6)),
        (f"%w = tile.maximum %v, %two : {WIDE}\n{PUT}", WideFact("exact", 0, 2)),
        (f"%w = tile.mul %v, %two : {WIDE}\n{PUT}", WideFact("exact", 0, 0)),
        (f"%w = tile.add %v, %two : {WIDE}\n{PUT}\n{PUT}", None),
        (f"tile.for %k: b2=8 in (0, 16) {{\n%w = tile.add %v, %two : {WIDE}\n{PUT}\n}}", None),
    ],
)
def test_what_a_buffer_carries_from_cell_to_cell(body: str, wanted: WideFact | None) -> None:
    """Three cells run between two first visits; a buffer that is put to in another way is not looked at."""
    module = parse(BUFFER.format(body=body))
    assert facts_of(only(module, FuncOp), {})[named(module)["r"]] == wanted
