"""torch's rules of promotion, beside torch."""

from __future__ import annotations

import itertools

import pytest
import torch

from kopt.errors import UnsupportedError
from kopt.frontend.dtypes import (
    ARRAY,
    NUMBER,
    SCALAR,
    compute_dtype,
    element_type,
    float_dtype,
    number_dtype,
    promote,
    torch_dtype,
)

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
DTYPES += [torch.float16, torch.bfloat16, torch.float32, torch.float64]
NUMBERS = {torch.bool: True, torch.int64: 3, torch.float32: 2.5}
Operand = tuple[int, torch.dtype]
OPERANDS: list[Operand] = [(rank, dtype) for rank in (ARRAY, SCALAR) for dtype in DTYPES]
OPERANDS += [(NUMBER, dtype) for dtype in NUMBERS]


def given(operand: Operand) -> object:
    rank, dtype = operand
    return NUMBERS[dtype] if rank == NUMBER else torch.zeros([2] if rank == ARRAY else [], dtype=dtype)


@pytest.mark.parametrize("first", OPERANDS, ids=str)
def test_two_operands(first: Operand) -> None:
    for second in OPERANDS:
        wanted = torch.result_type(given(first), given(second))  # pyright: ignore
        assert promote((first, second)) == promote((second, first)) == wanted, second


def test_three_operands() -> None:
    """The operands of each rank first, then the ranks."""
    few = [torch.bool, torch.int8, torch.int64, torch.bfloat16, torch.float32]
    for array, scalar, number in itertools.product(few, few, NUMBERS):
        wanted = (torch.zeros(2, dtype=array) + torch.zeros([], dtype=scalar) + NUMBERS[number]).dtype
        assert promote(((ARRAY, array), (SCALAR, scalar), (NUMBER, number))) == wanted, (array, scalar, number)


@pytest.mark.parametrize("default", [torch.float32, torch.float64])
def test_the_default_dtype(default: torch.dtype) -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(default)
    promote.cache_clear()
    try:
        for dtype in DTYPES:
            assert promote(((ARRAY, dtype), (NUMBER, torch.float32))) == torch.result_type(
                torch.zeros(2, dtype=dtype), 2.5
            )
            assert float_dtype(dtype) == torch.zeros(2, dtype=dtype).sin().dtype
    finally:
        torch.set_default_dtype(before)
        promote.cache_clear()


def test_numbers_and_what_they_are_computed_in() -> None:
    assert [number_dtype(value) for value in (True, 3, 2.5)] == [torch.bool, torch.int64, torch.float32]
    narrow = {torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2}
    for dtype in (*DTYPES, *narrow):
        assert compute_dtype(dtype) == (torch.float32 if dtype in narrow else dtype)
        assert torch_dtype(element_type(dtype)) == dtype


def test_dtypes_that_there_are_not() -> None:
    with pytest.raises(UnsupportedError) as caught:
        element_type(torch.complex64)
    assert "dtype torch.complex64 is not supported" in str(caught.value) and "torch.bfloat16" in str(caught.value)
