"""What `kopt.ir.ranges` and `padding` know of loops and of lanes outside their range."""

from __future__ import annotations

import math

import pytest
from xdsl.dialects.builtin import ModuleOp

import kopt
from kopt.analysis.padding import Inexact, LoadPadding, padding
from kopt.dialects.tile import ForOp, GridOp, StoreOp
from kopt.ir.ranges import always_full, binding, ranges_in_scope, visits

LOOPS = """
func.func @f(%x: memref<100xf32>, %n: memref<1xi32>) {{
  tile.grid (%i: b0={outer}) in ({lower} to {upper}) {{
    %lo = tile.begin %i : !tile.range<b0={outer}>
    %hi = tile.end %i : !tile.range<b0={outer}>
    tile.for %k: b1={inner} in (%lo, %hi) {{
      %v = tile.load %x[%k] : memref<100xf32> -> !tile.tile<b1={inner} x f32>
    }}
  }}
  func.return
}}
"""


def _loops(**numbers: int) -> tuple[GridOp, ForOp]:
    module = kopt.parse(LOOPS.format(**numbers))
    ops = list(module.walk())
    return next(op for op in ops if isinstance(op, GridOp)), next(op for op in ops if isinstance(op, ForOp))


@pytest.mark.parametrize(
    ("numbers", "outer_full", "inner_full"),
    [
        ({"outer": 32, "lower": 0, "upper": 96, "inner": 16}, True, True),
        ({"outer": 32, "lower": 0, "upper": 100, "inner": 16}, False, False),
        ({"outer": 32, "lower": 4, "upper": 100, "inner": 16}, True, True),
        ({"outer": 32, "lower": 0, "upper": 96, "inner": 24}, True, False),
        ({"outer": 32, "lower": 0, "upper": 0, "inner": 16}, True, True),
    ],
)
def test_always_full(numbers: dict[str, int], outer_full: bool, inner_full: bool) -> None:
    grid, loop = _loops(**numbers)
    assert always_full(grid.ranges[0]) is outer_full
    assert always_full(loop.range) is inner_full


def test_binding_counts_trips() -> None:
    grid, loop = _loops(outer=32, lower=4, upper=99, inner=16)
    assert binding(grid.ranges[0]).trips == 3
    assert binding(loop.range).trips is None


@pytest.mark.parametrize(
    ("numbers", "count"),
    [
        ({"outer": 32, "lower": 0, "upper": 96, "inner": 16}, 2),
        ({"outer": 32, "lower": 0, "upper": 96, "inner": 24}, 2),
        ({"outer": 32, "lower": 0, "upper": 100, "inner": 16}, None),
        ({"outer": 32, "lower": 4, "upper": 9, "inner": 2}, 3),
        ({"outer": 32, "lower": 0, "upper": 31, "inner": 16}, 2),
    ],
)
def test_visits_of_a_block_that_is_full_or_the_only_one(numbers: dict[str, int], count: int | None) -> None:
    grid, loop = _loops(**numbers)
    assert visits(loop.range) == count
    assert visits(grid.ranges[0]) == binding(grid.ranges[0]).trips


def test_scope_is_what_loops_around_bind() -> None:
    _, loop = _loops(outer=32, lower=0, upper=96, inner=16)
    assert set(ranges_in_scope(loop.body.block.first_op)) == {"b0", "b1"}
    assert set(ranges_in_scope(loop)) == {"b0"}


PADDED = """
func.func @f(%x: memref<100xf32>, %y: memref<100x64xf32>) {
  tile.grid (%i: b0=32) in (100) {
    %v = tile.load %x[%i] pad -inf : memref<100xf32> -> !tile.tile<b0=32 x f32>
    OPS
  }
  func.return
}
"""


