"""Types with other dimensions are otherwise what they were."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import bf16, f32, i32
from xdsl.ir import Attribute

from kopt.dialects.tile import DimAttr, RangeType, RefType, TileType
from kopt.passes.retyping import _replaced

A, B, C = DimAttr(8, "b0"), DimAttr(16), DimAttr(4, "b1")


@pytest.mark.parametrize(
    ("type", "wanted"),
    [
        (TileType([A, B], f32), TileType([C, B], f32)),
        (RefType([B, A], bf16, "smem"), RefType([B, C], bf16, "smem")),
        (RefType([B], f32, "vmem"), RefType([B], f32, "vmem")),
        (RangeType("b0", 8), RangeType("b1", 4)),
        (RangeType("b2", 8), RangeType("b2", 8)),
        (i32, i32),
    ],
    ids=str,
)
def test_other_dimensions(type: Attribute, wanted: Attribute) -> None:
    assert _replaced(type, lambda dim: C if dim == A else dim) == wanted
