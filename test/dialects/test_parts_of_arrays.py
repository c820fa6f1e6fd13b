"""Parts of arrays: those that the host cuts out and puts back lie inside, in each dimension."""

from __future__ import annotations

import itertools

import pytest
from xdsl.dialects.builtin import MemRefType, f32
from xdsl.dialects.test import TestOp
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.host import InsertOp, SliceOp
from kopt.dialects.symm import AllGatherOp, ReduceScatterOp

EXTENTS = (5, 3)
#: Offset, size and stride of one dimension.
PARTS = [(0, 5, 1), (0, 3, 1), (0, 3, 2), (1, 2, 2), (2, 1, 3), (1, 0, 1), (4, 1, 1), (-1, 1, 1), (0, 1, 0), (5, 0, 1)]


def fits(part: tuple[int, int, int], extent: int) -> bool:
    offset, size, stride = part
    elements = range(offset, offset + size * stride, stride) if stride > 0 else None
    return elements is not None and offset >= 0 and all(place < extent for place in elements)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(PARTS, PARTS)))
def test_a_part_that_is_put_back(first: tuple[int, int, int], second: tuple[int, int, int]) -> None:
    offsets, sizes, strides = zip(first, second, strict=True)
    base, value = TestOp(result_types=[MemRefType(f32, EXTENTS), MemRefType(f32, sizes)]).results
    op = InsertOp(value, base, offsets, sizes, strides)
    if fits(first, EXTENTS[0]) and fits(second, EXTENTS[1]):
        op.verify()
    else:
        with pytest.raises(VerifyException, match="does not fit"):
            op.verify()


@pytest.mark.parametrize(("first", "second"), [(PARTS[0], PARTS[1]), (PARTS[0], PARTS[0]), (PARTS[7], PARTS[1])])
def test_a_part_that_is_cut_out(first: tuple[int, int, int], second: tuple[int, int, int]) -> None:
    offsets, sizes, strides = zip(first, second, strict=True)
    (base,) = TestOp(result_types=[MemRefType(f32, EXTENTS)]).results
    op = SliceOp(base, offsets, sizes, strides, MemRefType(f32, sizes))
    if fits(first, EXTENTS[0]) and fits(second, EXTENTS[1]):
        op.verify()
    else:
        with pytest.raises(VerifyException):
            op.verify()


@pytest.mark.parametrize(
    ("part", "whole", "taken"),
    [
        ((3, 5), (12, 5), True),
        ((3, 5), (3, 5), True),
        ((0, 5), (0, 5), True),
        ((3, 5), (11, 5), False),
        ((12, 5), (3, 5), False),
        ((0, 5), (12, 5), False),  # no number of parts without rows has any
        ((3, 5), (0, 5), False),
        ((3, 5), (12, 4), False),
        ((3, 5), (12,), False),
        ((), (), False),
    ],
)
def test_parts_of_ranks(part: tuple[int, ...], whole: tuple[int, ...], taken: bool) -> None:
    """As many as there are ranks, one after another."""
    types = MemRefType(f32, part), MemRefType(f32, whole)
    some, all = TestOp(result_types=types).results
    for op in (AllGatherOp(some, "tp", types[1]), ReduceScatterOp(all, "tp", types[0])):
        if taken:
            op.verify()
        else:
            with pytest.raises(VerifyException, match="joins parts along dimension 0"):
                op.verify()
