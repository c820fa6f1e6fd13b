"""Whether 64-bit integers may be held in 32 bits: by proof, by a check of arrays, or not."""

from __future__ import annotations

import operator

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.narrowing import FEWEST, beyond_end, narrowing
from kopt.analysis.wide_facts import HIGH, LOW
from test.named import named, only

WIDE, MASK = "!tile.tile<b0=8 x i64>", "!tile.tile<b0=8 x i1>"
TEXT = """
func.func @f(%x: memref<100xi64>, %y: memref<100xi64>, %w: memref<100xi32>, %data: memref<100xf32>,
             %out: memref<100xi64>, %long: memref<5000xf32>, %small: memref<100xi32>, %bits: memref<100xi1>) {{
  tile.grid (%i: b0=8) in (100) {{
    %v = tile.load %x[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>
    %five = tile.full 5 : !tile.tile<b0=8 x i64>
    {body}
  }}
  func.return
}}
"""
STORE = f"tile.store %r, %out[%i] : {WIDE}, memref<100xi64>"
STORE_BITS = f"tile.store %r, %bits[%i] : {MASK}, memref<100xi1>"
STORE_SMALL = "tile.store %r, %small[%i] : !tile.tile<b0=8 x i32>, memref<100xi32>"


def parts(body: str):
    module = parse(TEXT.format(body=body))
    return narrowing(only(module, FuncOp)), named(module)


PROVEN = {
    "nothing is done": "",
    "moved to an index": f"""%m = tile.full true : {MASK}
    %r = tile.select %m, %v, %five : {WIDE}
    %d = tile.load %data[%r] : memref<100xf32> -> !tile.tile<b0=8 x f32>""",
    "compared with a number between the ends": f"%r = tile.lt %v, %five : {WIDE}\n {STORE_BITS}",
    "a number that fits and one that does not": f"""%c = tile.full {HIGH + 1} : {WIDE}
    %r = tile.lt %five, %c : {WIDE}
    {STORE_BITS}""",
    "an index": "%d = tile.load %data[%v] : memref<100xf32> -> !tile.tile<b0=8 x f32>",
    "an index of a store": """%one = tile.full 1.0 : !tile.tile<b0=8 x f32>
    tile.store %one, %data[%v] : !tile.tile<b0=8 x f32>, memref<100xf32>""",
    "small numbers": f"%r = tile.mul %five, %five : {WIDE}\n {STORE}",
    "32 bits of a product that wraps": f"""%c = tile.full 100000 : {WIDE}
    %p = tile.mul %c, %c : {WIDE}
    %r = tile.cast %p : {WIDE} to !tile.tile<b0=8 x i32>
    {STORE_SMALL}""",
    "lane numbers": f"""%l = tile.index %i : !tile.range<b0=8>
    %r = tile.cast %l : !tile.tile<b0=8 x i32> to {WIDE}
    {STORE}""",
}


@pytest.mark.parametrize("body", PROVEN.values(), ids=PROVEN)
def test_what_is_proven_checks_nothing(body: str) -> None:
    found, _ = parts(body)
    assert found.intervals == {} and found.unproven == ()


@pytest.mark.parametrize(
    ("factor", "bits"),
    [(1, 31), (2, 30), (3, 29), (4, 29), (5, 28), (2**20, 11)],
)
def test_sums_ask_for_the_widest_interval_that_fits(factor: int, bits: int) -> None:
    """``factor`` times the numbers of an array, each of less than ``2**bits``, fits: ``2**(bits + 1)`` would not."""
    found, values = parts(f"%c = tile.full {factor} : {WIDE}\n %r = tile.mul %v, %c : {WIDE}\n {STORE}")
    assert factor * (2**bits - 1) <= HIGH and (bits == 31 or factor * (2 ** (bits + 1) - 1) > HIGH)
    assert found.intervals == {values["x"]: (-(2**bits) + 1, 2**bits - 1)} and found.unproven == ()


def test_numbers_that_are_stored_have_to_fit() -> None:
    """What is saturated is another number."""
    found, values = parts(f"tile.store %v, %out[%i] : {WIDE}, memref<100xi64>")
    assert found.intervals == {values["x"]: (-(2**31) + 1, 2**31 - 1)}


