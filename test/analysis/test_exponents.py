"""Exponents of e that cost less as exponents of 2: between products with a number and ``exp``."""

from __future__ import annotations

import math

import pytest

from kopt.analysis.exponents import EXP, Exponents, exponents, number_of, stays
from test.analysis.one_launch import OneLaunch, one_launch

BLOCK, ROW = "!tile.tile<b0=8 x 128 x f32>", "!tile.tile<b0=8 x f32>"
HALF = "%half = tile.full 0.5 : T\n"
SCALED = HALF + "%s = tile.mul %v, %half : T\n"


def kernel(lines: str, element: str = "f32") -> OneLaunch:
    """A kernel that has blocks ``%v`` and ``%w`` and a row ``%b``; ``T`` and ``R`` are the types of these."""
    body = f"""%v = tile.load %x[%i, :] : memref<64x128xf32> -> T
    %w = tile.load %y[%i, :] : memref<64x128xf32> -> T
    %b = tile.load %bias[%i] : memref<64xf32> -> R
    {lines}"""
    body = body.replace("T\n", f"{BLOCK}\n").replace("R\n", f"{ROW}\n").replace("f32", element)
    array, row = f"64x128x{element}", f"64x{element}"
    return one_launch(body, writes="y", x=array, y=array, bias=row)


def found(lines: str, element: str = "f32") -> list[Exponents]:
    return list(exponents(kernel(lines, element).launch))


def names(values) -> set[str]:
    return {str(value.name_hint) for value in values}


@pytest.mark.parametrize(
    ("number", "same"),
    [(None, False), (0, True), (0.0, True), (-0.0, True), (math.inf, True), (-math.inf, True), (math.nan, True)]
    + [(1, False), (-0.5, False), (1e-45, False), (-3.4028235e38, False)],
)
def test_numbers_that_no_positive_factor_changes(number: float | None, same: bool) -> None:
    assert stays(number) is same


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("%s = tile.mul %v, %half : T\n", "half"),
        ("%s = tile.mul %half, %v : T\n", "half"),
        ("%s = tile.mul %v, %w : T\n", None),
        ("%s = tile.add %v, %half : T\n", None),
        ("%s = tile.div %v, %half : T\n", None),
        ("%s = tile.neg %v : T\n", None),
    ],
)
def test_the_number_of_a_product(line: str, number: str | None) -> None:
    values = kernel(HALF + line).values
    assert number_of(values["s"]) is (None if number is None else values[number])
    assert number_of(values["half"]) is None and number_of(values["x"]) is None


SOFTMAX = """%m = tile.reduce max %{of} [1] : T
%a = tile.broadcast %m dims [0] : R to T
%d = tile.sub %{of}, %a : T
%p = tile.exp %d : T
""".replace(" : R to", f" : {ROW} to")


def test_a_softmax_of_scaled_scores() -> None:
    (one,) = found(SCALED + SOFTMAX.format(of="s"))
    assert names(one.values) == {"s", "m", "a", "d"}
    assert names(one.given) == names(one.scaled) == {"s"}
    assert one.pays and not one.overflows
    uses = {str(value.name_hint): one.taken(value) for value in one.values}
    assert [type(use.operation) for use in uses.pop("d")] == [EXP]
    assert uses == {"s": [], "m": [], "a": []}
    assert all(one.ties(use) for value in one.values if value.name_hint != "d" for use in value.uses)


PAYS = {
    "a product itself": "%p = tile.exp %s : T\n",
    "negated": "%n = tile.neg %s : T\n%p = tile.exp %n : T\n",
    "the smaller of two": "%t = tile.mul %w, %half : T\n%n = tile.minimum %s, %t : T\n%p = tile.exp %n : T\n",
    "less a constant": "%n = tile.sub %s, %half : T\n%p = tile.exp %n : T\n",
    "masked lanes of exponent 0": "%n = tile.mask %s in (%i, _) else -inf : T\n%p = tile.exp %n : T\n",
    "masked lanes of exponent 1": "%n = tile.mask %s in (%i, _) else 0.0 : T\n%p = tile.exp %n : T\n",
    "of a row beside it, which is short": f"%l = tile.log %b : R\n%a = tile.broadcast %l dims [0] : {ROW} to T\n"
    "%n = tile.add %s, %a : T\n"
    "%p = tile.exp %n : T\n",
    "transposed": "%n = tile.transpose %s [1, 0] : T\n%p = tile.exp %n : !tile.tile<128 x b0=8 x f32>\n",
    "one more exponent than others": "%p = tile.exp %s : T\n%q = tile.exp %s : T\n%o = tile.abs %s : T\n",
    "its sign is asked for": "%z = tile.full 0.0 : T\n%c = tile.lt %s, %z : T\n%p = tile.exp %s : T\n",
    "selected": "%z = tile.full -inf : T\n%c = tile.eq %v, %z : T\n%n = tile.select %c, %z, %s : T\n"
    "%p = tile.exp %n : T\n",
}


@pytest.mark.parametrize("lines", PAYS.values(), ids=PAYS)
def test_exponents_that_pay(lines: str) -> None:
    (one,) = found(SCALED + lines)
    assert "s" in names(one.scaled)


