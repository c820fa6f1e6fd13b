"""Values that may have lanes from outside a range that their type does not name any more."""

from __future__ import annotations

import pytest
from xdsl.dialects import scf
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.hiding import hiding_values, paths
from kopt.dialects.tile import ForOp, WhileOp
from test.named import named, only

TEXT = """
func.func @f(%x: memref<64x6xf32>, %ids: memref<64xi32>, %lens: memref<64xi32>, %c: i1, %n: index) {{
  tile.grid (%i: b0=4) in ({extent}) {{
    %v = tile.load %x[%i, :] : memref<64x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %z = tile.full 0.0 : !tile.tile<24 x f32>
    {lines}
  }}
  func.return
}}
"""
FLAT = "%f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>\n"


def hiding(lines: str, extent: int = 13) -> set[str]:
    """The names of the values that hide lanes."""
    func = only(parse(TEXT.format(lines=lines, extent=extent)), FuncOp)
    return {str(value.name_hint) for value in hiding_values(func)}


@pytest.mark.parametrize("extent, found", [(13, {"f"}), (12, set()), (3, {"f"}), (4, set())])
def test_merged_rows_hide_what_a_last_block_lacks(extent: int, found: set[str]) -> None:
    assert hiding(FLAT, extent) == found


@pytest.mark.parametrize(
    "lines, found",
    [
        ("%k = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<b0=4 x 2 x 3 x f32>", set()),
        ("%k = tile.transpose %v [1, 0] : !tile.tile<b0=4 x 6 x f32>", set()),
        ("%k = tile.concat %v, %v dim 0 : !tile.tile<b0=4 x 6 x f32>, !tile.tile<b0=4 x 6 x f32>"
         " to !tile.tile<8 x 6 x f32>", {"k"}),
        ("%k = tile.concat %v, %v dim 1 : !tile.tile<b0=4 x 6 x f32>, !tile.tile<b0=4 x 6 x f32>"
         " to !tile.tile<b0=4 x 12 x f32>", set()),
        ("%s = tile.dynamic_slice %v from %n dim 0 : !tile.tile<b0=4 x 6 x f32> to !tile.tile<2 x 6 x f32>", {"s"}),
        ("%s = tile.dynamic_slice %v from %n dim 1 : !tile.tile<b0=4 x 6 x f32> to !tile.tile<b0=4 x 2 x f32>", set()),
        ("%w = tile.full 3 : !tile.tile<5 x 6 x i32>\n"
         "%k = tile.take_along %v, %w dim 0 : !tile.tile<b0=4 x 6 x f32>, !tile.tile<5 x 6 x i32>", {"k"}),
        ("%w = tile.full 3 : !tile.tile<b0=4 x 5 x i32>\n"
         "%k = tile.take_along %v, %w dim 1 : !tile.tile<b0=4 x 6 x f32>, !tile.tile<b0=4 x 5 x i32>", set()),
        (FLAT + "%a = tile.add %f, %z : !tile.tile<24 x f32>\n%b = tile.reshape %a : !tile.tile<24 x f32>"
         " to !tile.tile<4 x 6 x f32>\n%d = tile.add %z, %z : !tile.tile<24 x f32>", {"f", "a", "b"}),
        (FLAT + "%s = tile.reduce add %f [0] : !tile.tile<24 x f32>\n"
         "%e = tile.extract %s : !tile.tile<f32> to f32", {"f", "s"}),
    ],
)  # fmt: skip
def test_ops_that_drop_a_tag_and_what_is_computed_of_them(lines: str, found: set[str]) -> None:
    """A value that is no tile has no lanes to hide."""
    assert hiding(lines) == found


LOOP = """
  %r, %q = tile.for %k: b1=2 in (0, 6) iter(%a = {inits[0]}, %b = {inits[1]}) -> (!tile.tile<24 x f32>, !tile.tile<24 x f32>) {{
    tile.yield {yields[0]}, {yields[1]} : !tile.tile<24 x f32>, !tile.tile<24 x f32>
  }}
"""  # noqa: E501