@pytest.mark.parametrize(
    "use",
    [
        f"%p = tile.argreduce max %v dim 0 : {WIDE}",
        f"%p = tile.eq %v, %v : {WIDE}",
        f"%p = tile.lt %v, %v : {WIDE}",
        f"%c = tile.cast %v : {WIDE} to !tile.tile<b0=8 x f32>\n"
        "tile.store %c, %data[%i] : !tile.tile<b0=8 x f32>, memref<100xf32>",
    ],
)
def test_numbers_that_are_compared_with_each_other_have_to_fit(use: str) -> None:
    """Two that are saturated are equal, and so is what comes of them."""
    found, values = parts(use)
    assert found.intervals == {values["x"]: (-(2**31) + 1, 2**31 - 1)} and found.unproven == ()


def test_both_arrays_of_a_sum_are_checked() -> None:
    found, values = parts(f"""%u = tile.load %y[%i] : memref<100xi64> -> {WIDE}
    %r = tile.add %v, %u : {WIDE}
    {STORE}""")
    assert found.intervals == dict.fromkeys([values["x"], values["y"]], (-(2**30) + 1, 2**30 - 1))


def test_narrower_arrays_whose_numbers_are_widened_are_checked() -> None:
    found, values = parts(f"""%n = tile.load %w[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %u = tile.cast %n : !tile.tile<b0=8 x i32> to {WIDE}
    %r = tile.mul %u, %five : {WIDE}
    {STORE}""")
    assert found.intervals[values["w"]] == (-(2**28) + 1, 2**28 - 1) and found.unproven == ()


def test_narrower_arrays_are_checked_through_moves() -> None:
    found, values = parts(f"""%n = tile.load %w[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %m = tile.full true : {MASK}
    %t = tile.select %m, %n, %n : !tile.tile<b0=8 x i32>
    %u = tile.cast %t : !tile.tile<b0=8 x i32> to {WIDE}
    %r = tile.mul %u, %five : {WIDE}
    {STORE}""")
    assert found.intervals[values["w"]] == (-(2**28) + 1, 2**28 - 1) and found.unproven == ()


def test_narrower_arrays_are_checked_through_arithmetic_and_sums() -> None:
    """Of 8 lanes, of which each has five times a number of the array."""
    found, values = parts(f"""%n = tile.load %w[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %k = tile.full 5 : !tile.tile<b0=8 x i32>
    %p = tile.mul %n, %k : !tile.tile<b0=8 x i32>
    %u = tile.cast %p : !tile.tile<b0=8 x i32> to {WIDE}
    %s = tile.reduce add %u [0] : {WIDE}
    %r = tile.broadcast %s dims [] : !tile.tile<i64> to {WIDE}
    {STORE}""")
    assert found.intervals[values["w"]] == (-(2**25) + 1, 2**25 - 1) and found.unproven == ()


def test_numbers_of_fewer_bits_fit_and_are_not_checked() -> None:
    found, values = parts(f"""%b = tile.load %bits[%i] : memref<100xi1> -> {MASK}
    %u = tile.cast %b : {MASK} to {WIDE}
    %s = tile.mul %v, %u : {WIDE}
    %r = tile.mul %s, %five : {WIDE}
    {STORE}""")
    assert found.unproven == () and found.intervals.keys() == {values["x"]}


def test_sums_of_indices_are_right_where_they_fit_any_array() -> None:
    """What is added is checked; what comes of it may wrap, since no array is as long."""
    found, values = parts(f"""%r = tile.add %v, %five : {WIDE}
    %d = tile.load %data[%r] : memref<100xf32> -> !tile.tile<b0=8 x f32>""")
    assert found.intervals == {values["x"]: (-(2**31) + 1, 2**31 - 1)}


