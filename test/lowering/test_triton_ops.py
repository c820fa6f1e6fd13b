"""The text of each operation on tiles in Triton kernels, and of what loops and branches carry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from test.lowering.tile_ops import triton_lines

LINES = Path(__file__).with_name("triton_ops.txt").read_text().splitlines()[1:]
ROWS = [(ops, *row.strip().split(": ", 1)) for ops, row in zip(LINES[::2], LINES[1::2], strict=True)]


@pytest.mark.parametrize(("ops", "result", "text"), ROWS, ids=[row[0] for row in ROWS])
def test_operations(ops: str, result: str, text: str) -> None:
    lines = triton_lines(re.sub(r"(?<=[:,>o] )<", "!tile.tile<", ops).replace(" | ", "\n"), result)
    found = "; ".join(lines).replace("(; ", "(").replace("; )", ")")
    assert found.removesuffix("; store o").endswith(text) and found.count(text) == 1


LOOP = """
%one = tile.full 1.0 : !tile.tile<8 x 16 x f32>
%o, %u = tile.for %j: b1=1 in (0, 4) iter(%x = %a, %y = %b) -> (!tile.tile<8 x 16 x f32>, !tile.tile<8 x 16 x f32>) {{
  {body}
  tile.yield {yielded} : !tile.tile<8 x 16 x f32>, !tile.tile<8 x 16 x f32>
}}"""
SUM = "%s = tile.add %x, %one : !tile.tile<8 x 16 x f32>"


@pytest.mark.parametrize(
    ("body", "yielded", "lines"),
    [
        ("", "%x, %y", []),
        ("", "%y, %x", ["o, u = u, o"]),
        ("", "%y, %y", ["o = u"]),
        ("", "%a, %y", ["o = a"]),
    ],
)
def test_what_a_loop_carries_is_assigned_where_it_changes(body: str, yielded: str, lines: list[str]) -> None:
    found = triton_lines(LOOP.format(body=body, yielded=yielded), "8 x 16 x f32")
    at = found.index("for j in range(4):")
    assert found[at + 1 : -1] == lines
