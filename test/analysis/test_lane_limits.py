"""The limits of lanes that a mask stands for."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.lane_limits import LaneLimits, lane_limits
from test.named import named

TEXT = """
func.func @f(%m: memref<64xi1>) {{
  tile.grid (%i: b0=8, %j: b1=4) in (64, 64) {{
    %low = tile.begin %i : !tile.range<b0=8>
    %high = tile.end %j : !tile.range<b1=4>
    %at = tile.index %i : !tile.range<b0=8>
    %other = tile.index %j : !tile.range<b1=4>
    %lo = tile.splat %low : index to !tile.tile<b0=8 x i32>
    %hi = tile.splat %high : index to !tile.tile<b0=8 x i32>
    %wide = tile.broadcast %at dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x b1=4 x i32>
    %across = tile.broadcast %other dims [1] : !tile.tile<b1=4 x i32> to !tile.tile<b0=8 x b1=4 x i32>
    %lw = tile.splat %low : index to !tile.tile<b0=8 x b1=4 x i32>
    %loaded = tile.load %m[%i] : memref<64xi1> -> !tile.tile<b0=8 x i1>
    {body}
  }}
  func.return
}}
"""
GE, LT, LE = ("%{} = tile." + op + " {} : !tile.tile<b0=8 x i32>" for op in ("ge", "lt", "le"))
AND = "%mask = tile.and %p, %q : !tile.tile<b0=8 x i1>"


def limits(body: str) -> tuple[LaneLimits | None, dict]:
    values = named(parse(TEXT.format(body=body)))
    return lane_limits(values["mask"]), values


def test_a_comparison_is_one_limit() -> None:
    found, values = limits(GE.format("mask", "%at, %lo"))
    assert found == LaneLimits(values["i"], (values["low"],), ())
    found, values = limits(LT.format("mask", "%at, %hi"))
    assert found == LaneLimits(values["i"], (), (values["high"],))


def test_a_conjunction_has_the_limits_of_both() -> None:
    found, values = limits(f"{GE.format('p', '%at, %lo')}\n{LT.format('q', '%at, %hi')}\n{AND}")
    assert found == LaneLimits(values["i"], (values["low"],), (values["high"],))
    found, values = limits(f"{GE.format('p', '%at, %lo')}\n{GE.format('q', '%at, %hi')}\n{AND}")
    assert found == LaneLimits(values["i"], (values["low"], values["high"]), ())


def test_other_dimensions_repeat_the_lanes() -> None:
    found, values = limits("%mask = tile.lt %wide, %lw : !tile.tile<b0=8 x b1=4 x i32>")
    assert found == LaneLimits(values["i"], (), (values["low"],))
    found, values = limits("%mask = tile.ge %across, %lw : !tile.tile<b0=8 x b1=4 x i32>")
    assert found == LaneLimits(values["j"], (values["low"],), ())


def test_a_shifted_range_is_named_as_it_is() -> None:
    found, values = limits(f"""%far = tile.shift %i by %low : !tile.range<b0=8>
    %there = tile.index %far : !tile.range<b0=8>
    {LT.format("mask", "%there, %lo")}""")
    assert found == LaneLimits(values["far"], (), (values["low"],))


@pytest.mark.parametrize(
    "body",
    [
        LE.format("mask", "%at, %lo"),
        GE.format("mask", "%lo, %at"),
        LT.format("mask", "%at, %at"),
        "%s = tile.add %at, %at : !tile.tile<b0=8 x i32>\n" + LT.format("mask", "%s, %lo"),
        f"{GE.format('p', '%at, %lo')}\n%mask = tile.and %p, %loaded : !tile.tile<b0=8 x i1>",
        f"{GE.format('p', '%at, %lo')}\n{LT.format('q', '%at, %hi')}\n{AND.replace('and', 'or')}",
        f"{GE.format('p', '%at, %lo')}\n%mask = tile.not %p : !tile.tile<b0=8 x i1>",
        # Limits of two ranges.
        """%p = tile.ge %wide, %lw : !tile.tile<b0=8 x b1=4 x i32>
        %q = tile.lt %across, %lw : !tile.tile<b0=8 x b1=4 x i32>
        %mask = tile.and %p, %q : !tile.tile<b0=8 x b1=4 x i1>""",
    ],
)
def test_anything_else_is_no_limit(body: str) -> None:
    assert limits(body)[0] is None
