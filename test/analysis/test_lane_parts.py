"""Trees of parts of lanes: what they are computed of as a whole, with which signs, and when they pay."""

from __future__ import annotations

import pytest

from kopt.analysis.lane_parts import AllLanes, Joined, Tree, merged
from kopt.dialects.tile import ConcatOp
from kopt.parsing import parse_module
from kopt.walk import walk

HALF, ALL = "!tile.tile<8 x 32 x f32>", "!tile.tile<8 x 64 x f32>"
#: What the halves of a result are computed by, and the tree.
CASES = {
    "ops of one kind": (
        f"%p = tile.exp %a : {HALF}   %q = tile.exp %b : {HALF}",
        "exp(x)",
    ),
    "one number, one column": (
        f"%p = tile.mul %a, %h : {HALF}   %q = tile.mul %h, %b : {HALF}",
        "mul(x, full())",
    ),
    "sums beside differences": (
        f"""%s = tile.mul %a, %w : {HALF}   %t = tile.mul %b, %w : {HALF}
            %p = tile.sub %s, %t : {HALF}   %q = tile.add %s, %t : {HALF}""",
        None,  # four products are three and two concatenations
    ),
    "sums beside differences of halves": (
        f"%p = tile.sub %a, %d : {HALF}   %q = tile.add %c, %b : {HALF}",
        "add(x, [-d c])",
    ),
    "negated": (
        f"""%s = tile.exp %a : {HALF}   %t = tile.exp %b : {HALF}
            %u = tile.mul %s, %a : {HALF}   %v = tile.mul %b, %t : {HALF}
            %p = tile.neg %u : {HALF}   %q = tile.mul %v, %h : {HALF}""",
        None,
    ),
    "halves of another order": (
        f"""%s = tile.exp %b : {HALF}   %t = tile.exp %a : {HALF}
            %p = tile.mul %a, %s : {HALF}   %q = tile.mul %b, %t : {HALF}""",
        "mul(x, exp([b a]))",
    ),
    "exchanged operands": (
        f"""%s = tile.exp %b : {HALF}   %t = tile.exp %a : {HALF}   %u = tile.add %h, %t : {HALF}
            %v = tile.add %s, %h : {HALF}
            %p = tile.mul %a, %v : {HALF}   %q = tile.mul %u, %b : {HALF}""",
        "mul(x, add(exp([b a]), full()))",
    ),
    "a choice by predicates": (
        f"""%k = tile.gt %a, %h : {HALF}
            %s = tile.select %l, %a, %h : {HALF}   %t = tile.select %k, %b, %h : {HALF}
            %p = tile.exp %s : {HALF}   %q = tile.exp %t : {HALF}""",
        None,
    ),
    "a choice by what is compared": (
        f"""%s = tile.lt %a, %h : {HALF}   %t = tile.lt %b, %h : {HALF}
            %p = tile.select %s, %a, %h : {HALF}   %q = tile.select %t, %b, %h : {HALF}""",
        "select(lt(x, full()), x, full())",
    ),
    "unlike kinds": (f"%p = tile.exp %a : {HALF}   %q = tile.log %b : {HALF}", None),
    "nothing to compute": ("", None),
}


def spelt(tree: Tree | None) -> str | None:
    """A tree in words: a value by its name, parts in brackets."""
    if tree is None:
        return None
    if isinstance(tree, AllLanes):
        return tree.value.name_hint
    if isinstance(tree, Joined):
        pairs = zip(tree.parts, tree.negative, strict=True)
        return f"[{' '.join('-' * negative + str(part.name_hint) for part, negative in pairs)}]"
    return f"{tree.kind.name.removeprefix('tile.')}({', '.join(map(str, map(spelt, tree.operands)))})"


@pytest.mark.parametrize(("steps", "wanted"), CASES.values(), ids=CASES)
def test_trees(steps: str, wanted: str | None) -> None:
    ends = "%p, %q" if "%p =" in steps else "%b, %a"
    module = parse_module(f"""
func.func @f(%from: memref<8x64xf32>, %side: memref<8x32xf32>, %o: memref<8x64xf32>) {{
  tile.grid () in () {{
    %x = tile.load %from[:, :] : memref<8x64xf32> -> {ALL}
    %w = tile.load %side[:, :] : memref<8x32xf32> -> {HALF}
    %c = tile.log %w : {HALF}   %d = tile.abs %w : {HALF}   %l = tile.lt %c, %d : {HALF}
    %h = tile.full 0.5 : {HALF}
    %a = tile.slice %x [0, 0] [8, 32] [1, 1] : {ALL} to {HALF}
    %b = tile.slice %x [0, 32] [8, 32] [1, 1] : {ALL} to {HALF}
    {steps}
    %r = tile.concat {ends} dim 1 : {HALF}, {HALF} to {ALL}
    tile.store %r, %o[:, :] : {ALL}, memref<8x64xf32>
  }}
  func.return
}}""")
    (concat,) = walk(module, ConcatOp)
    assert spelt(merged(concat)) == wanted


def test_rows_are_no_lanes() -> None:
    module = parse_module(f"""
func.func @f(%n: memref<8x32xf32>, %o: memref<16x32xf32>) {{
  tile.grid () in () {{
    %x = tile.load %n[:, :] : memref<8x32xf32> -> {HALF}
    %a = tile.slice %x [0, 0] [4, 32] [1, 1] : {HALF} to !tile.tile<4 x 32 x f32>
    %b = tile.slice %x [4, 0] [4, 32] [1, 1] : {HALF} to !tile.tile<4 x 32 x f32>
    %p = tile.exp %a : !tile.tile<4 x 32 x f32>
    %q = tile.exp %b : !tile.tile<4 x 32 x f32>
    %r = tile.concat %p, %q dim 0 : !tile.tile<4 x 32 x f32>, !tile.tile<4 x 32 x f32> to {HALF}
    tile.store %r, %n[:, :] : {HALF}, memref<8x32xf32>
  }}
  func.return
}}""")
    (concat,) = walk(module, ConcatOp)
    assert merged(concat) is None
