"""What programs on a GPU do in the reference interpreter: their numbers, the ranges made of them, and lanes."""

from __future__ import annotations

import numpy as np
import pytest

from .support import run_text


def written(lower: int, upper: int, programs: int) -> np.ndarray:
    """Which elements programs copy that walk a part of an array."""
    text = """
func.func @f(%x: memref<20xi32>, %out: memref<20xi32>) {{
  triton.launch @f_0 (%a = %x, %b = %out) grid ({programs}) num_warps 1 num_stages 1 {{
    %pid = triton.program_id
    %i = triton.range %pid in ({lower}, {upper}) : !tile.range<b0=4>
    %v = tile.load %a[%i] : memref<20xi32> -> !tile.tile<b0=4 x i32>
    tile.store %v, %b[%i] : !tile.tile<b0=4 x i32>, memref<20xi32>
  }}
  func.return
}}
"""
    out = np.zeros(20, np.int32)
    run_text(text.format(lower=lower, upper=upper, programs=programs), np.ones(20, np.int32), out)
    return out


@pytest.mark.parametrize(
    ("lower", "upper", "programs", "first", "end"),
    [(0, 20, 5, 0, 20), (3, 20, 5, 3, 20), (3, 18, 4, 3, 18), (3, 18, 2, 3, 11), (5, 6, 1, 5, 6)],
)
def test_a_program_has_the_block_of_its_number(lower: int, upper: int, programs: int, first: int, end: int) -> None:
    """From the first element of the walk on, up to its end."""
    assert np.flatnonzero(written(lower, upper, programs)).tolist() == list(range(first, end))


def test_what_ranges_of_programs_tell() -> None:
    """The number of the block, how many there are, where it begins and ends."""
    text = """
func.func @f(%out: memref<4x4xi32>) {
  triton.launch @f_0 (%b = %out) grid (4) num_warps 1 num_stages 1 {
    %pid = triton.program_id
    %i = triton.range %pid in (3, 18) : !tile.range<b0=4>
    %n = tile.id %i : !tile.range<b0=4>
    %c = tile.count %i : !tile.range<b0=4>
    %s = tile.begin %i : !tile.range<b0=4>
    %e = tile.end %i : !tile.range<b0=4>
    STORES
  }
  func.return
}
"""
    names = "ncse"
    stores = (
        f"%{name}0 = tile.splat %{name} : index to !tile.tile<i32>\n"
        f"tile.store %{name}0, %b[%pid, {place}] : !tile.tile<i32>, memref<4x4xi32>"
        for place, name in enumerate(names)
    )
    out = np.zeros((4, 4), np.int32)
    run_text(text.replace("STORES", "\n".join(stores)), out)
    assert out.tolist() == [[0, 4, 3, 7], [1, 4, 7, 11], [2, 4, 11, 15], [3, 4, 15, 18]]


@pytest.mark.parametrize("limit", [1, 3, 8])
def test_numbers_out_of_bounds_are_0(limit: int) -> None:
    text = """
func.func @f(%x: memref<8xi32>, %out: memref<8xi32>) {
  triton.launch @f_0 (%a = %x, %b = %out) grid (1) num_warps 1 num_stages 1 {
    %v = tile.load %a[:] : memref<8xi32> -> !tile.tile<8 x i32>
    %r = triton.bounded %v below LIMIT : !tile.tile<8 x i32>
    tile.store %r, %b[:] : !tile.tile<8 x i32>, memref<8xi32>
  }
  func.return
}
"""
    numbers = np.array([-9, -1, 0, 1, 2, 3, 7, 8], np.int32)
    out = np.full(8, -1, np.int32)
    run_text(text.replace("LIMIT", str(limit)), numbers, out)
    assert out.tolist() == [number if 0 <= number < limit else 0 for number in numbers]
