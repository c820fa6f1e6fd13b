"""From IR to steps: what has a number, what is a place, which shapes stand apart."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.register_code import register_code
from kopt.dialects.tile import DimAttr, GridOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.register_code import RegisterCode, RegisterShape, Visited, Within
from kopt.walk import walk

ROWS = "!tile.tile<b0=64 x 512 x f32>"
ROW = "!tile.tile<b0=64 x 1 x f32>"
MEMORY = "memref<256x512xf32>"


def code(body: str, **more) -> RegisterCode:
    text = f"""
    func.func @f(%x: {MEMORY}, %o: {MEMORY}) {{
      tile.grid (%i: b0=64) in (256) {{
        {body}
      }}
      func.return
    }}"""
    (grid,) = walk(parse(text), GridOp)
    return register_code(grid, **more)


LOAD = f"%v = tile.load %x[%i, :] : {MEMORY} -> {ROWS}"
STORE = f"tile.store %d, %o[%i, :] : {ROWS}, {MEMORY}"
SUM = f"""%s = tile.reduce add %v [1] : {ROWS}
    %r = tile.reshape %s : !tile.tile<b0=64 x f32> to {ROW}
    %w = tile.broadcast %r dims [0, 1] : {ROW} to {ROWS}"""


def test_steps_of_rows_over_their_sum() -> None:
    """What is reshaped and repeated is the sum itself, which has a lane for each row."""
    found = code(f"{LOAD}\n{SUM}\n%d = tile.div %v, %w : {ROWS}\n{STORE}")
    assert [(step.kind, step.results, step.operands, step.flag) for step in found.steps] == [
        ("read", (0,), (), False),
        ("combine", (1,), (0,), True),
        ("compute", (2,), (0, 1), True),
        ("write", (), (2,), False),
    ]
    assert [[found.shapes[shape] for shape in step.shapes] for step in found.steps] == [
        [RegisterShape((64, 512))],
        [RegisterShape((64, 1))],
        [RegisterShape((64, 512))],
        [],
    ]


def test_sizes_may_be_open() -> None:
    analysis = IndexAnalysis(open_tags=["b0"])
    found = code(LOAD, analysis=analysis)
    assert found.shapes == (RegisterShape((analysis.lanes_of(DimAttr(64, "b0")), 512)),)


def test_constants_have_no_step() -> None:
    found = code(f"%c = tile.full 1.0 : {ROWS}\n{LOAD}\n%d = tile.add %v, %c : {ROWS}\n{STORE}")
    assert [(step.kind, step.operands) for step in found.steps] == [("read", ()), ("compute", (0,)), ("write", (1,))]


@pytest.mark.parametrize(
    ("type", "bits"), [("b0=64 x 512 x bf16", 16), ("b0=64 x 512 x i1", 32), ("b0=64 x 512 x i8", 8)]
)
def test_elements_have_their_bits(type: str, bits: int) -> None:
    """Those of masks stand in words."""
    kind = type.rpartition(" ")[2]
    found = code(f"%w = tile.load %x[%i, :] : {MEMORY} -> {ROWS}\n%n = tile.cast %w : {ROWS} to !tile.tile<{type}>")
    assert found.shapes[found.steps[1].shapes[0]] == RegisterShape((64, 512), bits) and found.steps[1].key == (kind,)


def test_rows_are_combined_register_by_register() -> None:
    """A sum over another dimension than the last two is as elementwise ops are."""
    cube = "!tile.tile<b0=64 x 8 x 128 x f32>"
    made = f"{LOAD}\n%c = tile.reshape %v : {ROWS} to !tile.tile<b0=64 x 4 x 128 x f32>"
    cube = "!tile.tile<b0=64 x 4 x 128 x f32>"
    kinds = [code(f"{made}\n%s = tile.reduce add %c [{dim}] : {cube}").steps[-1] for dim in (0, 1, 2)]
    assert [(step.kind, step.flag) for step in kinds] == [("compute", False), ("combine", False), ("combine", True)]


LOOP = f"""{LOAD}
    %z = tile.full 0.0 : {ROWS}
    %d = tile.for %k: b1=64 in (0, 256) iter(%a = %z) -> ({ROWS}) schedule resident unroll 2 {{
      %u = tile.load %x[%k, :] : {MEMORY} -> !tile.tile<b1=64 x 512 x f32>
      %p = tile.load %x[%i, :] : {MEMORY} -> {ROWS}
      %n = tile.add %a, %p : {ROWS}
      tile.yield %n : {ROWS}
    }}
    {STORE}"""


def test_loops_pass_values_on() -> None:
    """A constant is passed in; how the loop runs is known of kernels, and is for plans to say before."""
    (loop,) = [step for step in code(LOOP).steps if step.kind == "loop"]
    nest = loop.nest
    assert nest is not None and loop.operands == (None,) and (nest.tag, nest.unroll, nest.trips) == ("b1", 2, 4)
    assert [step.kind for step in nest.steps] == ["read", "read", "compute"]
    assert nest.steps[-1].operands == (*nest.given, *nest.steps[1].results) and nest.passed == nest.steps[-1].results
    (open_loop,) = [step for step in code(LOOP, planned=False).steps if step.kind == "loop"]
    assert open_loop.nest is not None and (open_loop.nest.unroll, open_loop.nest.trips) == (1, None)


def test_places_are_those_of_visits() -> None:
    """Blocks of the loop are others at each visit, blocks of the grid are not; the memory comes first."""
    found = code(LOOP)
    (first, loop) = found.steps[:2]
    assert loop.nest is not None
    walked, kept = (step.key for step in loop.nest.steps[:2])
    assert isinstance(walked[1], Visited) and walked[1].range == loop.nest.range
    assert isinstance(kept[1], Within) and kept == first.key and walked[0] == kept[0]