@pytest.mark.parametrize(
    "inits, yields, found",
    [
        (("%z", "%z"), ("%a", "%b"), set()),
        (("%f", "%z"), ("%a", "%b"), {"a", "r"}),
        (("%z", "%z"), ("%a", "%f"), {"b", "q"}),
        (("%f", "%z"), ("%b", "%a"), {"a", "b", "r", "q"}),
        (("%f", "%z"), ("%z", "%b"), {"a", "r"}),
    ],
)
def test_loops_carry_what_any_path_hides(inits: tuple[str, str], yields: tuple[str, str], found: set[str]) -> None:
    assert hiding(FLAT + LOOP.format(inits=inits, yields=yields)) == {"f"} | found


def test_what_comes_round_is_found_whatever_the_order() -> None:
    """``%s`` of the next visit hides what ``%b`` has carried there from the visit before the last."""
    lines = """
    %r, %q = tile.for %k: b1=2 in (0, 6) iter(%a = %z, %b = %z) -> (!tile.tile<24 x f32>, !tile.tile<24 x f32>) {
      %s = tile.add %a, %z : !tile.tile<24 x f32>
      tile.yield %b, %f : !tile.tile<24 x f32>, !tile.tile<24 x f32>
    }
    """
    assert hiding(FLAT + lines) == {"f", "b", "q", "a", "r", "s"}


@pytest.mark.parametrize(
    "yes, no, found", [("%f", "%z", {"e"}), ("%z", "%f", {"e"}), ("%z", "%z", set())]
)  # fmt: skip
def test_branches_give_what_either_hides(yes: str, no: str, found: set[str]) -> None:
    lines = f"""
    %e = scf.if %c -> (!tile.tile<24 x f32>) {{
      scf.yield {yes} : !tile.tile<24 x f32>
    }} else {{
      scf.yield {no} : !tile.tile<24 x f32>
    }}
    """
    assert hiding(FLAT + lines) == {"f"} | found


WHILE = """
  %w = tile.while %c iter(%a = {init}) -> (!tile.tile<24 x f32>) {{
    %s = tile.add %a, %z : !tile.tile<24 x f32>
    tile.yield %c, {last} : i1, !tile.tile<24 x f32>
  }}
"""


@pytest.mark.parametrize(
    "init, last, found",
    [("%z", "%s", set()), ("%f", "%z", {"a", "s", "w"}), ("%z", "%f", {"a", "s", "w"})],
)
def test_loops_without_a_range_carry_too(init: str, last: str, found: set[str]) -> None:
    assert hiding(FLAT + WHILE.format(init=init, last=last)) == {"f"} | found


def test_lanes_of_jagged_loops_may_always_lack() -> None:
    lines = """
    %l = tile.load %lens[%i] : memref<64xi32> -> !tile.tile<b0=4 x i32>
    jagged.for %k: b1=2 in %l {
      %p = jagged.valid %k of %l : !tile.range<b1=2>, !tile.tile<b0=4 x i32>
      %o = tile.reshape %p : !tile.tile<b0=4 x b1=2 x i1> to !tile.tile<b0=4 x 2 x i1>
    }
    """
    assert hiding(lines, 12) == {"o"}


def test_paths_of_loops_and_branches() -> None:
    lines = LOOP.format(inits=("%z", "%f"), yields=("%b", "%a")) + WHILE.format(init="%f", last="%s")
    lines += """
    %e, %g = scf.if %c -> (!tile.tile<24 x f32>, !tile.tile<24 x f32>) {
      scf.yield %r, %q : !tile.tile<24 x f32>, !tile.tile<24 x f32>
    } else {
      scf.yield %w, %z : !tile.tile<24 x f32>, !tile.tile<24 x f32>
    }
    """
    module = parse(TEXT.format(lines=FLAT + lines, extent=13))
    names = {value: name for name, value in named(module).items()}
    carriers = [only(module, ForOp), only(module, WhileOp), only(module, scf.IfOp)]
    found = [[[names[value] for value in paths(op, number)] for number in range(len(op.results))] for op in carriers]
    assert found == [[["z", "b"], ["f", "a"]], [["f", "s"]], [["r", "w"], ["q", "z"]]]
