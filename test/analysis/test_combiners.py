"""How partial results of loops are combined, and what loops have no combiner."""

from __future__ import annotations

from math import log

import pytest

from kopt import parse
from kopt.analysis.combiners import Combination, NotAReduction, Placed, Rescaled, combiners
from kopt.analysis.independent_loops import independent_loop
from kopt.analysis.powers import Power, Powers
from kopt.analysis.splits import chosen_split, most_parts
from kopt.dialects.tile import ELEMENTWISE, ForOp, GridOp
from kopt.targets.chips import GPU_CHIPS
from test.named import only

TILE, INT, BOOL = "!tile.tile<b0=8 x f32>", "!tile.tile<b0=8 x i32>", "!tile.tile<b0=8 x i1>"
TEXT = """
func.func @f(%x: memref<64x400000xf32>, %out: memref<64xf32>) {{
  tile.grid (%i: b0=8) in (64) {{
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %low = tile.full -inf : !tile.tile<b0=8 x f32>
    %p = tile.full 7 : !tile.tile<b0=8 x i32>
    %r:2 = tile.for %k: b1=1024 in (0, 400000) iter({carried}) {{
      %b = tile.load %x[%i, %k] : memref<64x400000xf32> -> !tile.tile<b0=8 x b1=1024 x f32>
      %v = tile.reduce max %b [1] : !tile.tile<b0=8 x b1=1024 x f32>
      {body}
    }}
    tile.store %z, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }}
  func.return
}}
"""
SUMS = f"%m = %low, %a = %z) -> ({TILE}, {TILE}"
ONLINE = f"""
      %n = tile.maximum %m, %v : {TILE}
      %d = tile.sub {{old}}, {{new}} : {TILE}
      %f = tile.{{exp}} %d : {TILE}
      %c = tile.mul %a, %f : {TILE}
      %t = tile.broadcast %n dims [0] : {TILE} to !tile.tile<b0=8 x b1=1024 x f32>
      %u = tile.sub %b, %t : !tile.tile<b0=8 x b1=1024 x f32>
      %e = tile.exp %u : !tile.tile<b0=8 x b1=1024 x f32>
      %s = tile.reduce add %e [1] : !tile.tile<b0=8 x b1=1024 x f32>
      %y = tile.add %c, %s : {TILE}
      tile.yield %n, %y : {TILE}, {TILE}"""
PLACES = f"%m = {{start}}, %a = %p) -> ({TILE}, {INT}"
BEST = f"""
      %g = tile.gt %v, %m : {TILE}
      %y = tile.select %g, %v, %m : {TILE}
      %q = tile.argreduce max %b dim 1 : !tile.tile<b0=8 x b1=1024 x f32>
      %w = tile.select %g, %q, %a : {INT}
      tile.yield %y, %w : {TILE}, {INT}"""


def grid_of(carried: str, body: str) -> GridOp:
    return only(parse(TEXT.format(carried=carried, body=body)), GridOp)


def found(carried: str, body: str) -> tuple[object, ...]:
    return combiners(only(grid_of(carried, body), ForOp))


def online(old: str = "%m", new: str = "%n", exp: str = "exp") -> str:
    return ONLINE.format(old=old, new=new, exp=exp)


def test_online_sums_are_rescaled_by_their_maximum() -> None:
    assert found(SUMS, online()) == (Combination("max"), Rescaled(0, -1.0, (0,)))


@pytest.mark.parametrize("change", [{"old": "%n", "new": "%m"}, {"exp": "exp2"}, {"new": "%v"}])
def test_what_is_rescaled_by_another_factor_is_not(change: dict[str, str]) -> None:
    """``exp2`` beside ``exp``: the two bases differ."""
    with pytest.raises(NotAReduction, match="'a' is not a plain sum"):
        found(SUMS, online(**change))


