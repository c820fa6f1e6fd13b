"""Which loops only combine, so that their visits may be dealt out."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.reduction_loops import NotAReduction, ReductionLoop, reduction_loop
from kopt.dialects.tile import ForOp, GridOp
from test.named import only

TYPE = "!tile.tile<b0=8 x f32>"
TEXT = """
func.func @f(%x: memref<64x100xf32>, %out: memref<64xf32>, %n: memref<64xi32>, %end: index) {{
  tile.grid (%i: b0=8) in (64) {{
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    {before}
    %r{results} = tile.for %k: b1=16 in {bounds} {carried} {{
      %b = tile.load %x[%i, %k] : memref<64x100xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      %v = tile.reduce add %b [1] : !tile.tile<b0=8 x b1=16 x f32>
      {body}
    }}
    tile.store %z, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }}
  func.return
}}
"""
ONE, TWO = f"iter(%a = %z) -> ({TYPE})", f"iter(%a = %z, %c = %z) -> ({TYPE}, {TYPE})"


def find(body: str, bounds: str = "(0, 100)", carried: str = ONE, before: str = "") -> ReductionLoop:
    results = ":2" if carried == TWO else ""
    text = TEXT.format(body=body, bounds=bounds, carried=carried, before=before, results=results)
    if not carried:
        text = text.replace("%r = tile.for", "tile.for")
    return reduction_loop(only(parse(text), GridOp))


def step(op: str, operands: str = "%a, %v", name: str = "s") -> str:
    return f"%{name} = tile.{op} {operands} : {TYPE}"


YIELD = f"tile.yield %s : {TYPE}"


@pytest.mark.parametrize(
    ("op", "kind"), [("add", "add"), ("maximum", "max"), ("minimum", "min")]
)  # fmt: skip
@pytest.mark.parametrize("operands", ["%a, %v", "%v, %a"])
def test_a_value_may_be_combined_from_either_side(op: str, kind: str, operands: str) -> None:
    found = find(f"{step(op, operands)}\n{YIELD}")
    assert isinstance(found.loop, ForOp) and (found.trips, found.kinds) == (7, (kind,))


def test_the_last_block_may_be_short_and_the_first_one_start_late() -> None:
    assert find(f"{step('add')}\n{YIELD}", "(4, 37)").trips == 3


@pytest.mark.parametrize(("bounds", "trips"), [("(0, 0)", 0), ("(5, 3)", 0), ("(0, 16)", 1), ("(0, 17)", 2)])
def test_visits_are_counted_as_they_are(bounds: str, trips: int) -> None:
    assert find(f"{step('add')}\n{YIELD}", bounds).trips == trips


def test_several_values_each_have_their_kind() -> None:
    body = f"{step('add')}\n{step('maximum', '%c, %v', 't')}\ntile.yield %s, %t : {TYPE}, {TYPE}"
    assert find(body, carried=TWO).kinds == ("add", "max")


def test_a_product_adds_to_its_accumulator() -> None:
    text = """
func.func @f(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  tile.grid (%i: b0=8, %j: b1=8) in (64, 64) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x b1=8 x f32>
    %r = tile.for %k: b2=16 in (0, 64) iter(%a = %z) -> (!tile.tile<b0=8 x b1=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<64x64xf32> -> !tile.tile<b0=8 x b2=16 x f32>
      %w = tile.load %y[%k, %j] : memref<64x64xf32> -> !tile.tile<b2=16 x b1=8 x f32>
      %s = tile.dot %v, %w, %a : !tile.tile<b0=8 x b2=16 x f32>, !tile.tile<b2=16 x b1=8 x f32> -> !tile.tile<b0=8 x b1=8 x f32>
      tile.yield %s : !tile.tile<b0=8 x b1=8 x f32>
    }
  }
  func.return
}"""  # noqa: E501
    assert reduction_loop(only(parse(text), GridOp)).kinds == ("add",)


PLAIN = "'a' is not a plain sum, maximum or minimum over the visits"
USED = "'a' is used before the loop is over"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"{step('sub')}\n{YIELD}", PLAIN),
        (f"{step('add', '%a, %a')}\n{YIELD}", PLAIN),
        (f"{step('add', '%v, %v')}\n{YIELD}", PLAIN),
        (f"tile.yield %a : {TYPE}", PLAIN),
        (f"{step('add')}\n{step('mul', '%s, %v', 't')}\ntile.yield %t : {TYPE}", PLAIN),
        (f"{step('mul', '%a, %v', 't')}\n{step('add', '%a, %t')}\n{YIELD}", USED),
    ],
)
def test_anything_else_is_no_reduction(body: str, why: str) -> None:
    with pytest.raises(NotAReduction, match=f"^{why}$"):
        find(body)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        # Each sees what the other was.
        ("%c, %a", "'a' is not a plain sum, maximum or minimum over the visits"),
        ("%s, %s", "'c' is not a plain sum, maximum or minimum over the visits"),
    ],
)
def test_values_that_are_carried_across_are_no_reduction(values: str, why: str) -> None:
    with pytest.raises(NotAReduction, match=why):
        find(f"{step('add')}\ntile.yield {values} : {TYPE}, {TYPE}", carried=TWO)


def test_a_value_that_another_is_combined_with_is_used() -> None:
    body = f"{step('add', '%a, %c')}\n{step('add', '%c, %v', 't')}\ntile.yield %s, %t : {TYPE}, {TYPE}"
    with pytest.raises(NotAReduction, match="'c' is used before the loop is over"):
        find(body, carried=TWO)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"before": f"tile.store %z, %out[%i] : {TYPE}, memref<64xf32>"}, "its cells write memory before the loop"),
        ({"before": f"atomic.rmw add %z, %out[%i] : {TYPE}, memref<64xf32>"}, "its cells write memory before the loop"),
        ({"before": "tile.for %h: b3=8 in (0, 8) {\n}"}, "the loop carries nothing"),
    ],
)
def test_the_loop_has_to_be_the_first_one_and_nothing_written_before(change: dict[str, str], why: str) -> None:
    with pytest.raises(NotAReduction, match=f"^{why}$"):
        find(f"{step('add')}\n{YIELD}", **change)


def test_the_visits_of_a_loop_may_be_computed() -> None:
    found = find(f"{step('add')}\n{YIELD}", bounds="(0, %end)")
    assert found.trips is None and found.kinds == ("add",)


@pytest.mark.parametrize("op", ["tile.store %v, %out[%i]", "atomic.rmw add %v, %out[%i]"])
def test_a_loop_that_writes_is_no_reduction(op: str) -> None:
    with pytest.raises(NotAReduction, match="^the loop writes memory$"):
        find(f"{op} : {TYPE}, memref<64xf32>\n{step('add')}\n{YIELD}")


def test_a_loop_that_carries_nothing_is_no_reduction() -> None:
    with pytest.raises(NotAReduction, match="^the loop carries nothing$"):
        find("", carried="")