def _stored(ops: str, type: str = "b0=32 x f32") -> StoreOp:
    store = f"tile.store %r, %y[%i, 0] : !tile.tile<{type}>, memref<100x64xf32>"
    module: ModuleOp = kopt.parse(PADDED.replace("OPS", ops + "\n" + store))
    return next(op for op in module.walk() if isinstance(op, StoreOp))


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        ("%r = tile.neg %v : !tile.tile<b0=32 x f32>", math.inf),
        ("%r = tile.exp %v : !tile.tile<b0=32 x f32>", 0.0),
        ("%r = tile.mask %v in (%i) else 3.0 : !tile.tile<b0=32 x f32>", 3.0),
        ("%r = tile.sin %v : !tile.tile<b0=32 x f32>", None),
        ("%z = tile.mask %v in (%i) else 0.0 : !tile.tile<b0=32 x f32>\n"
         "%r = tile.mul %z, %z : !tile.tile<b0=32 x f32>", 0.0),
        ("%c = tile.full 3.0 : !tile.tile<b0=32 x f32>\n%r = tile.mul %c, %c : !tile.tile<b0=32 x f32>", None),
        ("%c = tile.full 2.0 : !tile.tile<b0=32 x f32>\n%r = tile.maximum %c, %v : !tile.tile<b0=32 x f32>", 2.0),
        ("%c = tile.full 3.0 : !tile.tile<b0=32 x f32>\n%l = tile.log %c : !tile.tile<b0=32 x f32>\n"
         "%z = tile.full 0.0 : !tile.tile<b0=32 x f32>\n%d = tile.sub %l, %z : !tile.tile<b0=32 x f32>\n"
         "%r = tile.mul %z, %d : !tile.tile<b0=32 x f32>", 0.0),
        ("%c = tile.full 1.0 : !tile.tile<b0=32 x f32>\n%r = tile.log %c : !tile.tile<b0=32 x f32>", Inexact(0.0)),
        ("%r = tile.log %v : !tile.tile<b0=32 x f32>", None),
        ("%z = tile.full 0.0 : !tile.tile<b0=32 x f32>\n%r = tile.mul %z, %v : !tile.tile<b0=32 x f32>", None),
        ("%w = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>\n"
         "%r = tile.maximum %w, %v : !tile.tile<b0=32 x f32>", None),
    ],
)  # fmt: skip
def test_padding(ops: str, expected: float | None) -> None:
    found = padding(_stored(ops).value, "b0")
    assert isinstance(found, Inexact) == isinstance(expected, Inexact)
    if isinstance(found, Inexact) and expected is not None:
        assert math.isclose(found, expected, abs_tol=1e-9) and found != expected  # no target need give just that number
        return
    assert (None if found is None or math.isnan(found) else found) == expected


@pytest.mark.parametrize(
    ("ops", "number", "expected"),
    [
        ("%r = tile.mul %w, %w : !tile.tile<b0=32 x f32>", 0.0, 0.0),
        ("%r = tile.exp %w : !tile.tile<b0=32 x f32>", -math.inf, 0.0),
        ("%r = tile.exp %w : !tile.tile<b0=32 x f32>", 3.0, None),
        ("%r = tile.maximum %w, %v : !tile.tile<b0=32 x f32>", 0.0, 0.0),
        ("%r = tile.add %w, %v : !tile.tile<b0=32 x f32>", 1.0, None),
    ],
)
def test_padding_of_loads_that_may_pad(ops: str, number: float, expected: float | None) -> None:
    """Loads that pad already keep their number; those that may not are not known."""
    load = "%w = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>\n"
    value = _stored(load + ops).value
    found = LoadPadding({"b0"}, number, lambda load, fill: True)
    held = found.of(value)
    assert (None if held is None or math.isnan(held) else held) == expected
    assert [load.result.name_hint for load in found.loads] == ["w"]
    assert LoadPadding({"b0"}, number, lambda load, fill: False).of(value) is None


BEHIND = """
func.func @f(%x: memref<100xf32>) {{
  tile.grid (%i: b0={outer}) in (4 to {extent}) {{
    %b = tile.{end} %i : !tile.range<b0={outer}>
    tile.for %k: b1=2 in ({bounds}) {{
      %v = tile.load %x[%k] : memref<100xf32> -> !tile.tile<b1=2 x f32>
    }}
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("outer", "extent", "end", "bounds", "count"),
    [
        (32, 9, "end", "0, %b", 5),
        (32, 9, "begin", "%b, 9", 3),
        (32, 9, "begin", "0, %b", 2),
        (4, 8, "end", "0, %b", 4),
        (4, 9, "end", "0, %b", None),  # of two blocks
        (4, 9, "begin", "%b, 9", None),
    ],
)
def test_visits_between_a_number_and_an_end_of_the_only_block(
    outer: int, extent: int, end: str, bounds: str, count: int | None
) -> None:
    module = kopt.parse(BEHIND.format(outer=outer, extent=extent, end=end, bounds=bounds))
    assert visits(next(op for op in module.walk() if isinstance(op, ForOp)).range) == count


def test_visits_of_the_only_block_of_a_range_that_is_shifted() -> None:
    module = kopt.parse(
        LOOPS.format(outer=32, lower=4, upper=9, inner=2)
        .replace(
            "%lo = tile.begin %i",
            "%one = arith.constant 1 : index %s = tile.shift %i by %one : !tile.range<b0=32> %lo = tile.begin %s",
        )
        .replace("%hi = tile.end %i", "%hi = tile.end %s")
    )
    assert visits(next(op for op in module.walk() if isinstance(op, ForOp)).range) == 3
