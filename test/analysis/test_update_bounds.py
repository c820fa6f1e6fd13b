"""Whether updates of 64-bit integers leave numbers that fit 32 bits, and what calls have to check for that."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kopt import parse
from kopt.analysis.update_bounds import Bounds, Unbounded, _arrays, update_bounds
from kopt.analysis.wide_facts import HIGH
from kopt.dialects.atomic import RmwOp
from kopt.dialects.host import LaunchOp
from test.named import named, only

#: A grid of 4 blocks of 8 rows.
TEXT = """
func.func @f(%x: memref<32xi64>, %given: memref<16xi64>) {{
  {start}
  %z = host.launch @g (%out = {target}, %a = %x) writes [0]{donates}
  : (memref<16xi64>, memref<32xi64>) -> (memref<16xi64>) {{
    tile.grid (%i: b0=8) in (32) {{
      %v = tile.load %a[%i] : memref<32xi64> -> !tile.tile<b0=8 x i64>
      %rows = tile.full 3 : !tile.tile<b0=8 x i32>
      %s = tile.reduce add %v [0] : !tile.tile<b0=8 x i64>
      %big = tile.full 4294967296 : !tile.tile<i64>
      %one = tile.full {one} : !tile.tile<i64>
      %many = tile.full {one} : !tile.tile<b0=8 x i64>
      {body}
    }}
  }}
  func.return
}}
"""
ALLOC = "%t = host.alloc{} : memref<16xi64>"
ONE = "atomic.rmw {} %one, %out[0] : !tile.tile<i64>, memref<16xi64>"
SUM = "atomic.rmw add %s, %out[0] : !tile.tile<i64>, memref<16xi64>"


def parts(body: str, target: str = "%t", fill: str = " fill 0", one: int = 1, donates: str = ""):
    start = ALLOC.format(fill)
    text = TEXT.format(start=start, target=target, body=body, one=one, donates=donates)
    module = parse(text)
    return only(module, LaunchOp), named(module)


def bounds(body: str, known: Mapping[str, int] | None = None, **options) -> tuple[Bounds, dict]:
    launch, values = parts(body, **options)
    return update_bounds(launch, 0, {values[name]: size for name, size in (known or {}).items()}), values


ADD = ONE.format("add")
LOOP = f"tile.for %k: b1=4 in (0, 12) {{\n {ADD}\n }}"
COUNTS = {
    # what is added, how often, to what: the largest number
    "each block adds once": (ADD, 1, " fill 0", 4),
    "numbers of either sign": (ADD, -5, " fill 0", 4 * 5),
    "to what was filled in": (ADD, 1, " fill -7", 7 + 4),
    "at each visit of a loop": (LOOP, 1, " fill 0", 4 * 3),
    "twice": (f"{ADD}\n {ADD}", 1, " fill 0", 8),
    "all lanes of a block": (
        "atomic.rmw add %many, %out[%rows] : !tile.tile<b0=8 x i64>, memref<16xi64>",
        2,
        " fill 0",
        4 * 8 * 2,
    ),
    "the largest, of few": (ONE.format("max"), 9, " fill 20", 20),
    "the largest, of many": (ONE.format("max"), 30, " fill 20", 30),
    "bits": (ONE.format("or"), 9, " fill 0", 9),
    "the largest and sums": (f"{ADD}\n {ONE.format('max')}", 9, " fill 0", 9 + 4 * 9),
    "stores": ("tile.store %one, %out[0] : !tile.tile<i64>, memref<16xi64>", -9, " fill 0", 9),
}


@pytest.mark.parametrize(("body", "one", "fill", "largest"), COUNTS.values(), ids=COUNTS)
def test_the_largest_number_of_constants(body: str, one: int, fill: str, largest: int) -> None:
    assert bounds(body, one=one, fill=fill)[0] == Bounds({}, largest)


def test_arrays_are_checked_in_the_widest_interval_that_fits() -> None:
    """32 numbers of less than 2^26 fit, of less than 2^27 they do not."""
    found, values = bounds(SUM)
    assert 32 * (2**26 - 1) <= HIGH < 32 * (2**27 - 1)
    assert found == Bounds({values["x"]: (1 - 2**26, 2**26 - 1)}, 32 * (2**26 - 1))


def test_what_a_call_finds_has_half_of_what_fits() -> None:
    """Numbers of less than 2^25 add up to a half: the rest is for what was there."""
    found, values = bounds(SUM, target="%given")
    most = 32 * (2**25 - 1)
    assert found == Bounds({values["x"]: (1 - 2**25, 2**25 - 1), values["given"]: (most - HIGH, HIGH - most)}, HIGH)


def test_what_a_call_finds_has_all_that_constants_leave() -> None:
    found, values = bounds(ADD, target="%given")
    assert found == Bounds({values["given"]: (4 - HIGH, HIGH - 4)}, HIGH)
    found, values = bounds(ADD, target="%given", one=HIGH // 5)  # less than half
    left = HIGH - 4 * (HIGH // 5)
    assert found == Bounds({values["given"]: (-left, left)}, HIGH)


def test_sizes_in_other_arrays_are_known() -> None:
    assert bounds(ADD, {"given": 100}, target="%given")[0] == Bounds({}, 104)


def test_what_is_given_away_holds_nothing_yet() -> None:
    assert bounds(ADD, target="%given", donates=" donates [0]")[0] == Bounds({}, 4)


UNBOUNDED = {
    "values that do not fit": (
        "atomic.rmw add %big, %out[0] : !tile.tile<i64>, memref<16xi64>",
        {},
        "how large its values are is not known",
    ),
    "loops of any number of visits": (
        f"%n = tile.extract %one : !tile.tile<i64> to index\n tile.for %k: b1=4 in (0, %n) {{\n {ADD}\n }}",
        {},
        "how often it is updated is not known",
    ),
    "sums and bits": (f"{ADD}\n {ONE.format('and')}", {}, "its bits are changed between additions"),
    "many additions": (ADD, {"one": HIGH // 2}, f"additions to one element may come to {HIGH // 2 * 4:,}"),
    "too large a start": (ADD, {"fill": f" fill {HIGH}"}, "additions to one element may come to 4"),
}


@pytest.mark.parametrize(("body", "options", "reason"), UNBOUNDED.values(), ids=UNBOUNDED)
def test_why_numbers_may_not_fit(body: str, options: dict, reason: str) -> None:
    launch, values = parts(body, **options)
    with pytest.raises(Unbounded) as caught:
        update_bounds(launch, 0, {})
    assert str(caught.value) == reason
    assert caught.value.op in [use.operation for use in values["out"].uses]


def test_the_last_start_that_fits() -> None:
    assert bounds(ADD, fill=f" fill {HIGH - 4}")[0].largest == HIGH
    launch, _ = parts(ADD, fill=f" fill {HIGH - 3}")
    with pytest.raises(Unbounded):
        update_bounds(launch, 0, {})


def kept(number: int) -> str:
    """The larger of an element and a number."""
    make = f"%n = tile.full {number} : !tile.tile<i64>"
    return f"{make}\n atomic.rmw max %n, %out[0] : !tile.tile<i64>, memref<16xi64>"


#: The largest number that fits beside what else is done, four additions of one, and a body and a fill with it.
LIMITS = {
    "what it starts with": (HIGH - 4, lambda n: (ADD, n)),
    "that below zero": (HIGH - 4, lambda n: (ADD, -n)),
    "the largest of others": (HIGH - 4, lambda n: (f"{ADD}\n {kept(n)}", 0)),
    "the largest, without sums": (HIGH, lambda n: (kept(n), 0)),
}


@pytest.mark.parametrize(("limit", "made"), LIMITS.values(), ids=LIMITS)
def test_what_fits_to_the_last_number(limit: int, made) -> None:
    body, fill = made(limit)
    assert bounds(body, fill=f" fill {fill}")[0].largest == HIGH
    body, fill = made(limit + 1)
    with pytest.raises(Unbounded):
        bounds(body, fill=f" fill {fill}")


ARRAYS = """
func.func @f(%x: memref<32xi64>, %h: memref<32xf32>, %n: memref<32xi32>, %b: memref<32xi8>, %m: memref<32xi64>) {
  %t = host.alloc fill 0 : memref<16xi64>
  %u = host.alloc fill 0 : memref<32xi64>
  tile.grid (%i: b0=8) in (32) {
    %v = tile.load %x[%i] : memref<32xi64> -> !tile.tile<b0=8 x i64>
    %w = tile.load %h[%i] : memref<32xf32> -> !tile.tile<b0=8 x f32>
    %k = tile.load %n[%i] : memref<32xi32> -> !tile.tile<b0=8 x i32>
    %c = tile.load %b[%i] : memref<32xi8> -> !tile.tile<b0=8 x i8>
    %o = tile.load %u[%i] : memref<32xi64> -> !tile.tile<b0=8 x i64>
    %l = tile.load %m[%k] : memref<32xi64> -> !tile.tile<b0=8 x i64>
    %w64 = tile.cast %w : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x i64>
    %c64 = tile.cast %c : !tile.tile<b0=8 x i8> to !tile.tile<b0=8 x i64>
    %k64 = tile.cast %k : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x i64>
    %s = tile.add VALUES : !tile.tile<b0=8 x i64>
    atomic.rmw add %s, %t[%k] : !tile.tile<b0=8 x i64>, memref<16xi64>
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ("%v, %v", "x"),
        ("%v, %k64", "xn"),
        ("%v, %w64", "x"),  # floats are no numbers of an array
        ("%v, %c64", "x"),  # nor do bytes tell much
        ("%v, %o", "x"),  # what the host allocates is no argument
        ("%l, %k64", "mn"),
        ("%l, %l", "m"),  # %n tells places alone
    ],
)
def test_arguments_that_values_are_computed_from(values: str, wanted: str) -> None:
    module = parse(ARRAYS.replace("VALUES", values))
    assert {array.name_hint for array in _arrays([only(module, RmwOp)])} == set(wanted)
