"""Which reshapes have the parts of a concatenation as their rows in turn."""

from __future__ import annotations

import pytest

from kopt.analysis.interleaved import alternating
from kopt.dialects.tile import ConcatOp, ReshapeOp
from kopt.parsing import parse_module
from kopt.walk import walk

#: Element type, shape of a part, dimension of the concatenation, shape of the result, whether rows alternate.
CASES = {
    "two of 16 bits": ("bf16", "8 x 1 x 128", 1, "8 x 2 x 128", "16 x 128", True),
    "behind another dimension": ("bf16", "3 x 8 x 1 x 128", 2, "3 x 8 x 2 x 128", "3 x 16 x 128", True),
    "two of 8 bits, where a word has four": ("i8", "8 x 1 x 128", 1, "8 x 2 x 128", "16 x 128", False),
    "words": ("i32", "8 x 1 x 128", 1, "8 x 2 x 128", "16 x 128", False),
    "two rows of each": ("bf16", "8 x 2 x 128", 1, "8 x 4 x 128", "32 x 128", False),
    "lanes": ("bf16", "8 x 16 x 1", 2, "8 x 16 x 2", "8 x 32", False),
    "another dimension is merged": ("bf16", "3 x 8 x 1 x 128", 2, "3 x 8 x 2 x 128", "48 x 128", False),
}


@pytest.mark.parametrize(("element", "part", "dim", "joined", "result", "wanted"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("masked", [False, True])
def test_rows_in_turn(element: str, part: str, dim: int, joined: str, result: str, wanted: bool, masked: bool) -> None:
    one, two, last = (f"!tile.tile<{shape} x {element}>" for shape in (part, joined, result))
    zero, skipped = "0" if element[0] == "i" else "0.0", ", ".join("_" * (joined.count("x") + 1))
    mask = f"%m = tile.mask %c in ({skipped}) else {zero} : {two}" if masked else ""
    module = parse_module(f"""
func.func @f() {{
  tile.grid () in () {{
    %a = tile.full {zero} : {one}
    %c = tile.concat %a, %a dim {dim} : {one}, {one} to {two}
    {mask}
    %r = tile.reshape {"%m" if masked else "%c"} : {two} to {last}
  }}
  func.return
}}""")
    ((reshape,), (concat,)) = walk(module, ReshapeOp), walk(module, ConcatOp)
    assert alternating(reshape) is (concat if wanted else None)
    assert alternating(concat) is None
