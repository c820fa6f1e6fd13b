"""What a rank does in order: loops and conditions whose numbers are known, and those that memory decides."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.remote.events import Enter, Event, Leave, Touch
from kopt.analysis.remote.unroll import NotKnown, copies_to_other_ranks, unroll
from kopt.dialects.pallas import CallOp
from test.named import only

TEXT = """
func.func @f(%x: memref<8x128xf32>) -> memref<8x128xf32> {{
  %o = pallas.call @f(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>]
    semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {{
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>,
       %mine: !tile.ref<8 x 128 x f32, vmem>, %flags: !tile.ref<4 x i32, smem>):
    tile.grid (%g: g0=1) in ({cells}) {{
      %me = symm.rank group "tp"
      %yes = arith.constant true
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      {body}
    }}
  }}
  func.return %o : memref<8x128xf32>
}}
"""


def call(body: str, cells: int = 1) -> CallOp:
    return only(parse(TEXT.format(body=body, cells=cells)), CallOp)


def get(at: str, name: str = "v") -> str:
    return f"%{name} = tile.get %mine[{at}, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<128 x f32>"


def rows(events: list[Event]) -> list[tuple[int, int]]:
    """The rows of ``%mine`` that are touched, in order."""
    assert isinstance(events[0], Enter) and isinstance(events[-1], Leave)
    touches = [event for event in events if isinstance(event, Touch) and event.block.name == "'mine'"]
    return [touch.block.box[0] for touch in touches]


def found(body: str, rank: int = 0, cells: int = 1) -> list[tuple[int, int]]:
    return rows(unroll(call(body, cells), rank, 100))


def test_numbers_follow_from_the_rank() -> None:
    assert [found(get("%me"), rank) for rank in (0, 3)] == [[(0, 1)], [(3, 4)]]


@pytest.mark.parametrize(
    ("bounds", "rank", "wanted"),
    [("(%me, 4)", 2, [2, 3]), ("(0, %me)", 2, [0, 1]), ("(%c1, %me)", 1, []), ("(%me, %me)", 3, [])],
)
def test_loops_begin_and_end_at_numbers_of_the_rank(bounds: str, rank: int, wanted: list[int]) -> None:
    body = f"""tile.for %k: s0=1 in {bounds} {{
      %n = tile.begin %k : !tile.range<s0=1>
      {get("%n")}
    }}"""
    assert found(body, rank) == [(row, row + 1) for row in wanted]


def test_cells_and_visits_are_gone_through_in_order() -> None:
    body = f"""tile.for %k: s0=1 in (1, 3) {{
      %n = tile.begin %k : !tile.range<s0=1>
      {get("%n")}
    }}"""
    assert found(body, cells=2) == [(1, 2), (2, 3)] * 2
    assert found(body.replace("1, 3", "3, 3")) == found(body.replace("1, 3", "3, 1")) == []


def test_each_cell_has_its_own_number() -> None:
    assert found(f"%n = tile.id %g : !tile.range<g0=1>\n{get('%n')}", cells=3) == [(0, 1), (1, 2), (2, 3)]


def test_a_condition_that_is_known_takes_one_branch() -> None:
    body = f"""%last = arith.cmpi eq, %me, %c2 : index
    %other = arith.xori %last, %yes : i1
    scf.if %other {{
      {get("0")}
    }} else {{
      {get("1", "w")}
    }}"""
    assert [found(body, rank) for rank in (0, 2)] == [[(0, 1)], [(1, 2)]]


LOADED = """%l = tile.get %flags[0] : !tile.ref<4 x i32, smem> -> !tile.tile<i32>
      %z = tile.full 0 : !tile.tile<i32>
      %t = tile.gt %l, %z : !tile.tile<i32>
      %next = tile.extract %t : !tile.tile<i1> to i1"""


def test_under_a_condition_that_memory_decides_both_branches_may_run() -> None:
    body = f"""{LOADED}
    scf.if %next {{
      {get("0")}
    }} else {{
      {get("1", "w")}
    }}"""
    assert found(body) == [(0, 1), (1, 2)]


def test_what_such_a_condition_gives_is_not_known() -> None:
    """Nor what it gave on an earlier visit, where it was."""
    body = f"""tile.for %k: s0=1 in (0, 2) iter(%c = %yes) -> (i1) {{
      %r = scf.if %c -> (index) {{
        scf.yield %c1 : index
      }} else {{
        scf.yield %c2 : index
      }}
      {get("%r")}
      {LOADED}
      tile.yield %next : i1
    }}"""
    assert found(body.replace("tile.for", "%end = tile.for", 1)) == [(1, 2), (0, 8)]


def test_first_and_last_visits() -> None:
    body = f"""tile.for %k: s0=2 in (0, 5) {{
      %n = tile.begin %k : !tile.range<s0=2>
      tile.when {{}}(%k) {{{{
        {get("%n")}
      }}}}
    }}""".replace("{{", "{").replace("}}", "}")
    assert found(body.replace("tile.when {}", "tile.when first")) == [(0, 1)]
    assert found(body.replace("tile.when {}", "tile.when last")) == [(4, 5)]


def test_a_place_that_memory_tells_is_anywhere() -> None:
    body = f"""%l = tile.get %flags[0] : !tile.ref<4 x i32, smem> -> !tile.tile<i32>
    %n = tile.extract %l : !tile.tile<i32> to index
    {get("%n")}"""
    assert found(body) == [(0, 8)]


def test_a_kernel_of_too_many_steps_is_not_known() -> None:
    body = f"tile.for %k: s0=1 in (0, 8) {{\n{get('0')}\n}}"
    assert len(unroll(call(body), 0, 10)) == 10
    with pytest.raises(NotKnown, match="it has more than 9 steps"):
        unroll(call(body), 0, 9)


def test_a_kernel_of_its_own_memory_copies_nothing() -> None:
    assert not copies_to_other_ranks(call(get("0")))