def test_no_interval_is_narrower_than_the_fewest_bits() -> None:
    """The fourth power of numbers of 7 bits has 28, the eighth 56: it may not be stored."""
    found, values = parts(f"""%r = tile.mul %v, %v : {WIDE}
    %s = tile.mul %r, %r : {WIDE}
    %t = tile.mul %s, %s : {WIDE}
    tile.store %t, %out[%i] : {WIDE}, memref<100xi64>""")
    assert FEWEST * 4 < 31 < FEWEST * 8
    (store,) = found.unproven
    assert found.intervals == {} and [use.operation for use in values["t"].uses] == [store]


@pytest.mark.parametrize(
    ("to", "proven"), [("!tile.tile<b0=8 x i32>", True), ("!tile.tile<b0=8 x f32>", False), (MASK, False)]
)
def test_casts_of_what_wraps_are_to_32_bits(to: str, proven: bool) -> None:
    found, values = parts(f"""%c = tile.full {HIGH} : {WIDE}
    %p = tile.add %c, %five : {WIDE}
    %r = tile.cast %p : {WIDE} to {to}""")
    assert found.intervals == {} and found.unproven == (() if proven else (values["r"].owner,))


@pytest.mark.parametrize(("shift", "proven"), [(0, True), (-100, True), (-1000, False), (1000, False)])
def test_numbers_of_lanes_are_those_of_the_shifted_block(shift: int, proven: bool) -> None:
    """A hundred times 2**22 fits, a thousand times does not."""
    found, values = parts(f"""%k = arith.constant {shift} : index
    %s = tile.shift %i by %k : !tile.range<b0=8>
    %l = tile.index %s : !tile.range<b0=8>
    %u = tile.cast %l : !tile.tile<b0=8 x i32> to {WIDE}
    %c = tile.full 4194304 : {WIDE}
    %r = tile.mul %u, %c : {WIDE}
    {STORE}""")
    assert (found.unproven == ()) is proven


def test_what_the_launch_writes_itself_is_not_checked() -> None:
    found, values = parts(f"%r = tile.add %v, %five : {WIDE}\n tile.store %r, %x[%i] : {WIDE}, memref<100xi64>")
    assert found.intervals == {} and values["r"].owner in found.unproven


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("number", [LOW, LOW + 1, 0, HIGH - 1, HIGH])
def test_comparisons_of_saturated_numbers(name: str, mirrored: bool, number: int) -> None:
    """Those that are proven give in 32 bits what they give in 64, for numbers that fit and those beyond both ends."""
    compare = getattr(operator, name)
    order = ("%c", "%v") if mirrored else ("%v", "%c")
    found, _ = parts(f"""%c = tile.full {number} : {WIDE}
    %r = tile.{name} {", ".join(order)} : {WIDE}
    {STORE_BITS}""")
    loaded = [LOW - 5, LOW - 1, LOW, LOW + 1, 0, HIGH - 1, HIGH, HIGH + 1, HIGH + 5]

    def results(numbers: list[int]) -> list[bool]:
        return [compare(number, each) if mirrored else compare(each, number) for each in numbers]

    same = results(loaded) == results([max(LOW, min(HIGH, each)) for each in loaded])
    if not found.intervals:
        assert same  # no check is made: it has to be
    if LOW < number < HIGH:
        assert same and not found.intervals and not found.unproven


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (f"%r = tile.full {HIGH} : {WIDE}", None),
        (f"%r = tile.full {HIGH + 1} : {WIDE}", HIGH + 1),
        (f"%r = tile.full {LOW} : {WIDE}", None),
        (f"%r = tile.full {LOW - 1} : {WIDE}", LOW - 1),
        (
            f"%s = tile.full {HIGH + 1} : !tile.tile<i64>\n"
            " %t = tile.reshape %s : !tile.tile<i64> to !tile.tile<1 x i64>\n"
            " %r = tile.broadcast %t dims [0] : !tile.tile<1 x i64> to !tile.tile<4 x i64>",
            HIGH + 1,
        ),
        (f"%r = tile.neg %five : {WIDE}", None),
    ],
)
def test_constants_beyond_an_end(body: str, wanted: int | None) -> None:
    _, values = parts(body)
    assert beyond_end(values["r"]) == wanted


