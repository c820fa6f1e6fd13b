"""The masks of values that hide lanes hold exactly on the lanes that are made from valid ones alone."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import InsertPoint, Rewriter

from kopt import parse
from kopt.analysis.validity import LaneValidity
from kopt.dialects.tile import GridOp, StoreOp
from kopt.dialects.tile.index_list import AllAttr
from kopt.interpreter import run
from test.named import named, only

ROWS, COLUMNS = np.arange(4) < 3, np.arange(6) < 5
#: By name, values of a cell that lacks the last of four rows (%v, %f) and the last of six columns (%w, %g).
TEXT = """
func.func @f(%x: memref<3x6xf32>, %y: memref<4x5xf32>, %p: memref<99x5xf32>, %out: memref<{shape}xi1>) {{
  tile.grid (%i: b0=4, %j: b1=6) in (3, 5) {{
    %v = tile.load %x[%i, :] : memref<3x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
    %w = tile.load %y[:, %j] : memref<4x5xf32> -> !tile.tile<4 x b1=6 x f32>
    %g = tile.reshape %w : !tile.tile<4 x b1=6 x f32> to !tile.tile<24 x f32>
    %z = tile.full 0.0 : !tile.tile<24 x f32>
    {line}
  }}
  func.return
}}
"""
F = "!tile.tile<24 x f32>"
PLAIN = "%a = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<4 x 6 x f32>\n"
FIRST, SPREAD = ROWS.repeat(6), np.tile(COLUMNS, 4)


def lanes(line: str, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
    """Where the mask of a value holds; None where it has none."""
    module = parse(TEXT.format(line=line, shape="x".join(map(str, shape))))
    mask = LaneValidity().plain(named(module)[name])
    if mask is None:
        return None
    out = only(module, FuncOp).body.block.args[-1]
    end = only(module, GridOp).body.block.last_op
    assert end is not None
    Rewriter.insert_op(StoreOp(mask, out, [AllAttr()] * len(shape)), InsertPoint.before(end))
    module.verify()
    held = np.zeros(shape, bool)
    run(module, "f", [*(np.ones(each, np.float32) for each in ((3, 6), (4, 5), (99, 5))), held])
    return held


def over(mask: np.ndarray, dim: int, size: int) -> np.ndarray:
    """A mask repeated along a new dimension."""
    return np.stack([mask] * size, dim)


LEFT = f"%%a = tile.reshape %%%s : {F} to !tile.tile<4 x 6 x f32>\n"
RIGHT = f"%%b = tile.reshape %%%s : {F} to !tile.tile<6 x 4 x f32>\n"
DOT = "%r = tile.dot %a, %b : !tile.tile<4 x 6 x f32>, !tile.tile<6 x 4 x f32> -> !tile.tile<4 x 4 x f32>"
CASES: list[tuple[str, np.ndarray | None]] = [
    (f"%r = tile.add %f, %g : {F}", FIRST & SPREAD),
    (f"%r = tile.add %f, %z : {F}", FIRST),
    (f"%r = tile.reshape %g : {F} to !tile.tile<2 x 12 x f32>", SPREAD.reshape(2, 12)),
    (f"%r = tile.reshape %f : {F} to !tile.tile<1 x 24 x 1 x f32>", FIRST.reshape(1, 24, 1)),
    (f"%a = tile.reshape %f : {F} to !tile.tile<1 x 24 x 1 x f32>\n"
     f"%r = tile.reshape %a : !tile.tile<1 x 24 x 1 x f32> to !tile.tile<4 x 6 x f32>", FIRST.reshape(4, 6)),
    (f"%r = tile.broadcast %g dims [1] : {F} to !tile.tile<2 x 24 x f32>", over(SPREAD, 0, 2)),
    (f"%a = tile.broadcast %g dims [0] : {F} to !tile.tile<24 x 2 x f32>\n"
     "%r = tile.transpose %a [1, 0] : !tile.tile<24 x 2 x f32>", over(SPREAD, 0, 2)),
    (f"%a = tile.reshape %f : {F} to !tile.tile<4 x 6 x f32>\n%b = tile.reshape %g : {F} to !tile.tile<4 x 6 x f32>\n"
     "%c = tile.add %a, %b : !tile.tile<4 x 6 x f32>\n%r = tile.transpose %c [1, 0] : !tile.tile<4 x 6 x f32>",
     (FIRST & SPREAD).reshape(4, 6).T),
    (f"%r = tile.slice %f [1] [8] [3] : {F} to !tile.tile<8 x f32>", FIRST[1:23:3]),
    (f"%r = tile.slice %g [5] [3] [1] : {F} to !tile.tile<3 x f32>", SPREAD[5:8]),
    (f"{PLAIN}%r = tile.slice %a [0, 0] [1, 6] [1, 1] : !tile.tile<4 x 6 x f32> to !tile.tile<1 x 6 x f32>", None),
    (f"{PLAIN}%b = tile.slice %a [0, 0] [3, 6] [1, 1] : !tile.tile<4 x 6 x f32> to !tile.tile<3 x 6 x f32>\n"
     "%r = tile.slice %b [0, 0] [1, 6] [1, 1] : !tile.tile<3 x 6 x f32> to !tile.tile<1 x 6 x f32>", None),
    (f"{PLAIN}%b = tile.slice %a [1, 0] [3, 6] [1, 1] : !tile.tile<4 x 6 x f32> to !tile.tile<3 x 6 x f32>\n"
     "%r = tile.slice %b [0, 0] [1, 6] [1, 1] : !tile.tile<3 x 6 x f32> to !tile.tile<1 x 6 x f32>",
     over(ROWS[1:2], 1, 6)),
    (f"{PLAIN}%r = tile.slice %a [0, 0] [2, 6] [2, 1] : !tile.tile<4 x 6 x f32> to !tile.tile<2 x 6 x f32>",
     over(ROWS[::2], 1, 6)),
    (f"{PLAIN}%r, %n = tile.sort %a dim 0 : !tile.tile<4 x 6 x f32>", over(ROWS, 1, 6)),
    ("%a = tile.reshape %f : !tile.tile<24 x f32> to !tile.tile<4 x 6 x f32>\n"
     "%r = tile.slice %a [0, 2] [4, 3] [1, 1] : !tile.tile<4 x 6 x f32> to !tile.tile<4 x 3 x f32>", over(ROWS, 1, 3)),
    (f"%r = tile.concat %f, %z, %g dim 0 : {F}, {F}, {F} to !tile.tile<72 x f32>",
     np.concatenate([FIRST, np.ones(24, bool), SPREAD])),
    (f"%a = tile.broadcast %f dims [0] : {F} to !tile.tile<24 x 2 x f32>\n"
     "%r = tile.concat %a, %a dim 1 : !tile.tile<24 x 2 x f32>, !tile.tile<24 x 2 x f32> to !tile.tile<24 x 4 x f32>",
     over(FIRST, 1, 4)),
    (f"%a = tile.broadcast %f dims [0] : {F} to !tile.tile<24 x 2 x f32>\n"
     "%r = tile.concat %a, %a dim 0 : !tile.tile<24 x 2 x f32>, !tile.tile<24 x 2 x f32> to !tile.tile<48 x 2 x f32>",
     over(np.tile(FIRST, 2), 1, 2)),
    (f"%n = tile.arange 23, -5 : !tile.tile<5 x i32>\n%r = tile.take_along %g, %n dim 0 : {F}, !tile.tile<5 x i32>",
     SPREAD[23::-5]),
    ("%n = tile.arange 3, -1 : !tile.tile<4 x i32>\n"
     "%k = tile.broadcast %n dims [0] : !tile.tile<4 x i32> to !tile.tile<4 x 6 x i32>\n"
     "%r = tile.take_along %v, %k dim 0 : !tile.tile<b0=4 x 6 x f32>, !tile.tile<4 x 6 x i32>",
     over(ROWS[::-1], 1, 6)),
    (f"%c = tile.cast %g : {F} to !tile.tile<24 x i32>\n%r = tile.take_along %f, %c dim 0 : {F}, !tile.tile<24 x i32>",
     SPREAD & FIRST[0]),
    (f"%a = tile.reshape %g : {F} to !tile.tile<2 x 12 x f32>\n"
     "%r, %n = tile.sort %a dim 1 : !tile.tile<2 x 12 x f32>", over(np.arange(12) < 10, 0, 2)),
    (f"%r, %n = tile.sort %g dim 0 : {F}", np.arange(24) < 20),
    (f"%a = tile.reshape %f : {F} to !tile.tile<8 x 3 x f32>\n%r = tile.reduce add %a [1] : !tile.tile<8 x 3 x f32>",
     np.arange(8) < 6),
    (f"%a = tile.reshape %f : {F} to !tile.tile<8 x 3 x f32>\n%r = tile.reduce add %a [0] : !tile.tile<8 x 3 x f32>",
     np.ones(3, bool)),
    (f"%a = tile.reshape %g : {F} to !tile.tile<4 x 3 x 2 x f32>\n"
     "%r = tile.reduce max %a [0] : !tile.tile<4 x 3 x 2 x f32>", COLUMNS.reshape(3, 2)),
    (f"%a = tile.reshape %g : {F} to !tile.tile<4 x 3 x 2 x f32>\n"
     "%r = tile.reduce max %a [0, 2] : !tile.tile<4 x 3 x 2 x f32>", np.ones(3, bool)),
    (f"%n = tile.cast %f : {F} to !tile.tile<24 x i32>\n"
     "%r = tile.load %p[%n, :] : memref<99x5xf32> -> !tile.tile<24 x 5 x f32>", over(FIRST, 1, 5)),
    (f"%n = tile.cast %f : {F} to !tile.tile<24 x i32>\n"
     "%r = tile.load %p[0:7, %n] : memref<99x5xf32> -> !tile.tile<7 x 24 x f32>", over(FIRST, 0, 7)),
    (f"%n = tile.cast %f : {F} to !tile.tile<24 x i32>\n%m = tile.cast %g : {F} to !tile.tile<24 x i32>\n"
     f"%r = tile.load %p[%n, %m] : memref<99x5xf32> -> {F}", FIRST & SPREAD),
    (f"%a = tile.broadcast %f dims [0] : {F} to !tile.tile<24 x 2 x f32>\n"
     f"%b = tile.broadcast %g dims [1] : {F} to !tile.tile<2 x 24 x f32>\n"
     "%r = tile.dot %a, %b : !tile.tile<24 x 2 x f32>, !tile.tile<2 x 24 x f32> -> !tile.tile<24 x 24 x f32>",
     over(FIRST, 1, 24) & over(SPREAD, 0, 24)),
    (f"{LEFT % 'g'}{RIGHT % 'z'}{DOT}", np.ones((4, 4), bool)),
    (f"{LEFT % 'f'}{RIGHT % 'z'}{DOT}", over(ROWS, 1, 4)),
    (f"{LEFT % 'z'}{RIGHT % 'f'}{DOT}", np.ones((4, 4), bool)),
    (f"{RIGHT % 'z'}{LEFT % 'g'}%r = tile.dot %b, %a : !tile.tile<6 x 4 x f32>, !tile.tile<4 x 6 x f32> "
     "-> !tile.tile<6 x 6 x f32>", over(COLUMNS, 0, 6)),
    (f"{LEFT % 'z'}{RIGHT % 'z'}%c = tile.slice %f [4] [16] [1] : {F} to !tile.tile<16 x f32>\n"
     "%d = tile.reshape %c : !tile.tile<16 x f32> to !tile.tile<4 x 4 x f32>\n"
     "%r = tile.dot %a, %b, %d : !tile.tile<4 x 6 x f32>, !tile.tile<6 x 4 x f32> -> !tile.tile<4 x 4 x f32>",
     FIRST[4:20].reshape(4, 4)),
    (f"%a = tile.broadcast %g dims [1] : {F} to !tile.tile<3 x 24 x 2 x f32>\n"
     f"%b = tile.broadcast %f dims [2] : {F} to !tile.tile<3 x 2 x 24 x f32>\n"
     "%r = tile.dot %a, %b : !tile.tile<3 x 24 x 2 x f32>, !tile.tile<3 x 2 x 24 x f32> "
     "-> !tile.tile<3 x 24 x 24 x f32>", over(over(SPREAD, 1, 24) & over(FIRST, 0, 24), 0, 3)),
    (f"%a = tile.broadcast %g dims [0] : {F} to !tile.tile<24 x 2 x 2 x f32>\n"
     f"%b = tile.broadcast %f dims [0] : {F} to !tile.tile<24 x 2 x 2 x f32>\n"
     "%r = tile.dot %a, %b : !tile.tile<24 x 2 x 2 x f32>, !tile.tile<24 x 2 x 2 x f32> "
     "-> !tile.tile<24 x 2 x 2 x f32>",
     over(over(SPREAD & FIRST, 1, 2), 2, 2)),
    (f"%a = tile.broadcast %g dims [0] : {F} to !tile.tile<24 x 64 x f32>\n"
     "%h = tile.cast %a : !tile.tile<24 x 64 x f32> to !tile.tile<24 x 64 x f8E5M2>\n"
     "%s = tile.full 127 : !tile.tile<24 x 2 x ui8>\n%r = tile.scaling_extf e5m2 %h, %s dim 1 : "
     "!tile.tile<24 x 64 x f8E5M2>, !tile.tile<24 x 2 x ui8> to !tile.tile<24 x 64 x bf16>", over(SPREAD, 1, 64)),
    ("%h = tile.full 1.0 : !tile.tile<2 x 768 x f8E5M2>\n"
     f"%c = tile.cast %g : {F} to !tile.tile<24 x i32>\n"
     "%u = tile.cast %c : !tile.tile<24 x i32> to !tile.tile<24 x ui8>\n"
     "%s = tile.broadcast %u dims [1] : !tile.tile<24 x ui8> to !tile.tile<2 x 24 x ui8>\n"
     "%r = tile.scaling_extf e5m2 %h, %s dim 1 : !tile.tile<2 x 768 x f8E5M2>, !tile.tile<2 x 24 x ui8> "
     "to !tile.tile<2 x 768 x bf16>", over(SPREAD.repeat(32), 0, 2)),
    (f"%a = tile.broadcast %g dims [1] : {F} to !tile.tile<b0=4 x 24 x f32>\n"
     "%n = tile.arange 23, -1 : !tile.tile<24 x i32>\n"
     "%k = tile.broadcast %n dims [1] : !tile.tile<24 x i32> to !tile.tile<b0=4 x 24 x i32>\n"
     "%t = tile.take_along %a, %k dim 1 : !tile.tile<b0=4 x 24 x f32>, !tile.tile<b0=4 x 24 x i32>\n"
     "%r = tile.mask %t in (%i, _) else 0.0 : !tile.tile<b0=4 x 24 x f32>",
     over(SPREAD[::-1], 0, 4) | ~over(ROWS, 1, 24)),
]  # fmt: skip


@pytest.mark.parametrize(("line", "wanted"), CASES)
def test_lanes_of_masks(line: str, wanted: np.ndarray | None) -> None:
    """Reductions keep a lane that any valid one went into; sorting puts valid lanes first."""
    found = lanes(line, "r", (1,) if wanted is None else wanted.shape)
    assert (found is None) == (wanted is None)
    if wanted is not None:
        np.testing.assert_array_equal(found, wanted)
