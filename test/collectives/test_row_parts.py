"""Parts of arrays as rows: whole tiles, moved in pieces of at most so many rows."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import MemRefType, bf16, f32, i8

from kopt.passes.collectives.shaping import parts_of, tile_rows
from kopt.targets.tiling import LANES


@pytest.mark.parametrize("most", [1, 8, 100, 512])
@pytest.mark.parametrize("shape", [(1,), (1024,), (1025,), (70, 300), (4096, 129)])
@pytest.mark.parametrize(("element", "unit"), [(f32, 8), (bf16, 16), (i8, 32)])
def test_parts(element, unit: int, shape: tuple[int, ...], most: int) -> None:
    """No more rows than it takes to hold the elements in whole pieces."""
    type = MemRefType(element, shape)
    for count in (1, 3, 4):
        parts = parts_of(type, count, most)
        needed = -(-parts.elements // LANES)
        assert tile_rows(type) == unit and parts.count == count
        assert parts.piece % unit == 0 and unit <= parts.piece <= max(most, unit)
        assert parts.piece == unit * -(-needed // unit) or parts.piece + unit > most
        assert parts.rows % parts.piece == 0 and needed <= parts.rows < needed + parts.piece
        assert parts.whole.get_shape() == (count, parts.rows, LANES) and parts.single.get_shape() == (parts.rows, LANES)
