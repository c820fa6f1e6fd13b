"""Loops to the longest item: which are raised to jagged ones, why others are not, and that nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.dialects import tile
from kopt.dialects.jagged import ForOp
from kopt.interpreter import run
from kopt.passes.jagged.loops import raise_loop
from kopt.walk import walk

WIDE, ITEMS = "!tile.tile<b0=4 x b2=8 x i32>", "!tile.tile<b0=4 x i32>"
HEAD = f"""
func.func @f(%x: memref<6x20xi32>, %lens: memref<6xi32>, %out: memref<6xi32>, %rows: memref<6x20xi32>) {{
  tile.grid (%b: b0=4) in (6) {{
    %n = tile.load %lens[%b] : memref<6xi32> -> {ITEMS}
    %most = tile.reduce max %n [0] : {ITEMS}
    %end = tile.extract %most : !tile.tile<i32> to index
    %z = tile.full 0 : {ITEMS}
    %s = tile.for %k: b2=8 in (0, %end) iter(%a = %z) -> ({ITEMS}) {{
      %nb = tile.broadcast %n dims [0] : {ITEMS} to {WIDE}
      %ki = tile.index %k : !tile.range<b2=8>
      %kb = tile.broadcast %ki dims [1] : !tile.tile<b2=8 x i32> to {WIDE}
      %has = tile.lt %kb, %nb : {WIDE}
      %v = tile.load %x[%b, %k] mask %has other 0 : memref<6x20xi32> -> {WIDE}
      """
TAIL = f"""
      %next = tile.add %a, %p : {ITEMS}
      tile.yield %next : {ITEMS}
    }}
    tile.store %s, %out[%b] : {ITEMS}, memref<6xi32>
  }}
  func.return
}}"""
SUM = f"%p = tile.reduce add %v [1] : {WIDE}"
OWN = """ : {type} {{
      ^bb0(%l: !tile.tile<i32>, %r: !tile.tile<i32>):
        %m = tile.minimum %l, %r : !tile.tile<i32>
        tile.yield %m : !tile.tile<i32>
      }}"""
COMBINES = "combines lanes that no mask leaves out"
REARRANGES = "rearranges lanes of items"
CASES = {
    "a sum": (SUM, ""),
    "a sum of ones": (f"%t = tile.full 1 : {WIDE}\n{SUM.replace('%v', '%t')}", f"'tile.reduce' {COMBINES}"),
    "a maximum of zeros": (f"%p = tile.reduce max %v [1] : {WIDE}", f"'tile.reduce' {COMBINES}"),
    "a sum over items": (
        f"""%q = tile.reduce add %v [0] : {WIDE}
        %t = tile.reduce add %q [0] : !tile.tile<b2=8 x i32>
        %p = tile.broadcast %t dims [] : !tile.tile<i32> to {ITEMS}""",
        None,
    ),
    "running sums": (f"%t = tile.scan add %v dim 1 : {WIDE}\n{SUM}", ""),
    "running maxima": (f"%t = tile.scan max %v dim 1 : {WIDE}\n{SUM}", f"'tile.scan' {COMBINES}"),
    "one's own function": (
        f"%p = tile.associative_reduce %v dim 1{OWN.format(type=WIDE)}",
        f"'tile.associative_reduce' {COMBINES}",
    ),
    "one's own function of the lanes of all items": (
        f"%t = tile.associative_reduce %ki dim 0{OWN.format(type='!tile.tile<b2=8 x i32>')}\n{SUM}",
        "",
    ),
    "one's own function of items": (
        f"%t = tile.associative_reduce %v dim 0{OWN.format(type=WIDE)}\n{SUM}",
        f"'tile.associative_reduce' {COMBINES}",
    ),
    "a store of all lanes": (
        f"tile.store %kb, %rows[%b, %k] : {WIDE}, memref<6x20xi32>\n{SUM}",
        "'tile.store' writes lanes that no mask leaves out",
    ),
    "a store under the mask": (f"tile.store %kb, %rows[%b, %k] mask %has : {WIDE}, memref<6x20xi32>\n{SUM}", ""),
    "a store under another mask": (
        f"""%odd = tile.lt %v, %kb : {WIDE}
        tile.store %kb, %rows[%b, %k] mask %odd : {WIDE}, memref<6x20xi32>
        {SUM}""",
        "'tile.store' writes lanes that no mask leaves out",
    ),
    "a store under both masks": (
        f"""%odd = tile.lt %v, %kb : {WIDE}
        %both = tile.and %odd, %has : !tile.tile<b0=4 x b2=8 x i1>
        tile.store %kb, %rows[%b, %k] mask %both : {WIDE}, memref<6x20xi32>
        {SUM}""",
        "",
    ),
    "lanes in one row": (
        f"%t = tile.reshape %v : {WIDE} to !tile.tile<32 x i32>\n{SUM}",
        f"'tile.reshape' {REARRANGES}",
    ),
    "another dimension": (f"%t = tile.reshape %v : {WIDE} to !tile.tile<b0=4 x 1 x b2=8 x i32>\n{SUM}", ""),
}  # fmt: skip


def raised(text: str) -> tuple[object, list[str]]:
    module = kopt.parse(text)
    with kopt.diagnostics.collect() as found:
        for loop in walk(module, tile.ForOp):
            raise_loop(loop)
    return module, [each.message for each in found]


@pytest.mark.parametrize("name", CASES)
def test_which_loops_are_raised(name: str) -> None:
    body, why = CASES[name]
    before = kopt.parse(HEAD + body + TAIL)
    after, remarks = raised(HEAD + body + TAIL)
    is_raised = bool(walk(after, ForOp))
    assert is_raised == (not remarks)
    if why is not None:
        assert remarks == ([f"the loop to the longest item is not raised to a jagged one: {why}"] if why else [])
    x = np.random.default_rng(0).integers(1, 99, (6, 20), np.int32)
    lengths = np.array([3, 0, 20, 8, 9, 1], np.int32)
    results = []
    for module in (before, after):
        out, rows = np.full(6, -1, np.int32), np.full((6, 20), -1, np.int32)
        run(module, "f", [x.copy(), lengths, out, rows])
        results.append(np.concatenate([out, rows.ravel()]))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(0, %end)", "(1, %end)"),
        ("(0, %end)", "(0, 20)"),
        ("reduce max %n", "reduce min %n"),
        (
            "%most = tile.reduce max %n [0]",
            "%m = tile.load %lens[3] : memref<6xi32> -> !tile.tile<i32>\n%most = tile.add %m, %m",
        ),
    ],
)  # fmt: skip
def test_loops_that_do_not_go_to_the_longest_item(old: str, new: str) -> None:
    text = (HEAD + SUM + TAIL).replace(old, new).replace("%m, %m : " + ITEMS, "%m, %m : !tile.tile<i32>")
    assert text != HEAD + SUM + TAIL
    module, remarks = raised(text)
    assert not walk(module, ForOp) and not remarks


def test_lengths_may_be_cast_on_the_way() -> None:
    text = (HEAD + SUM + TAIL).replace(
        f"%most = tile.reduce max %n [0] : {ITEMS}",
        f"""%wide = tile.cast %n : {ITEMS} to !tile.tile<b0=4 x i64>
    %largest = tile.reduce max %wide [0] : !tile.tile<b0=4 x i64>
    %most = tile.cast %largest : !tile.tile<i64> to !tile.tile<i32>""",
    )
    module, _ = raised(text)
    (loop,) = walk(module, ForOp)
    assert loop.lengths.name_hint == "n"
