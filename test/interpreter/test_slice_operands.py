"""Arrays of which a launch reads a part: which part comes, where all of it does, and that nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.dialects.host import SliceOp
from kopt.interpreter import run
from kopt.walk import walk

COLUMNS = "!tile.tile<b0=16 x 64 x i32>"
ROWS = f"%v = tile.load %x[%at, :] : memref<1000x64xi32> -> {COLUMNS}"
LINE = """%v0 = tile.load %y[%at] : memref<4096xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.broadcast %v0 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>"""


def number(value: int, name: str) -> str:
    return f"%{name} = tile.full {value} : !tile.tile<b0=16 x i32>\n"


def at(op: str, value: int, first: str = "%l", name: str = "at") -> str:
    order = (f"%{name}_by", first) if op == "from" else (first, f"%{name}_by")
    return (
        number(value, f"{name}_by")
        + f"%{name} = tile.{'sub' if op == 'from' else op} {', '.join(order)} : !tile.tile<b0=16 x i32>\n"
    )


#: What a cell loads, and the parts of `x`, of rows and columns, and of `y` that are handed over.
CASES = {
    "a ring of rows": (at("mod", 37) + ROWS, [((0, 40), (0, 64))]),
    "rows from behind": (at("from", 303) + ROWS, [((240, 304), (0, 64))]),
    "rows from one on": (at("mod", 8, name="r") + at("add", 17, "%r") + ROWS, [((16, 32), (0, 64))]),
    "rows up to the end": (at("mod", 8, name="r") + at("add", 992, "%r") + ROWS, [((992, 1000), (0, 64))]),
    "rows beyond the end": (at("mod", 8, name="r") + at("minimum", 999, "%r") + ROWS, [((0, 8), (0, 64))]),
    "just under half": (number(9, "nine") + "%far = tile.mul %l, %nine : !tile.tile<b0=16 x i32>\n"
                        + at("mod", 496, "%far") + ROWS, [((0, 496), (0, 64))]),
    "a ring of a line": (at("mod", 37) + LINE, [((0, 128),)]),
    "a line from behind": (at("from", 1000) + LINE, [((896, 1024),)]),
    "a block behind another number": (
        "%c5 = arith.constant 5 : index\n%at = tile.shift %i by %c5 : !tile.range<b0=16>\n" + ROWS,
        [],
    ),
    "blocks": ("%at = tile.shift %i by %zero : !tile.range<b0=16>\n" + ROWS, []),
    "rows anywhere": (
        "%at = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>\n" + ROWS,
        [],
    ),
    "more than half of the rows": (number(9, "nine") + "%far = tile.mul %l, %nine : !tile.tile<b0=16 x i32>\n"
                                   + at("mod", 505, "%far") + ROWS, []),
    "two rings": (
        at("mod", 37, name="r") + at("add", 96, "%r") + ROWS.replace("%v", "%u") + "\n"
        + at("mod", 5, name="b") + ROWS.replace("%at", "%b").replace("%v", "%w")
        + f"\n%v = tile.add %u, %w : {COLUMNS}",
        [((0, 136), (0, 64))],
    ),
    "a ring beside all rows": (
        at("mod", 37) + ROWS.replace("%v", "%u")
        + "\n%all = tile.load %x[:, :] : memref<1000x64xi32> -> !tile.tile<1000 x 64 x i32>"
        + "\n%s = tile.reduce add %all [0] : !tile.tile<1000 x 64 x i32>"
        + f"\n%w = tile.broadcast %s dims [1] : !tile.tile<64 x i32> to {COLUMNS}\n%v = tile.add %u, %w : {COLUMNS}",
        [],
    ),
    "a ring that is written": (
        at("mod", 37) + ROWS + "\ntile.store %v, %x[%i, :] : !tile.tile<b0=16 x 64 x i32>, memref<1000x64xi32>",
        [],
    ),
    "one element of each row": (
        at("mod", 37)
        + """%v0 = tile.load %x[%at, 3] : memref<1000x64xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.broadcast %v0 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>""",
        [((0, 40), (0, 64))],
    ),
}  # fmt: skip


def text(body: str) -> str:
    return f"""
func.func @f(%x: memref<1000x64xi32>, %y: memref<4096xi32>, %n: memref<64xi32>) -> memref<64x64xi32> {{
  %out = host.alloc : memref<64x64xi32>
  tile.grid (%i: b0=16) in (64) {{
    %zero = arith.constant 0 : index
    %l = tile.index %i : !tile.range<b0=16>
    {body}
    tile.store %v, %out[%i, :] : {COLUMNS}, memref<64x64xi32>
  }}
  func.return %out : memref<64x64xi32>
}}"""


@pytest.mark.parametrize("name", CASES)
def test_what_is_handed_over(name: str) -> None:
    body, wanted = CASES[name]
    before, after = kopt.parse(text(body)), kopt.parse(text(body))
    kopt.run_pipeline(after, "return-mutated-arguments,functionalise-host,slice-operands")
    found = [tuple((start, start + size) for start, size, _ in op.bounds) for op in walk(after, SliceOp)]
    assert found == wanted
    random = np.random.default_rng(0)
    x, y = random.integers(-99, 99, (1000, 64), np.int32), random.integers(-99, 99, 4096, np.int32)
    n = random.integers(0, 1000, 64, np.int32)
    results = [run(each, "f", [x.copy(), y, n], check_conflicts=False)[0] for each in (before, after)]
    np.testing.assert_array_equal(*results)
