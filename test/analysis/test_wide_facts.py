"""What is known of 64-bit integers, op by op: intervals hold all that can come of them, or there is no interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import pytest
from xdsl.dialects.builtin import f64, i1, i32, i64
from xdsl.ir import OpResult

from kopt import parse
from kopt.analysis.wide_facts import HIGH, LOW, WideFact, array_of, fact_of, has_facts, is_wide
from kopt.dialects.tile import TileType
from test.named import named

WIDE, NARROW = "!tile.tile<4 x 8 x i64>", "!tile.tile<4 x 8 x i32>"
TEXT = """
func.func @f(%x: memref<100xi64>, %y: memref<100xi32>, %a: {wide}, %b: {wide}, %c: {narrow},
             %flag: !tile.tile<4 x 8 x i1>, %byte: !tile.tile<4 x 8 x ui8>, %w: !tile.tile<4 x 8 x ui32>, %n: index) {{
  tile.grid (%i: b0=8) in (100) {{
    {body}
  }}
  func.return
}}
"""


def fact(body: str, known: Mapping[str, WideFact] | None = None, found: Mapping[str, tuple[int, int]] | None = None):
    """The fact of ``%r``, after those of what it is computed from."""
    module = parse(TEXT.format(body=body, wide=WIDE, narrow=NARROW))
    values = named(module)
    facts = {values[name]: each for name, each in (known or {}).items()}
    intervals = {values[name]: each for name, each in (found or {}).items()}
    for op in module.walk():
        facts |= {result: fact_of(result, facts, intervals) for result in op.results if has_facts(result)}
    return facts[values["r"]]


def exact(low: int, high: int) -> WideFact:
    return WideFact("exact", low, high)


@pytest.mark.parametrize(
    ("type", "wanted"),
    [(i64, True), (i32, False), (f64, False), (TileType([4], i64), True), (TileType([4], i1), False)],
)
def test_types_of_64_bit_integers(type, wanted: bool) -> None:
    assert is_wide(type) is wanted


@pytest.mark.parametrize(
    ("amount", "wanted"),
    [
        (None, exact(0, 108)),
        ("%k = arith.constant 1000 : index", exact(1000, 1108)),
        ("%k = arith.constant -1000 : index", exact(-1000, -892)),
        ("%k = arith.constant 2147483600 : index", exact(LOW + 1, HIGH - 1)),
        ("%k = tile.begin %i : !tile.range<b0=8>", exact(0, 204)),
        ("%k = arith.addi %n, %n : index", exact(LOW + 1, HIGH - 1)),
    ],
)
def test_lanes_of_a_shifted_range(amount: str | None, wanted: WideFact) -> None:
    shift = "" if amount is None else f"{amount}\n%s = tile.shift %i by %k : !tile.range<b0=8>\n"
    lanes = f"%l = tile.index %{'i' if amount is None else 's'} : !tile.range<b0=8>\n"
    body = f"{shift}{lanes}%r = tile.cast %l : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x i64>"
    assert fact(body) == wanted


# What comes from nothing.

SOURCES = {
    "a number": (f"%r = tile.full 7 : {WIDE}", exact(7, 7)),
    "the lowest that fits": (f"%r = tile.full {LOW} : {WIDE}", exact(LOW, LOW)),
    "one lower": (f"%r = tile.full {LOW - 1} : {WIDE}", WideFact("literal")),
    "one higher than the highest": (f"%r = tile.full {HIGH + 1} : {WIDE}", WideFact("literal")),
    "numbers at equal distances": ("%r = tile.arange 3, 2 : !tile.tile<64 x i64>", exact(3, 129)),
    "falling": ("%r = tile.arange 3, -2 : !tile.tile<64 x i64>", exact(-123, 3)),
    "as many as do not fit": ("%r = tile.arange 2147483640, 1 : !tile.tile<64 x i64>", None),
    "a load": ("%r = tile.load %x[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>", WideFact("loaded")),
    "an index of no known size": (f"%r = tile.splat %n : index to {WIDE}", exact(LOW + 1, HIGH - 1)),
}


@pytest.mark.parametrize(("body", "wanted"), SOURCES.values(), ids=SOURCES)
def test_facts_of_sources(body: str, wanted: WideFact | None) -> None:
    assert fact(body) == wanted


@pytest.mark.parametrize(
    ("index", "wanted"),
    [
        ("%k = arith.constant 5 : index", exact(5, 5)),
        ("%z = arith.constant 0 : index\n%k = arith.maxsi %n, %z : index", exact(LOW + 1, HIGH - 1)),
        ("%z = arith.constant 9 : index\n%k = arith.minsi %n, %z : index", exact(LOW + 1, HIGH - 1)),
        ("%k = tile.begin %i : !tile.range<b0=8>", exact(0, 96)),
    ],
)
def test_an_index_of_which_something_is_known(index: str, wanted: WideFact) -> None:
    assert fact(f"{index}\n%r = tile.splat %k : index to {WIDE}") == wanted


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        (exact(1, 5), exact(1, 5)),
        (WideFact("offset", 1, 5), WideFact("offset", 1, 5)),
        (WideFact("loaded"), None),
        (WideFact("literal"), None),
    ],
)
def test_sorted_numbers_are_the_same_where_none_was_saturated(known: WideFact, wanted: WideFact | None) -> None:
    assert fact(f"%r, %p = tile.sort %a dim 1 : {WIDE}", {"a": known}) == wanted


@pytest.mark.parametrize(
    ("op", "a", "b", "wanted"),
    [
        ("or", (-4, 3), (0, 1), (-8, 7)),
        ("or", (0, 4), (0, 3), (0, 7)),
        ("xor", (0, 7), (0, 8), (0, 15)),
        ("and", (-4, 3), (0, 5), (0, 5)),
        ("and", (1, 3), (0, 5), (0, 3)),
        ("shl", (-3, 5), (1, 4), (-48, 80)),
        ("shl", (0, 0), (31, 31), (0, 0)),
        ("shl", (0, 0), (32, 32), None),
        ("shl", (0, 0), (-1, 3), None),
        ("shr", (-9, 5), (1, 2), (-5, 2)),
        ("shr", (-9, 5), (0, 63), (-9, 5)),
        ("shr", (-9, 5), (0, 64), None),
    ],
)
def test_bits_and_shifts(op: str, a: tuple[int, int], b: tuple[int, int], wanted: tuple[int, int] | None) -> None:
    found = fact(f"%r = tile.{op} %a, %b : {WIDE}", {"a": exact(*a), "b": exact(*b)})
    assert found == (None if wanted is None else exact(*wanted))


def test_a_load_of_what_a_check_found() -> None:
    body = SOURCES["a load"][0]
    assert fact(body, found={"x": (-3, 9)}) == WideFact("offset", -3, 9)
    assert fact(body, found={"y": (-3, 9)}) == WideFact("loaded")


FILLS = {
    "nothing": ("", WideFact("offset", -3, 9)),
    "a number that is in it": ("pad 4", WideFact("offset", -3, 9)),
    "one beyond it": ("pad 12", WideFact("offset", -3, 12)),
    "one that 32 bits have not": (f"pad {HIGH + 1}", WideFact("literal")),
    "the least of 64 bits": (f"pad {-(2**63)}", WideFact("offset", LOW, 9)),
    "the other number": ("mask %m other -5", WideFact("offset", -5, 9)),
    "the other number, which 32 bits have not": (f"mask %m other {LOW - 1}", WideFact("literal")),
    "the least of 64 bits as the other number": (f"mask %m other {-(2**63)}", WideFact("literal")),
    "both": ("mask %m other -5 pad 12", WideFact("offset", -5, 12)),
}


@pytest.mark.parametrize(("fill", "wanted"), FILLS.values(), ids=FILLS)
def test_a_load_has_what_it_fills_in_too(fill: str, wanted: WideFact) -> None:
    body = f"""%m = tile.full 1 : !tile.tile<b0=8 x i1>
    %r = tile.load %x[%i] {fill} : memref<100xi64> -> !tile.tile<b0=8 x i64>"""
    assert fact(body, found={"x": (-3, 9)}) == wanted
    assert fact(body) == WideFact("loaded")


@pytest.mark.parametrize(
    ("source", "lowest", "highest"),
    [
        ("%flag : !tile.tile<4 x 8 x i1>", 0, 1),
        ("%byte : !tile.tile<4 x 8 x ui8>", 0, 255),
        (f"%c : {NARROW}", LOW, HIGH),
    ],
)
def test_a_narrower_integer_has_its_types_numbers(source: str, lowest: int, highest: int) -> None:
    assert fact(f"%r = tile.cast {source} to {WIDE}") == exact(lowest, highest)


def test_unsigned_numbers_of_32_bits_do_not_fit() -> None:
    assert fact(f"%r = tile.cast %w : !tile.tile<4 x 8 x ui32> to {WIDE}") is None


CASTS = {
    "a found array": ("%v = tile.load %y[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>", "b0=8", exact(2, 5)),
    "numbers": ("%v = tile.arange 1, 1 : !tile.tile<8 x i32>", "8", exact(1, 8)),
    "places of extremes": (f"%v = tile.argreduce max %c dim 1 : {NARROW}", "4", exact(0, 7)),
}


CAST_BEFORE = {
    "as the type's own ends": (-128, 127, "i8", exact(-128, 127)),
    "from the type's lowest": (-128, 3, "i8", exact(-128, 3)),
    "to the type's highest": (5, 127, "i8", exact(5, 127)),
    "one number": (9, 9, "i8", exact(9, 9)),
    "below the lowest": (-129, 3, "i8", exact(-128, 127)),
    "above the highest": (5, 256, "ui8", exact(0, 255)),
}


@pytest.mark.parametrize(("low", "high", "through", "wanted"), CAST_BEFORE.values(), ids=CAST_BEFORE)
def test_a_cast_to_a_type_that_holds_all_changes_nothing(low: int, high: int, through: str, wanted: WideFact) -> None:
    dims = high - low + 1
    body = f"""%v = tile.arange {low}, 1 : !tile.tile<{dims} x i16>
    %u = tile.cast %v : !tile.tile<{dims} x i16> to !tile.tile<{dims} x {through}>
    %r = tile.cast %u : !tile.tile<{dims} x {through}> to !tile.tile<{dims} x i64>"""
    assert fact(body) == wanted


@pytest.mark.parametrize(("body", "dim", "wanted"), CASTS.values(), ids=CASTS)
def test_a_cast_has_the_interval_of_what_it_casts(body: str, dim: str, wanted: WideFact) -> None:
    cast = f"{body}\n %r = tile.cast %v : !tile.tile<{dim} x i32> to !tile.tile<{dim} x i64>"
    assert fact(cast, found={"y": (2, 5)}) == wanted


def test_lane_numbers_of_blocks_hold_all_lanes() -> None:
    """The last of 13 blocks has lanes up to 103."""
    found = fact(
        "%v = tile.index %i : !tile.range<b0=8>\n %r = tile.cast %v : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x i64>"
    )
    assert found is not None and found.kind == "exact" and found.low <= 0 and 103 <= found.high <= 108


# What is computed: all results of all operands are in the interval.

INTERVALS = [(0, 5), (-3, 4), (-7, -2), (3, 3), (-1, 0)]
BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "minimum": min,
    "maximum": max,
    "floordiv": lambda a, b: a // b,
    "truncdiv": lambda a, b: int(a / b),
    "mod": lambda a, b: a % b,
    "rem": lambda a, b: a - b * int(a / b),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
}
UNARY: dict[str, Callable[[int], int]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "not": lambda a: ~a,
    "sign": lambda a: (a > 0) - (a < 0),
}
#: What has the smallest interval there is.
TIGHT = ("add", "sub", "mul", "minimum", "maximum")


def numbers(interval: tuple[int, int]) -> range:
    return range(interval[0], interval[1] + 1)


@pytest.mark.parametrize("name", BINARY)
def test_results_of_two_intervals_are_inside(name: str) -> None:
    values = named(parse(TEXT.format(body=f"%r = tile.{name} %a, %b : {WIDE}", wide=WIDE, narrow=NARROW)))
    result = values["r"]
    assert isinstance(result, OpResult)
    for first, second in product(INTERVALS, INTERVALS):
        pairs = [(a, b) for a in numbers(first) for b in numbers(second)]
        if name in ("floordiv", "truncdiv", "mod", "rem"):
            pairs = [(a, b) for a, b in pairs if b]
        if name in ("shl", "shr") and second[0] < 0:
            pairs = []
        results = [BINARY[name](a, b) for a, b in pairs]
        found = fact_of(result, {values["a"]: exact(*first), values["b"]: exact(*second)}, {})
        if not results:
            continue
        assert found is not None and found.kind == "exact", (first, second)
        assert found.low <= min(results) and max(results) <= found.high, (first, second, found)
        if name in TIGHT:
            assert (found.low, found.high) == (min(results), max(results))


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("interval", INTERVALS)
def test_results_of_an_interval_are_inside(name: str, interval: tuple[int, int]) -> None:
    found = fact(f"%r = tile.{name} %a : {WIDE}", {"a": exact(*interval)})
    results = [UNARY[name](a) for a in numbers(interval)]
    assert found is not None and found.kind == "exact" and found.low <= min(results) and max(results) <= found.high


def _one_of(name: str, ends: tuple[int, int], type: str) -> str:
    """A number that is somewhere between two ends, as far as is known."""
    lanes = f"!tile.tile<{ends[1] - ends[0] + 1} x {type}>"
    return f"%{name}s = tile.arange {ends[0]}, 1 : {lanes}\n%{name} = tile.reduce max %{name}s [0] : {lanes}"


@pytest.mark.parametrize("name", [*BINARY, *UNARY])
@pytest.mark.parametrize("type", ["i8", "ui8"])
def test_narrower_integers_are_computed_with_until_they_wrap(name: str, type: str) -> None:
    """What wraps may be any number of the type."""
    low, high = (0, 255) if type == "ui8" else (-128, 127)
    places = [(0, 5), (3, 3), (low, low + 1), (high - 1, high), (7, 40)]
    for first, second in product(places, places if name in BINARY else places[:1]):
        body = f"{_one_of('p', first, type)}\n{_one_of('q', second, type)}"
        operands = "%p, %q" if name in BINARY else "%p"
        found = fact(f"{body}\n%r = tile.{name} {operands} : !tile.tile<{type}>")
        pairs = [(a, b) for a in numbers(first) for b in numbers(second)]
        if name in ("floordiv", "truncdiv", "mod", "rem"):
            pairs = [(a, b) for a, b in pairs if b]
        if name in ("shl", "shr"):
            pairs = [(a, b) for a, b in pairs if 0 <= b < 8]
        results = [(BINARY[name](a, b) if name in BINARY else UNARY[name](a)) for a, b in pairs]
        wrapped = [(each - low) % 256 + low for each in results]
        assert found is not None and found.kind == "exact" and low <= found.low <= found.high <= high
        assert all(found.low <= each <= found.high for each in wrapped), (first, second, found)
        if name in TIGHT and results == wrapped:
            assert (found.low, found.high) == (min(results), max(results))


def test_places_of_a_sort_are_those_of_its_lanes() -> None:
    assert fact(f"%v, %r = tile.sort %a dim 1 : {WIDE}", {"a": exact(50, 90)}) == exact(0, 7)


BIG = 2**20
COMPUTED = {
    # name, facts of the operands, what is known
    "what fits no more is right modulo 2^32": ("mul", exact(0, BIG), exact(0, BIG), WideFact("wrapped")),
    "at the end": ("add", exact(0, HIGH - 1), exact(0, 1), exact(0, HIGH)),
    "beyond it": ("add", exact(0, HIGH), exact(0, 1), WideFact("wrapped")),
    "a quotient that fits no more": ("floordiv", exact(LOW, 0), exact(-1, -1), None),
    "sums of what is checked": ("add", WideFact("offset", 0, 9), exact(1, 1), WideFact("offset", 1, 10)),
    "too large sums of it": ("mul", WideFact("offset", 0, BIG), WideFact("offset", 0, BIG), WideFact("derived")),
    "quotients of it": ("floordiv", WideFact("offset", LOW, 0), exact(-1, -1), None),
    "sums of derived": ("add", WideFact("derived"), exact(1, 1), WideFact("derived")),
    "quotients of derived": ("floordiv", WideFact("derived"), exact(2, 2), None),
    "sums of loaded": ("add", WideFact("loaded"), exact(1, 1), None),
    "sums of wrapped": ("add", WideFact("wrapped"), exact(1, 1), WideFact("wrapped")),
    "quotients of wrapped": ("floordiv", WideFact("wrapped"), exact(2, 2), None),
    "wrapped and checked": ("add", WideFact("wrapped"), WideFact("offset", 0, 1), None),
    "bounded on one side": ("minimum", WideFact("loaded"), exact(-5, 9), WideFact("loaded", LOW, 9)),
    "bounded from below": ("maximum", WideFact("loaded"), exact(-5, 9), WideFact("loaded", -5, HIGH)),
    "bounded on the other side too": ("minimum", WideFact("loaded", 0, HIGH), exact(9, 9), exact(0, 9)),
    "shifted too far": ("shl", exact(0, 1), exact(0, 32), None),
    "nothing known": ("add", None, exact(0, 1), None),
}


@pytest.mark.parametrize(("name", "a", "b", "wanted"), COMPUTED.values(), ids=COMPUTED)
def test_classes_of_what_is_computed(
    name: str, a: WideFact | None, b: WideFact | None, wanted: WideFact | None
) -> None:
    known = {name: fact for name, fact in (("a", a), ("b", b)) if fact is not None}
    found = fact(f"%r = tile.{name} %a, %b : {WIDE}", known)
    assert found == wanted if wanted is None or wanted.kind not in ("derived", "wrapped") else found.kind == wanted.kind


@pytest.mark.parametrize(
    ("kind", "known", "wanted"),
    [
        # Of 8 lanes, along a dimension of 8.
        ("add", exact(-1, 3), exact(-8, 24)),
        ("add", exact(1, 3), exact(0, 24)),  # no lane may be valid
        ("add", exact(0, 2**29), WideFact("wrapped")),
        ("add", WideFact("offset", 0, 2), WideFact("offset", 0, 16)),
        ("mul", exact(0, 2), WideFact("wrapped")),
        ("max", exact(-1, 3), exact(-1, 3)),
        ("min", WideFact("loaded"), WideFact("loaded")),
        ("max", WideFact("wrapped"), None),
        ("add", WideFact("loaded"), None),
        ("add", WideFact("derived"), None),
        ("xor", exact(0, 1), None),
    ],
)
def test_reductions(kind: str, known: WideFact, wanted: WideFact | None) -> None:
    assert fact(f"%r = tile.reduce {kind} %a [1] : {WIDE}", {"a": known}) == wanted


def test_a_reduction_over_all_dimensions_has_all_lanes() -> None:
    assert fact(f"%r = tile.reduce add %a [0, 1] : {WIDE}", {"a": exact(-1, 3)}) == exact(-32, 96)
    assert fact(f"%r = tile.scan add %a dim 0 : {WIDE}", {"a": exact(-1, 3)}) == exact(-4, 12)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (exact(0, 3), exact(-2, 1), exact(-2, 3)),
        (exact(0, 3), WideFact("offset", 5, 9), WideFact("offset", 0, 9)),
        (exact(0, 3), WideFact("loaded"), WideFact("loaded")),
        (exact(0, 3), WideFact("literal"), WideFact("literal")),
        (WideFact("loaded"), WideFact("derived"), WideFact("derived")),
        (exact(0, 3), WideFact("wrapped"), WideFact("wrapped")),
        (WideFact("offset", 0, 3), WideFact("wrapped"), None),
        (exact(0, 3), None, None),
    ],
)
def test_what_is_one_of_two_values_is_the_weaker(a: WideFact, b: WideFact | None, wanted: WideFact | None) -> None:
    known = {"a": a} | ({} if b is None else {"b": b})
    assert fact(f"%r = tile.select %flag, %a, %b : {WIDE}", known) == wanted
    assert fact(f"%r = tile.concat %a, %b dim 0 : {WIDE}, {WIDE} to !tile.tile<8 x 8 x i64>", known) == wanted


@pytest.mark.parametrize(
    ("fill", "wanted"),
    [
        (9, exact(0, 9)),
        (-(2**63), exact(LOW, 3)),  # neutral for a maximum, also when it is saturated
        (2**63 - 1, exact(0, HIGH)),
        (2**40, WideFact("literal")),
    ],
)
def test_a_masks_fill_is_one_of_its_numbers(fill: int, wanted: WideFact) -> None:
    assert fact(f"%r = tile.mask %a in (_, _) else {fill} : {WIDE}", {"a": exact(0, 3)}) == wanted


@pytest.mark.parametrize("op", [f"transpose %a [1, 0] : {WIDE}", f"reshape %a : {WIDE} to !tile.tile<32 x i64>"])
@pytest.mark.parametrize(
    "known", [exact(1, 3), WideFact("offset", 1, 3), WideFact("loaded"), WideFact("derived"), WideFact("wrapped")]
)
def test_moves_keep_what_is_known(op: str, known: WideFact) -> None:
    found = fact(f"%r = tile.{op}", {"a": known})
    assert found is not None and (found.kind, found.low, found.high) == (known.kind, known.low, known.high)


def test_views_are_of_their_array() -> None:
    values = named(
        parse("""
func.func @f(%x: memref<100xi64>) {
  %v = host.reshape %x : memref<100xi64> to memref<10x10xi64>
  %z = host.launch @g (%a = %v) writes [] yields (%new : memref<4xi64>) : (memref<10x10xi64>) -> (memref<4xi64>) {
  }
  %y = host.alloc : memref<4xi64>
  func.return
}
""")
    )
    assert array_of(values["a"]) is values["x"] and array_of(values["x"]) is values["x"]
    assert array_of(values["new"]) is values["new"] and array_of(values["y"]) is values["y"]