EQUAL = f"%edge = tile.eq %m, %n : {TILE}"
ONE = f"%one = tile.full 1.0 : {TILE}"
CHOSEN = f"%g = tile.select %edge, %one, %f : {TILE}"
INFINITE = f"%h = tile.abs %{{}} : {TILE}\n%inf = tile.full inf : {TILE}\n%edge = tile.eq %h, %inf : {TILE}"


def with_factor(*lines: str, sum: str = "") -> tuple[object, ...]:
    """The loop whose factor is ``%g``, made by lines after ``%f``; and whose rescaled sum is ``%w``."""
    text = online().replace("%c = tile.mul %a, %f", "\n".join(lines) + "\n%c = tile.mul %a, %g")
    if sum:
        text = text.replace("%y = tile.add %c", f"{sum}\n%y = tile.add %w")
    return found(SUMS, text)


RESCALED = [
    (f"%h = tile.cast %f : {TILE} to !tile.tile<b0=8 x bf16>",
     f"%g = tile.cast %h : !tile.tile<b0=8 x bf16> to {TILE}"),
    (f"%g = tile.broadcast %f dims [0] : {TILE} to {TILE}",),
    (EQUAL, ONE, CHOSEN),
    (EQUAL.replace("%m, %n", "%n, %m"), ONE, CHOSEN),
    (INFINITE.format("m"), ONE, CHOSEN),
    (INFINITE.format("n"), ONE, CHOSEN),
    (EQUAL.replace("edge", "same"), INFINITE.format("m").replace("edge", "far"),
     f"%edge = tile.or %same, %far : {BOOL}", ONE, CHOSEN),
    (EQUAL.replace("edge", "same"), f"%other = tile.lt %m, %v : {TILE}",
     f"%edge = tile.and %other, %same : {BOOL}", ONE, CHOSEN),
]  # fmt: skip
OTHERWISE = [
    (f"%h = tile.cast %f : {TILE} to {INT}", f"%g = tile.cast %h : {INT} to {TILE}"),
    (EQUAL, ONE.replace("1.0", "2.0"), CHOSEN),
    (EQUAL, f"%g = tile.select %edge, %f, %f : {TILE}"),
    (EQUAL.replace("%m, %n", "%m, %v"), ONE, CHOSEN),
    (EQUAL.replace("tile.eq", "tile.le"), ONE, CHOSEN),
    (INFINITE.format("v"), ONE, CHOSEN),
    (EQUAL.replace("edge", "same"), f"%other = tile.lt %m, %v : {TILE}",
     f"%edge = tile.or %other, %same : {BOOL}", ONE, CHOSEN),
    (f"%g = tile.neg %f : {TILE}",),
]  # fmt: skip


@pytest.mark.parametrize("lines", RESCALED)
def test_factors_that_are_one_at_the_edges(lines: tuple[str, ...]) -> None:
    """They are 1 only where the maximum stays, or is infinite; rounding changes no power."""
    assert with_factor(*lines) == (Combination("max"), Rescaled(0, -1.0, (0,)))


@pytest.mark.parametrize("lines", OTHERWISE)
def test_other_factors(lines: tuple[str, ...]) -> None:
    with pytest.raises(NotAReduction, match="'a' is not a plain sum"):
        with_factor(*lines)


@pytest.mark.parametrize(("of", "is_rescaled"), [("%z", True), ("%v", False)])
def test_sums_that_are_zero_at_the_edges(of: str, is_rescaled: bool) -> None:
    """Of a maximum of minus infinity nothing was summed yet."""
    lines = (f"%g = tile.broadcast %f dims [0] : {TILE} to {TILE}", INFINITE.format("m"))
    chosen = f"%w = tile.select %edge, {of}, %c : {TILE}"
    if is_rescaled:
        assert with_factor(*lines, sum=chosen) == (Combination("max"), Rescaled(0, -1.0, (0,)))
    else:
        with pytest.raises(NotAReduction, match="'a' is not a plain sum"):
            with_factor(*lines, sum=chosen)


NAN = f"%nv = tile.isnan %v : {TILE}\n%nm = tile.isnan %m : {TILE}\n%old = tile.not %nm : {BOOL}\n"


