"""Accesses name buffers of the plan of the grid around them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt.dialects.tile import GridOp
from kopt.dialects.tile.plan_attr import PlanAttr
from kopt.errors import VerifyError
from kopt.parsing import parse_module, verify
from kopt.plans.plan import Buffer
from test.named import only

TEXT = """
func.func @f(%x: memref<64xf32>, %y: memref<64xf32>) {{
  tile.grid (%i: b0=16) in (64) {plan}{{
    %v = tile.load %{array}[%i] via @{name} : memref<64xf32> -> !tile.tile<b0=16 x f32>
    %w = tile.load %x[%i]{more} : memref<64xf32> -> !tile.tile<b0=16 x f32>
  }}
  func.return
}}
"""
PLAN = "plan {order [i] @x = %x window(i)} "


@pytest.mark.parametrize(
    ("plan", "array", "name", "more", "said"),
    [
        (PLAN, "x", "x", "", None),
        ("", "x", "x", "", "no grid around tile.load has one"),
        ("plan {order [i]} ", "x", "x", "", "names no buffer of the plan; there are none"),
        (PLAN, "x", "z", " via @x", "names no buffer of the plan; there are @x"),
        (PLAN, "y", "x", " via @x", "@x is a buffer of %x, and tile.load is of %y"),
    ],
)
def test_what_an_access_names(plan: str, array: str, name: str, more: str, said: str | None) -> None:
    text = TEXT.format(plan=plan, array=array, name=name, more=more)
    if said is None:
        verify(parse_module(text))
        return
    with pytest.raises(VerifyError, match=said):
        verify(parse_module(text))


def test_a_buffer_of_no_array() -> None:
    """What a plan made by hand names is told by the grid, not by the accesses, which are verified before it."""
    module = parse_module(TEXT.format(plan=PLAN, array="x", name="x", more=""))
    grid = only(module, GridOp)
    assert grid.plan is not None
    for operand in ("x", "1"):
        plan = replace(grid.plan.data, buffers=(Buffer("x", operand, "window", ("b0",)),))
        grid.plan_by(PlanAttr(plan), grid.planned)
        with pytest.raises(VerifyError, match=f"plan: names operand %{operand} of 1"):
            verify(module)
