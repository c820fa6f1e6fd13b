"""Carried values that vector memory holds."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IndexType, MemRefType, bf16, f16, f32, i1, i8, i32, i64
from xdsl.ir import Attribute

from kopt.analysis.carried_in_scratch import is_held
from kopt.dialects.tile import RangeType, RefType, TileType


@pytest.mark.parametrize(
    "type, held",
    [
        (TileType([8, 128], f32), True),
        (TileType([], f32), True),
        (TileType([8], bf16), True),
        (TileType([8], i32), True),
        (TileType([8], i8), True),
        (TileType([8], i1), False),
        (TileType([8], f16), False),
        (TileType([8], i64), False),
        (TileType([], i64), False),
        (f32, False),
        (IndexType(), False),
        (RangeType("b0", 8), False),
        (RefType([8], f32), False),
        (MemRefType(f32, [8]), False),
    ],
    ids=str,
)
def test_tiles_of_what_memory_has(type: Attribute, held: bool) -> None:
    assert is_held(type) is held
