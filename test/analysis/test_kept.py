"""Reads of a block that only keep it: NumPy says which moves of lanes come back to where they began."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from kopt import parse
from kopt.analysis.kept import only_kept
from kopt.dialects.tile import GetOp
from kopt.walk import walk

TEXT = """
func.func @f(%n: index, %c: !tile.tile<4 x 4 x f32>, %m: !tile.tile<4 x 4 x i1>, %h: !tile.tile<4 x 4 x bf16>,
             %i: !tile.tile<4 x 4 x i32>) {{
  %a = pallas.scratch : !tile.ref<2 x 4 x 4 x f32, vmem>
  %b = pallas.scratch : !tile.ref<2 x 4 x 4 x f32, vmem>
  %p = pallas.scratch : !tile.ref<4 x 4 x i1, vmem>
  %q = pallas.scratch : !tile.ref<4 x 4 x bf16, vmem>
  %r = pallas.scratch : !tile.ref<4 x 4 x i8, vmem>
  %v = tile.get {source} -> !tile.tile<{lanes}>
  {lines}
  func.return
}}
"""
A = "%a[%n, :, :] : !tile.ref<2 x 4 x 4 x f32, vmem>"
P = "%p[:, :] : !tile.ref<4 x 4 x i1, vmem>"
Q = "%q[:, :] : !tile.ref<4 x 4 x bf16, vmem>"
R = "%r[:, :] : !tile.ref<4 x 4 x i8, vmem>"
F32, BF16, I1, I8, I32 = "4 x 4 x f32", "4 x 4 x bf16", "4 x 4 x i1", "4 x 4 x i8", "4 x 4 x i32"


def kept(lines: str, source: str = A, lanes: str = F32) -> bool:
    """Whether the first read of a function is only kept."""
    module = parse(TEXT.format(source=source, lanes=lanes, lines=lines))
    return only_kept(walk(module, GetOp)[0])


def select(result: str, yes: str, no: str, lanes: str = F32) -> str:
    """A choice by the mask."""
    return f"%{result} = tile.select %m, %{yes}, %{no} : !tile.tile<{lanes}>\n"


def put(value: str, place: str = "%a[%n, :, :]", ref: str = "2 x 4 x 4 x f32", lanes: str = F32) -> str:
    """A write of a block."""
    return f"tile.put %{value}, {place} : !tile.tile<{lanes}>, !tile.ref<{ref}, vmem>\n"


def cast(result: str, value: str, source: str, target: str) -> str:
    """A conversion."""
    return f"%{result} = tile.cast %{value} : !tile.tile<{source}> to !tile.tile<{target}>\n"


@pytest.mark.parametrize(
    "lines, wanted",
    [
        (select("s", "c", "v") + put("s"), True),
        (select("s", "v", "c") + put("s"), True),
        (select("s", "c", "v") + select("t", "s", "c") + put("t"), True),
        (put("v"), True),
        ("", True),
        (select("s", "c", "v") + put("s") + select("t", "v", "c") + put("t"), True),
        (select("s", "c", "v") + put("s") + put("v", "%b[%n, :, :]"), False),
        (select("s", "c", "v") + put("s", "%b[%n, :, :]"), False),
        (select("s", "c", "v") + put("s", "%a[0, :, :]"), False),
        (f"%s = tile.add %v, %c : !tile.tile<{F32}>\n" + put("s"), False),
        (f"%s = tile.reduce add %v [0] : !tile.tile<{F32}>\n" + put("v"), False),
    ],
)
def test_masked_writes_to_the_same_place(lines: str, wanted: bool) -> None:
    assert kept(lines) is wanted


def test_a_mask_that_was_read_decides() -> None:
    back = put("s", "%p[:, :]", "4 x 4 x i1", I1)
    assert kept(f"%s = tile.select %m, %v, %m : !tile.tile<{I1}>\n" + back, P, I1)
    assert not kept(f"%s = tile.select %v, %m, %m : !tile.tile<{I1}>\n" + back, P, I1)


def test_casts_that_hold_all_numbers() -> None:
    """bf16 is kept through f32 and i8 through i32; f32 is not kept through bf16."""
    there, back = cast("w", "v", BF16, F32), cast("z", "s", F32, BF16)
    assert kept(there + select("s", "c", "w") + back + put("z", "%q[:, :]", BF16, BF16), Q, BF16)
    there, back = cast("w", "v", I8, I32), cast("z", "s", I32, I8)
    assert kept(there + select("s", "i", "w", I32) + back + put("z", "%r[:, :]", I8, I8), R, I8)
    there, back = cast("w", "v", F32, BF16), cast("z", "s", BF16, F32)
    assert not kept(there + select("s", "h", "w", BF16) + back + put("z"))


def test_booleans_that_are_stored_as_bytes() -> None:
    """0 and 1 are kept through i1, but no other bytes."""
    there, back = cast("w", "v", I8, I32) + cast("x", "w", I32, I1), cast("z", "s", I1, I8)
    lines = there + select("s", "m", "x", I1) + back + put("z", "%r[:, :]", I8, I8)
    assert kept(lines, R, I8)
    assert not kept(cast("u", "i", I32, I8) + put("u", "%r[:, :]", I8, I8) + lines, R, I8)
    # A masked store puts back what the block had, or another number.
    again = select("t", "y", "v", I8) + put("t", "%r[:, :]", I8, I8)
    assert kept(cast("y", "m", I1, I8) + again + lines, R, I8)
    assert not kept(cast("y", "i", I32, I8) + again + lines, R, I8)


SHAPE = (2, 3, 4)


def moved(moves: list[tuple[str, tuple[int, ...]]]) -> tuple[str, np.ndarray]:
    """Lines that move the lanes of ``%v``, and the numbers of the lanes then."""
    lanes, lines, value = np.arange(24).reshape(SHAPE), "", "v"

    def type() -> str:
        return f"!tile.tile<{' x '.join(map(str, lanes.shape))} x f32>"

    for number, (kind, by) in enumerate(moves):
        if kind == "transpose":
            lines += f"%v{number} = tile.transpose %{value} {list(by)} : {type()}\n"
            lanes = lanes.transpose(by)
        else:
            before, lanes = type(), lanes.reshape(by)
            lines += f"%v{number} = tile.reshape %{value} : {before} to {type()}\n"
        value = f"v{number}"
    return lines + f"tile.put %{value}, %a[:, :, :] : {type()}, !tile.ref<2 x 3 x 4 x f32, vmem>", lanes


ORDERS = list(permutations(range(3)))
MOVES = [
    *([("transpose", first), ("transpose", second)] for first in ORDERS for second in ORDERS),
    [("reshape", (6, 4)), ("reshape", SHAPE)],
    [("reshape", (24,)), ("reshape", (4, 6)), ("transpose", (1, 0)), ("reshape", SHAPE)],
    [("reshape", (4, 6)), ("transpose", (1, 0)), ("transpose", (1, 0)), ("reshape", SHAPE)],
    [("reshape", (2, 12)), ("transpose", (1, 0)), ("reshape", (3, 4, 2)), ("transpose", (2, 0, 1))],
]


@pytest.mark.parametrize("moves", [moves for moves in MOVES if moved(moves)[1].shape == SHAPE], ids=str)
def test_lanes_that_are_moved_have_to_be_moved_back(moves: list[tuple[str, tuple[int, ...]]]) -> None:
    lines, lanes = moved(moves)
    module = parse(f"""
    func.func @f() {{
      %a = pallas.scratch : !tile.ref<2 x 3 x 4 x f32, vmem>
      %v = tile.get %a[:, :, :] : !tile.ref<2 x 3 x 4 x f32, vmem> -> !tile.tile<2 x 3 x 4 x f32>
      {lines}
      func.return
    }}
    """)
    assert only_kept(walk(module, GetOp)[0]) is np.array_equal(lanes, np.arange(24).reshape(SHAPE))
