"""Which picks of one lane of each row load the register that has the lane."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.register_picks import picks_registers, read_of
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import TakeAlongOp
from kopt.walk import walk


def pick(
    rows: int = 8,
    lanes: int = 16384,
    element: str = "f32",
    numbers: str = "i32",
    more: str = "",
    cut: str = ":",
    each: int = 1,
):
    """A kernel's pick of ``each`` lanes of the rows of ``%v`` by ``%w``, and its call.

    ``cut`` is what is read of the block's lanes; in ``more`` stands what else the kernel does.
    """
    taken = lanes if cut == ":" else int(cut.split(":")[1])
    block, names = f"!tile.ref<{rows} x {lanes} x {element}, vmem>", f"!tile.ref<{rows} x {numbers}, vmem>"
    value, wanted = f"!tile.tile<b0={rows} x {taken} x {element}>", f"!tile.tile<b0={rows} x {each} x {numbers}>"
    row, number = f"!tile.tile<b0={rows} x {element}>", f"!tile.tile<b0={rows} x {numbers}>"
    x, n, y = f"memref<{2 * rows}x{lanes}x{element}>", f"memref<{2 * rows}x{numbers}>", f"memref<{2 * rows}x{element}>"
    line = f"<[{rows}], (d0) -> (d0), vmem>"
    text = f"""
func.func @f(%x: {x}, %n: {n}) -> {y} {{
  %q = pallas.call @f(%x, %n) windows [<[{rows}, {lanes}], (d0) -> (d0, 0), vmem>, {line}, {line}] \
semantics (parallel) aliases [-1] : ({x}, {n}) -> {y} {{
  ^bb0(%rows: {block}, %names: {names}, %out: !tile.ref<{rows} x {element}, vmem>):
    tile.grid (%i: b0={rows}) in ({2 * rows}) {{
      %v = tile.get %rows[:, {cut}] : {block} -> {value}
      %k = tile.get %names[:] : {names} -> {number}
      %w = tile.broadcast %k dims [0] : {number} to {wanted}
      {more.replace("BLOCK", block).replace("VALUE", value).replace("NAMES", names).replace("NUMBER", number)}
      %t = tile.take_along %v, %w dim 1 : {value}, {wanted}
      %p = tile.reduce add %t [1] : !tile.tile<b0={rows} x {each} x {element}>
      tile.put %p, %out[:] : {row}, !tile.ref<{rows} x {element}, vmem>
    }}
  }}
  func.return %q : {y}
}}
"""
    (call,) = walk(parse(text), CallOp)
    (found,) = walk(call, TakeAlongOp)
    return found, call


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"rows": 32},
        {"lanes": 16512},
        {"element": "i32"},
        {"element": "bf16", "rows": 16},
        {"more": "%u = tile.get %rows[:, :] : BLOCK -> VALUE"},
    ],
    ids=str,
)
def test_registers_of_wide_rows_are_loaded(kind: dict) -> None:
    found, call = pick(**kind)
    assert picks_registers(found, call)
    read = read_of(found)
    assert read is not None and read.result.name_hint == "v"


@pytest.mark.parametrize(
    "kind",
    [
        {"rows": 40},
        {"lanes": 16256},
        {"lanes": 16448},
        {"element": "i16", "rows": 16},
        {"element": "i8", "rows": 32},
        {"numbers": "i16"},
        {"cut": "0:16384", "lanes": 32768},
        {"each": 2},
        {"more": "tile.put %v, %rows[:, :] : VALUE, BLOCK"},
        {"more": "tile.put %k, %names[:] : NUMBER, NAMES"},
    ],
    ids=str,
)
def test_others_are_not(kind: dict) -> None:
    """Many rows, few lanes, parts of registers, narrow elements or numbers, parts of rows, two lanes a row, writes."""
    assert not picks_registers(*pick(**kind))