#: What is done with an array's numbers besides, and whether they are indices by it.
USES = {
    "of a load": ("%d = tile.load %long[%v] : memref<5000xf32> -> !tile.tile<b0=8 x f32>", True),
    "of a store": ("tile.store %one, %data[%v] : !tile.tile<b0=8 x f32>, memref<100xf32>", True),
    "what is stored": (f"tile.store %v, %y[%i] : {WIDE}, memref<100xi64>", False),
    "a number": (
        "%s = tile.load %x[3] : memref<100xi64> -> !tile.tile<i64>\n%k = tile.extract %s : !tile.tile<i64> to index",
        True,
    ),
    "a number of 64 bits": (
        "%s = tile.load %x[3] : memref<100xi64> -> !tile.tile<i64>\n%k = tile.extract %s : !tile.tile<i64> to i64",
        False,
    ),
    "picked lanes": ("%p = tile.take_along %one, %v dim 0 : !tile.tile<b0=8 x f32>, " + WIDE, True),
    "picked of them": (f"%p = tile.take_along %v, %lanes dim 0 : {WIDE}, !tile.tile<b0=8 x i32>", False),
    "one of lanes": (f"%m = tile.eq %v, %five : {WIDE}", True),
    "one of lanes, on the other side": (f"%m = tile.eq %five, %v : {WIDE}", True),
    "one of computed lanes": (
        f"%w1 = tile.cast %lanes : !tile.tile<b0=8 x i32> to {WIDE}\n%w2 = tile.add %w1, %five : {WIDE}\n"
        f"%m = tile.eq %w2, %v : {WIDE}",
        True,
    ),
    "another order": (f"%m = tile.lt %v, %five : {WIDE}", False),
    "as others": (f"%u = tile.load %y[%i] : memref<100xi64> -> {WIDE}\n%m = tile.eq %v, %u : {WIDE}", False),
    "as others that are moved": (
        "%u = tile.load %w[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>\n"
        f"%u1 = tile.cast %u : !tile.tile<b0=8 x i32> to {WIDE}\n"
        f"%u2 = tile.add %five, %u1 : {WIDE}\n%m = tile.eq %u2, %v : {WIDE}",
        False,
    ),
    "moved to a load": (
        f"%t = tile.reshape %v : {WIDE} to !tile.tile<2 x 4 x i64>\n"
        "%d = tile.load %long[%t] : memref<5000xf32> -> !tile.tile<2 x 4 x f32>",
        True,
    ),
    "cast for a load": (
        f"%t = tile.cast %v : {WIDE} to !tile.tile<b0=8 x i32>\n"
        "%d = tile.load %long[%t] : memref<5000xf32> -> !tile.tile<b0=8 x f32>",
        True,
    ),
    "added for a load": (
        f"%t = tile.add %five, %v : {WIDE}\n%d = tile.load %long[%t] : memref<5000xf32> -> !tile.tile<b0=8 x f32>",
        True,
    ),
    "added": (f"%t = tile.add %five, %v : {WIDE}", False),
    "bits of a load": (
        f"%t = tile.and %five, %v : {WIDE}\n%d = tile.load %long[%t] : memref<5000xf32> -> !tile.tile<b0=8 x f32>",
        True,
    ),
}


@pytest.mark.parametrize(("use", "is_index"), USES.values(), ids=USES)
def test_indices_are_not_asked_to_be_less_than_arrays_are_long(use: str, is_index: bool) -> None:
    """2**20 times a number fits where it has 11 bits; an index of an array of 5000 elements may have 13."""
    found, values = parts(f"""%one = tile.full 1.0 : !tile.tile<b0=8 x f32>
    %lanes = tile.index %i : !tile.range<b0=8>
    %first = tile.load %long[0] : memref<5000xf32> -> !tile.tile<f32>
    {use}
    %c = tile.full {2**20} : {WIDE}
    %r = tile.mul %v, %c : {WIDE}
    {STORE}""")
    if is_index:
        assert found.intervals == {} and any(values["r"] in op.operands for op in found.unproven)
    else:
        assert found.intervals[values["x"]] == (-(2**11) + 1, 2**11 - 1) and found.unproven == ()
