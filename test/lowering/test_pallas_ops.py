"""The text of each operation on tiles in Pallas kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from test.lowering.tile_ops import is_told, pallas_lines, rows, spelt_out

ROWS = rows(Path(__file__).with_name("pallas_ops.txt"))


@pytest.mark.parametrize(("ops", "result", "text"), ROWS, ids=[row[0] for row in ROWS])
def test_operations(ops: str, result: str, text: str) -> None:
    assert is_told(pallas_lines(spelt_out(ops), result), text)