def best(condition: str) -> tuple[object, ...]:
    body = BEST.replace("%g = tile.gt", "%more = tile.gt")
    return found(PLACES.format(start="%low"), body.replace("%y = ", f"{NAN}{condition}\n%y = ", 1))


def test_the_best_is_the_first_nan_where_there_is_one() -> None:
    condition = f"%first = tile.and %nv, %old : {BOOL}\n%g = tile.or %more, %first : {BOOL}"
    assert best(condition) == (Combination("max"), Placed(0))


@pytest.mark.parametrize(
    "condition",
    [
        f"%g = tile.or %more, %nv : {BOOL}",
        f"%first = tile.and %nv, %nm : {BOOL}\n%g = tile.or %more, %first : {BOOL}",
        f"%new = tile.not %nv : {BOOL}\n%first = tile.and %nm, %new : {BOOL}\n%g = tile.or %more, %first : {BOOL}",
        f"%first = tile.and %nv, %old : {BOOL}\n%less = tile.lt %v, %m : {TILE}\n"
        f"%both = tile.xor %less, %first : {BOOL}\n%g = tile.or %both, %first : {BOOL}",
        f"%first = tile.and %nv, %old : {BOOL}\n%w2 = tile.gt %m, %v : {TILE}\n%g = tile.or %w2, %first : {BOOL}",
    ],
)
def test_what_is_not_the_first_nan(condition: str) -> None:
    with pytest.raises(NotAReduction):
        best(condition)


def test_places_of_the_best_stand_beside_it() -> None:
    assert found(PLACES.format(start="%low"), BEST) == (Combination("max"), Placed(0))


def test_a_best_that_starts_somewhere_may_be_of_no_part() -> None:
    with pytest.raises(NotAReduction, match="'a' is not a plain sum"):
        found(PLACES.format(start="%z"), BEST)


def test_powers_of_a_maximum() -> None:
    loop = only(grid_of(SUMS, online()), ForOp)
    top, summed = loop.yielded[0], loop.yielded[1].owner.operands[1]  # pyright: ignore
    assert Powers(top).of(summed) == Power(-1.0, top, (0,))
    assert Powers(top).of(top) is None
    exp2 = only(grid_of(SUMS, online(exp="exp2")), ELEMENTWISE["exp2"])
    assert Powers(exp2.operands[0].owner.operands[1]).of(exp2.results[0]).rate == -log(2)  # pyright: ignore


def test_parts_are_as_many_as_pay() -> None:
    grid = grid_of(SUMS, online())
    assert most_parts(grid) == 391
    parts = chosen_split(grid, GPU_CHIPS["sm90"])
    assert 16 < parts < 391


STORES = """
func.func @f(%x: memref<64x100xf32>, %out: memref<64x100xf32>) {{
  tile.grid (%i: b0=8) in (64) {{
    tile.for %k: b1=16 in (0, 100) {{
      %b = tile.load {source} : memref<64x100xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      tile.store %b, {target} : !tile.tile<b0=8 x b1=16 x f32>, memref<64x100xf32>
    }}
  }}
  func.return
}}
"""


def stores(source: str, target: str = "%out[%i, %k]") -> GridOp:
    return only(parse(STORES.format(source=source, target=target)), GridOp)


@pytest.mark.parametrize("source", ["%x[%i, %k]", "%out[%i, %k]"])
def test_visits_that_store_their_own_blocks_are_independent(source: str) -> None:
    assert independent_loop(stores(source))[1] == 7


def test_visits_that_load_what_others_store_are_not() -> None:
    shifted = "%out[%i, %h]"
    text = STORES.replace(
        "%b = ", "%one = arith.constant 1 : index\n      %h = tile.shift %k by %one : !tile.range<b1=16>\n      %b = "
    )
    with pytest.raises(NotAReduction, match="its cells load what they write"):
        independent_loop(only(parse(text.format(source=shifted, target="%out[%i, %k]")), GridOp))