STAYS = {
    "of a row beside it that may be a mask": f"%a = tile.broadcast %b dims [0] : {ROW} to T\n%n = tile.add %s, %a : T\n"
    "%p = tile.exp %n : T\n",
    "no number to multiply with": "%p = tile.exp %v : T\n",
    "of two blocks one without": "%n = tile.sub %s, %v : T\n%p = tile.exp %n : T\n",
    "not linear": "%n = tile.abs %s : T\n%p = tile.exp %n : T\n",
    "a product of a product": "%n = tile.mul %s, %w : T\n%p = tile.exp %n : T\n",
    "as many others as exponents": "%p = tile.exp %s : T\n%o = tile.abs %s : T\n",
    "compared with a number that would change": "%c = tile.lt %s, %half : T\n%p = tile.exp %s : T\n",
    "masked lanes that would change": "%n = tile.mask %s in (%i, _) else 1.0 : T\n%p = tile.exp %n : T\n",
    "of 2 already": "%p = tile.exp2 %s : T\n",
    "of a constant": "%p = tile.exp %half : T\n",
    "of a product of lanes": "%n = tile.reduce mul %s [1] : T\n%p = tile.exp %n : R\n",
}


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_exponents_that_stay(lines: str) -> None:
    assert found(SCALED + lines) == []


@pytest.mark.parametrize(("element", "count"), [("f32", 1), ("f64", 0)])
def test_of_other_elements_nothing_is_known(element: str, count: int) -> None:
    assert len(found(SCALED + "%p = tile.exp %s : T\n", element)) == count


def test_one_lane_pays_as_many_do() -> None:
    lines = """%one = tile.load %y[0, 0] : memref<64x128xf32> -> !tile.tile<f32>
    %third = tile.full 0.25 : !tile.tile<f32>
    %s = tile.mul %one, %third : !tile.tile<f32>
    %p = tile.exp %s : !tile.tile<f32>
    """
    assert [names(one.values) for one in found(lines)] == [{"s"}]


def test_values_of_one_factor_are_found_once() -> None:
    lines = "%n = tile.neg %s : T\n%p = tile.exp %n : T\n%q = tile.exp %s : T\n"
    assert [names(one.values) for one in found(SCALED + lines)] == [{"s", "n"}]
    other = "%t = tile.mul %w, %half : T\n%r = tile.exp %t : T\n"
    assert [names(one.values) for one in found(SCALED + lines + other)] == [{"s", "n"}, {"t"}]


# Loops.

LOOP = """tile.for %k: b1=2 in (0, 8) {{
  {body}
}}
"""


def test_a_factor_in_front_of_a_loop_pays_for_exponents_in_it() -> None:
    """Blocks of one size: what runs once against what runs at each visit."""
    inside = "%t = tile.tanh %v : T\n" + LOOP.format(body="%p = tile.exp %t : T\n")
    assert [names(one.given) for one in found(inside)] == [{"t"}]
    both = LOOP.format(body="%l = tile.load %x[%i, :] : memref<64x128xf32> -> T\n%p = tile.exp %l : T\n")
    assert found(both) == []


@pytest.mark.parametrize(("start", "pays"), [("-inf", True), ("-1.0e+30", True), ("-3.0e+38", False)])
def test_a_running_maximum_has_the_factor(start: str, pays: bool) -> None:
    lines = f"""{SCALED}%top = tile.full {start} : R
    %r = tile.for %k: b1=2 in (0, 8) iter(%g = %top) -> ({ROW}) {{
      %m = tile.reduce max %s [1] : T
      %n = tile.maximum %g, %m : R
      %d = tile.sub %g, %n : R
      %shrink = tile.exp %d : R
      tile.yield %n : R
    }}
    """
    values = [names(one.values) for one in found(lines)]
    assert values == ([{"s", "top", "g", "m", "n", "d", "r"}] if pays else [])


# Numbers that f32 does not have with the factor: a row of nothing else would become NaN.

ENDS = [("2.3e+38", True), ("2.4e+38", False), ("3.4028235e+38", False), ("inf", True)]


@pytest.mark.parametrize(("number", "fits"), ENDS)
@pytest.mark.parametrize("sign", ["", "-"])
def test_what_stands_for_masked_scores(sign: str, number: str, fits: bool) -> None:
    lines = f"""{SCALED}%low = tile.full {sign}{number} : T
    %c = tile.lt %w, %half : T
    %t = tile.select %c, %s, %low : T
    {SOFTMAX.format(of="t")}"""
    assert len(found(lines)) == fits


@pytest.mark.parametrize(("number", "fits"), ENDS)
def test_what_stands_for_masked_rows(number: str, fits: bool) -> None:
    """A mask's number that no factor changes hands the factor on; of another the mask is multiplied."""
    lines = f"""{SCALED}%l = tile.log %b : R
    %c = tile.mask %l in (%i) else -{number} : R
    %a = tile.broadcast %c dims [0] : {ROW} to T
    %d = tile.sub %s, %a : T
    %p = tile.exp %d : T
    """
    values = [names(one.given) for one in found(lines)]
    assert values == ([{"s", "l"} if number == "inf" else {"s", "c"}] if fits else [])


@pytest.mark.parametrize(("number", "fits"), ENDS)
def test_the_number_of_a_product_too(number: str, fits: bool) -> None:
    lines = f"%half = tile.full {number} : T\n%s = tile.mul %v, %half : T\n%p = tile.exp %s : T\n"
    assert len(found(lines)) == fits
