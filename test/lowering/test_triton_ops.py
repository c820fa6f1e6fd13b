"""The text of each operation on tiles in Triton kernels, and of what loops carry."""

from __future__ import annotations

from pathlib import Path

import pytest

from test.lowering.tile_ops import is_told, rows, spelt_out, triton_lines

ROWS = rows(Path(__file__).with_name("triton_ops.txt"))


@pytest.mark.parametrize(("ops", "result", "text"), ROWS, ids=[row[0] for row in ROWS])
def test_operations(ops: str, result: str, text: str) -> None:
    assert is_told(triton_lines(spelt_out(ops), result), text)


LOOP = """
%o, %u = tile.for %j: b1=1 in (0, 4) iter(%x = %a, %y = %b) -> (!tile.tile<8 x 16 x f32>, !tile.tile<8 x 16 x f32>) {{
  tile.yield {yielded} : !tile.tile<8 x 16 x f32>, !tile.tile<8 x 16 x f32>
}}"""


@pytest.mark.parametrize(
    ("yielded", "lines"),
    [
        ("%x, %y", ["pass"]),
        ("%y, %x", ["o, u = u, o"]),
        ("%y, %y", ["o = u"]),
        ("%a, %y", ["o = a"]),
    ],
)
def test_what_a_loop_carries_is_assigned_where_it_changes(yielded: str, lines: list[str]) -> None:
    found = triton_lines(LOOP.format(yielded=yielded), "8 x 16 x f32")
    at = found.index("for j in range(4):")
    assert found[at + 1 : -1] == lines


def test_numbers_of_blocks() -> None:
    """Of a loop that begins somewhere: the first block's is 0."""
    found = triton_lines(
        """%end = tile.extract %q : !tile.tile<i32> to index
        %o = tile.for %j: b1=4 in (3, %end) iter(%x = %q) -> (!tile.tile<i32>) {
          %id = tile.id %j : !tile.range<b1=4>
          %count = tile.count %j : !tile.range<b1=4>
          %last = tile.end %j : !tile.range<b1=4>
          %sum = arith.addi %id, %count : index
          %all = arith.addi %sum, %last : index
          %tile = tile.splat %all : index to !tile.tile<i32>
          %y = tile.add %x, %tile : !tile.tile<i32>
          tile.yield %y : !tile.tile<i32>
        }""",
        "i32",
    )
    assert found[1:5] == [
        "for j in range(3, q, BLOCK_1):",
        "id_2 = (j - 3) // BLOCK_1",
        "count = tl.cdiv(q - 3, BLOCK_1)",
        "last = min(j + BLOCK_1, q)",
    ]
