"""Which loops of a grid's cells may be dealt out to other cells, and why others may not."""

from __future__ import annotations

import pytest

from kopt.analysis.combiners import NotAReduction
from kopt.analysis.independent_loops import independent_loop, written_beside
from kopt.dialects.tile import GridOp
from kopt.parsing import parse_module
from kopt.walk import walk

TYPE = "memref<64x512xf32>"
BLOCK = "!tile.tile<b0=8 x b1=128 x f32>"
HEAD = "!tile.tile<b0=8 x f32>"


def grid(loop: str, before: str = "", bounds: str = "(0, 512)", carries: str = "") -> GridOp:
    """A grid of rows whose cells walk columns."""
    text = f"""
    func.func @f(%x: {TYPE}, %y: {TYPE}, %out: {TYPE}, %n: memref<64xi32>, %some: index) {{
      tile.grid (%i: b0=8) in (64) {{
        %one = tile.full 1 : !tile.tile<b0=8 x i32>
        {before}
        tile.for %k: b1=128 in {bounds} {{
          {loop}
        }}
      }}
      func.return
    }}"""
    return walk(parse_module(text), GridOp)[0]


def load(array: str = "x", at: str = "%i, %k", name: str = "v", type: str = BLOCK) -> str:
    return f"%{name} = tile.load %{array}[{at}] : {TYPE} -> {type}\n"


def store(array: str = "out", at: str = "%i, %k", name: str = "v", type: str = BLOCK) -> str:
    return f"tile.store %{name}, %{array}[{at}] : {type}, {TYPE}\n"


UPDATE = "{}atomic.rmw add %one, %n[%i] : !tile.tile<b0=8 x i32>, memref<64xi32>{}\n"
COUNTED = UPDATE.format("%old = ", " -> !tile.tile<b0=8 x i32>")
COLUMN = load(at="%i, 0", name="c", type=HEAD)

DEALT = {
    "each its own blocks": grid(load() + store()),
    "several": grid(load() + store() + store("y")),
    "what it reads is what it writes": grid(load("out") + store()),
    "beside the loop others are written": grid(load() + store(), COLUMN + store("y", "%i, 0", "c", HEAD)),
    "as often as a number says": grid(load() + store(), bounds="(0, %some)"),
    "beside the loop others are counted": grid(load() + store(), UPDATE.format("", "")),
}
SUMS = f"%s = tile.reduce add %v [1] : {BLOCK}\n"
STORE_SUMS = store(at="%i, 0", name="s", type=HEAD)
COPY_COLUMN = COLUMN + store("y", "%i, 0", "c", HEAD)
FIRST_OF_OUT, STORE_FIRST = load("out", "%i, 0", "c", HEAD), store("out", "%i, 0", "c", HEAD)
#: Why not, by the reason.
KEPT = {
    "one place of all visits": ("of their own alone", grid(load() + SUMS + STORE_SUMS)),
    "one of two": ("of their own alone", grid(load() + store() + COPY_COLUMN)),
    "nothing is stored": ("of their own alone", grid(load())),
    "a count": ("of their own alone", grid(load() + store() + UPDATE.format("", ""))),
    "the count is known beside the loop": ("gives values", grid(load() + store(), COUNTED)),
    "other places of what it writes": ("load what they write", grid(FIRST_OF_OUT + load() + store())),
    "what it writes, before": ("load what they write", grid(load() + store(), FIRST_OF_OUT)),
    "what was written before": (
        "load what they write",
        grid(load() + store("y") + load("out", name="w"), COLUMN + STORE_FIRST),
    ),
}


@pytest.mark.parametrize("name", DEALT)
def test_dealt_out(name: str) -> None:
    loop, trips = independent_loop(DEALT[name])
    assert loop.parent is DEALT[name].body.block and trips == (None if "number says" in name else 4)
    assert len(written_beside(loop)) == ("beside" in name)


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    reason, kept = KEPT[name]
    with pytest.raises(NotAReduction, match=reason):
        independent_loop(kept)
