"""Which loop of a grid's cells may be dealt out: one that only combines, or one that stores blocks of its own."""

from __future__ import annotations

import pytest

from kopt.analysis.combiners import NotAReduction
from kopt.analysis.dealt_loops import dealt_loop
from kopt.dialects.tile import ForOp, GridOp
from kopt.parsing import parse_module
from kopt.walk import walk

BLOCK, ROW = "!tile.tile<b0=1 x b1=64 x f32>", "!tile.tile<b0=1 x f32>"
LOAD = f"%v = tile.load %x[%i, %k] : memref<8x512xf32> -> {BLOCK}"
STORE = f"tile.store %v, %y[%i, %k] : {BLOCK}, memref<8x512xf32>"
SUM = f"%s = tile.reduce add %v [1] : {BLOCK}"
BODIES = {
    "stores": f"tile.for %k: b1=64 in (0, 512) {{ {LOAD} {STORE} tile.yield }}",
    "combines": f"""
        %zero = tile.full 0.0 : {ROW}
        %sum = tile.for %k: b1=64 in (0, 512) iter(%a = %zero) -> ({ROW}) {{
          {LOAD} {SUM} %next = tile.add %a, %s : {ROW} tile.yield %next : {ROW}
        }}
        tile.store %sum, %out[%i] : {ROW}, memref<8xf32>""",
    "does both": f"""
        %zero = tile.full 0.0 : {ROW}
        %sum = tile.for %k: b1=64 in (0, 512) iter(%a = %zero) -> ({ROW}) {{
          {LOAD} {SUM} {STORE} %next = tile.add %a, %s : {ROW} tile.yield %next : {ROW}
        }}
        tile.store %sum, %out[%i] : {ROW}, memref<8xf32>""",
}


def grid(body: str) -> GridOp:
    """The grid of a module."""
    return walk(
        parse_module(f"""
        func.func @f(%x: memref<8x512xf32>, %y: memref<8x512xf32>, %out: memref<8xf32>) {{
          tile.grid (%i: b0=1) in (8) {{ {BODIES[body]} }}
          func.return
        }}"""),
        GridOp,
    )[0]


@pytest.mark.parametrize("body", ["stores", "combines"])
def test_the_loop_is_found(body: str) -> None:
    found = grid(body)
    assert [dealt_loop(found)] == walk(found, ForOp)


def test_the_reason_is_that_of_reductions() -> None:
    with pytest.raises(NotAReduction, match="the loop writes memory"):
        dealt_loop(grid("does both"))
