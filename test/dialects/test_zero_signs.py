"""Values without a sign: what is claimed of each op holds for all numbers, and 0.0 is added to nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from xdsl.dialects.builtin import f32, i1
from xdsl.dialects.builtin import i32 as ir_i32
from xdsl.dialects.test import TestOp

from kopt.dialects.canonicalization.elementwise import RULES
from kopt.dialects.canonicalization.zero_signs import _KEEPS, _SUMS, _UNSIGNED, is_unsigned
from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    CastOp,
    ConcatOp,
    FullOp,
    ReduceOp,
    ReshapeOp,
    SelectOp,
    TileType,
    TransposeOp,
)
from kopt.interpreter.elementwise import compute

NONE = [0.0, 1e-45, 1e-30, 0.5, 1.0, 3.0, 1e30, float("inf"), float("nan")]
ANY = [*NONE, -0.0, -1e-45, -0.5, -3.0, -1e30, -float("inf")]
ROWS = TileType([4, 8], f32)


def unknown(element=f32, shape=(4, 8)):
    return TestOp(result_types=[TileType(list(shape), element)]).results[0]


@pytest.mark.parametrize("name", [*_KEEPS, *_UNSIGNED])
def test_what_is_claimed_holds_for_all_numbers(name: str) -> None:
    numbers = ANY if name in _UNSIGNED else NONE
    columns = [
        np.array(one, np.float32)
        for one in zip(*itertools.product(numbers, repeat=ELEMENTWISE[name].ROW.arity), strict=True)
    ]
    with np.errstate(all="ignore"):
        found = compute(name, *columns)
    assert not np.any(np.signbit(found) & ~np.isnan(found))


@pytest.mark.parametrize("name", _KEEPS)
def test_every_operand_counts(name: str) -> None:
    count = ELEMENTWISE[name].ROW.arity
    for signed in (None, *range(count)):
        operands = [unknown() if n == signed else FullOp(2.0, ROWS).result for n in range(count)]
        assert is_unsigned(ELEMENTWISE[name](*operands).result) == (signed is None)


def test_squares_constants_and_integers() -> None:
    x = unknown()
    assert is_unsigned(ELEMENTWISE["mul"](x, x).result)
    assert not is_unsigned(ELEMENTWISE["mul"](x, unknown()).result) and not is_unsigned(ELEMENTWISE["add"](x, x).result)
    for number, expected in ((0.0, True), (-0.0, False), (-1.0, False), (float("nan"), True), (2.0, True)):
        assert is_unsigned(FullOp(number, ROWS).result) == expected
    assert is_unsigned(CastOp(unknown(i1), f32).result) and not is_unsigned(CastOp(unknown(ir_i32), f32).result)
    assert not is_unsigned(x) and not is_unsigned(ELEMENTWISE["neg"](FullOp(1.0, ROWS)).result)


@pytest.mark.parametrize("kind", ["add", "mul", "max", "min"])
def test_sums_and_moves_of_lanes(kind: str) -> None:
    """A maximum of no lanes is minus infinity."""
    for value, expected in ((ELEMENTWISE["abs"](unknown()).result, True), (unknown(), False)):
        assert is_unsigned(ReduceOp(kind, value, [1]).results[0]) == (expected and kind in _SUMS)
        moved = ReshapeOp(TransposeOp(value, [1, 0]), TileType([32], f32)).result
        assert is_unsigned(moved) == expected
        assert is_unsigned(SelectOp(unknown(i1), value, FullOp(1.0, ROWS)).result) == expected
        assert not is_unsigned(SelectOp(unknown(i1), value, unknown()).result)
        assert is_unsigned(ConcatOp([value, value], 0).result) == expected
        assert is_unsigned(BroadcastOp(value, [1, 2], TileType([2, 4, 8], f32)).result) == expected


def test_zero_is_added_to_what_has_a_sign() -> None:
    def replaced(x):
        op = ELEMENTWISE["add"](FullOp(0.0, ROWS), x)
        return [found for rule in RULES[type(op)] if (found := rule(op)) is not None]

    square = ELEMENTWISE["abs"](unknown()).result
    assert replaced(square) == [square] and not replaced(unknown())
