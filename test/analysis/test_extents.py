"""Sizes and numbers that are too large for any kernel."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    f32,
    f64,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Region

from kopt.analysis.extents import beyond_limits
from kopt.dialects.tile import DimAttr, RangeType, RefType, TileType
from kopt.limits import INDEX, LANES

BIG = INDEX + 1


def index(number: int) -> IntegerAttr:
    """A number that counts elements."""
    return IntegerAttr(number, IndexType())


@pytest.mark.parametrize(
    "attribute, beyond",
    [
        (IntAttr(INDEX), False),
        (IntAttr(BIG), True),
        (IntAttr(-INDEX), False),
        (IntAttr(-BIG), True),
        (index(INDEX), False),
        (index(BIG), True),
        (index(-BIG), True),
        (IntegerAttr(BIG, i64), False),
        (ArrayAttr([]), False),
        (ArrayAttr([IntAttr(1), ArrayAttr([index(BIG)])]), True),
        (ArrayAttr([IntAttr(1), ArrayAttr([index(INDEX)])]), False),
        (DenseArrayBase.from_list(i64, [1, BIG]), True),
        (DenseArrayBase.from_list(i64, [1, INDEX, DYNAMIC_INDEX]), False),
        (DenseArrayBase.from_list(f64, [2.0 * BIG]), False),
        (StringAttr(str(BIG)), False),
    ],
)
def test_numbers_of_an_op(attribute: Attribute, beyond: bool) -> None:
    found = beyond_limits(TestOp(properties={"a": IntAttr(0), "prop1": attribute}))
    assert found == (f"'test.op' has a number beyond {INDEX}" if beyond else None)


def tile(*sizes: int) -> TileType:
    """A tile of plain dimensions."""
    return TileType([DimAttr(size) for size in sizes], f32)


TYPES = [
    (MemRefType(f32, [INDEX, 2]), None),
    (MemRefType(f32, [2, BIG]), "an array has dimensions"),
    (MemRefType(f32, [DYNAMIC_INDEX]), None),
    (MemRefType(f32, []), None),
    (tile(LANES), None),
    (tile(LANES, 2), "a block has"),
    (tile(1 << 16, 1 << 15), None),
    (tile(1 << 16, 1 << 16), "a block has"),
    (tile(LANES, 2, 0), None),
    (tile(), None),
    (RefType([1 << 16, 1 << 16], f32, "vmem"), "a block has"),
    (RefType([8, 128], f32, "vmem"), None),
    (RangeType("b0", LANES), None),
    (RangeType("b0", LANES + 1), "a block has"),
    (f32, None),
]


@pytest.mark.parametrize("type, problem", TYPES, ids=[str(type) for type, _ in TYPES])
@pytest.mark.parametrize("place", ["result", "argument"])
def test_types_of_results_and_of_arguments(type: Attribute, problem: str | None, place: str) -> None:
    if place == "result":
        op = TestOp(result_types=[f32, type])
    else:
        op = TestOp(regions=[Region([Block(), Block(arg_types=[f32, type])])])
    found = beyond_limits(op)
    if problem is None:
        assert found is None
    else:
        assert found is not None and found.startswith(problem) and found.endswith(f"found {type}")


def test_an_op_answers_for_itself_alone() -> None:
    inside = TestOp(properties={"prop1": IntAttr(BIG)}, result_types=[tile(LANES, 2)])
    assert beyond_limits(TestOp(regions=[Region(Block([inside]))])) is None
    assert beyond_limits(TestOp(operands=[inside.results[0]])) is None
