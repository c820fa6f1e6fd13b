"""Blocks at computed places of arrays that stay in HBM: cells fetch them; the last may reach beyond its array."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl


def rows_from(x, first, count: hl.constexpr, unit: hl.constexpr):
    """Some rows, or planes, of an array, from a loaded one on."""
    out = torch.empty([count, *x.size()[1:]], dtype=x.dtype)
    for tile in hl.tile(count, block_size=8):
        out[tile, ...] = x[first[0] * unit + tile.index, ...]
    return out


#: The array, the row to begin at, how many rows, and what first rows are multiples of.
CASES = {"planes": ((21, 3, 128), 1, 20, 1), "rows": ((21, 128), 8, 13, 8), "any rows": ((21, 128), 3, 18, 1)}


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret", "pallas:strict"])
@pytest.mark.parametrize("case", CASES)
def test_nothing_is_read_beyond_the_array(case, target) -> None:
    shape, begin, count, unit = CASES[case]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    first = torch.tensor([begin // unit], dtype=torch.int32)
    config = {"loop_type": "fori"} if target.startswith("pallas") else {}
    assert torch.equal(kopt.kernel(rows_from, target=target, config=config)(x, first, count, unit), x[begin:][:count])
