"""Which masks tell the valid lanes of values that hide them, op by op."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.validity import LaneValidity
from kopt.dialects.tile import TileType
from kopt.walk import walk
from test.named import named

TEXT = """
func.func @f(%x: memref<{extent}x6xf32>, %p: memref<99xf32>, %q: memref<99x5xf32>) {{
  tile.grid (%i: b0=4) in ({extent}) {{
    %v = tile.load %x[%i, :] : memref<{extent}x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
    %z = tile.full 0.0 : !tile.tile<24 x f32>
    {line}
    %after = arith.constant 1 : index
  }}
  func.return
}}
"""


def validity(line: str, name: str = "r", extent: int = 13):
    """The mask of a value, None where tags tell all."""
    module = parse(TEXT.format(line=line, extent=extent))
    mask = LaneValidity().of(named(module)[name])
    module.verify()
    return mask


AT = "%at = tile.cast %f : !tile.tile<24 x f32> to !tile.tile<24 x i32>"
F, W = "!tile.tile<24 x f32>", "!tile.tile<b0=4 x 6 x f32>"
NONE = f"%e = tile.slice %f [3] [0] [1] : {F} to !tile.tile<0 x f32>\n"
#: Of two dimensions, each of which hides lanes.
BOTH = f"""%a = tile.broadcast %f dims [0] : {F} to !tile.tile<24 x 24 x f32>
%b = tile.broadcast %f dims [1] : {F} to !tile.tile<24 x 24 x f32>
%s = tile.add %a, %b : !tile.tile<24 x 24 x f32>
"""


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        (f"%r = tile.neg %f : {F}", (24,)),
        (f"%r = tile.add %f, %z : {F}", (24,)),
        (f"%r = tile.cast %f : {F} to !tile.tile<24 x i32>", (24,)),
        (f"%r = tile.scan add %f dim 0 : {F}", (24,)),
        (f"%r = tile.reshape %f : {F} to !tile.tile<2 x 12 x f32>", (2, 12)),
        (f"%r = tile.slice %f [3] [6] [2] : {F} to !tile.tile<6 x f32>", (6,)),
        (f"%b = tile.broadcast %f dims [1] : {F} to !tile.tile<3 x 24 x f32>\n"
         "%r = tile.transpose %b [1, 0] : !tile.tile<3 x 24 x f32>", (24, 3)),
        (f"%r = tile.concat %f, %z dim 0 : {F}, {F} to !tile.tile<48 x f32>", (48,)),
        (f"%k = tile.full 3 : !tile.tile<5 x i32>\n%r = tile.take_along %f, %k dim 0 : {F}, !tile.tile<5 x i32>", (5,)),
        (f"%m = tile.reshape %f : {F} to !tile.tile<2 x 12 x f32>\n"
         "%r = tile.reduce add %m [1] : !tile.tile<2 x 12 x f32>", (2,)),
        (f"{BOTH}%r = tile.reduce add %s [0] : !tile.tile<24 x 24 x f32>", (24,)),
        (f"{BOTH}%r = tile.reduce add %s [1] : !tile.tile<24 x 24 x f32>", (24,)),
        (f"%r, %n = tile.sort %f dim 0 : {F}", (24,)),
        (f"{AT}\n%r = tile.load %p[%at] : memref<99xf32> -> {F}", (24,)),
        (f"{AT}\n%r = tile.load %q[%at, 0:5] : memref<99x5xf32> -> !tile.tile<24 x 5 x f32>", (24, 5)),
        (f"{AT}\n%r = tile.load %q[0:5, %at] : memref<99x5xf32> -> !tile.tile<5 x 24 x f32>", (5, 24)),
        (f"%r = atomic.rmw add %f, %p[0:24] ordering relaxed : {F}, memref<99xf32> -> {F}", (24,)),
    ],
)  # fmt: skip
def test_a_mask_of_the_values_lanes(line: str, shape: tuple[int, ...]) -> None:
    mask = validity(line)
    assert mask is not None and isinstance(mask.type, TileType)
    assert mask.type.shape == shape and str(mask.type.element_type) == "i1" and not any(mask.type.tags)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("", "v"),  # its tag tells
        ("", "z"),  # all lanes are there
        (f"%r = tile.neg %v : {W}", "r"),
        (f"%r = tile.transpose %v [1, 0] : {W}", "r"),
        (f"%r = tile.reshape %v : {W} to !tile.tile<b0=4 x 2 x 3 x f32>", "r"),
        (f"%r = tile.reduce add %f [0] : {F}", "r"),  # some lane is always valid
        (f"{NONE}%r = tile.reshape %e : !tile.tile<0 x f32> to !tile.tile<0 x 3 x f32>", "r"),  # it has no lanes
        (f"{NONE}%r = tile.reshape %e : !tile.tile<0 x f32> to !tile.tile<5 x 0 x f32>", "r"),
    ],
)
def test_others_need_none(line: str, name: str) -> None:
    assert validity(line, name) is None


@pytest.mark.parametrize("extent", [4, 12, 0])
def test_full_blocks_hide_nothing(extent: int) -> None:
    assert validity(f"%r = tile.neg %f : {F}", extent=extent) is None


def test_the_masks_of_a_value_are_made_once() -> None:
    module = parse(TEXT.format(line=f"%r = tile.neg %f : {F}", extent=13))
    builder, values = LaneValidity(), named(module)
    first = builder.of(values["r"])
    count = len(walk(module))
    assert builder.of(values["r"]) is first and builder.of(values["f"]) is first and len(walk(module)) == count


@pytest.mark.parametrize(
    ("cuts", "masked"),
    [
        ([(0, 1, 1)], False),  # there is one row at least
        ([(1, 1, 1)], True),
        ([(0, 2, 1)], True),
        ([(0, 3, 1), (0, 1, 1)], False),  # the first of the first
        ([(0, 2, 2), (0, 1, 1)], False),
        ([(1, 2, 1), (0, 1, 1)], True),
        ([(0, 3, 1), (2, 1, 1)], True),
    ],
)
def test_the_first_row_is_valid(cuts: list[tuple[int, int, int]], masked: bool) -> None:
    """Rows of a block are valid from the first on: a slice that begins there has one that is."""
    lines, rows = [f"%c = tile.reshape %v : {W} to !tile.tile<4 x 6 x f32>"], 4
    for start, size, step in cuts:
        types = f"!tile.tile<{rows} x 6 x f32> to !tile.tile<{size} x 6 x f32>"
        lines.append(
            f"%c{len(lines)} = tile.slice %c{len(lines) - 1 or ''} [{start}, 0] [{size}, 6] [{step}, 1] : {types}"
        )
        rows = size
    assert (validity("\n".join(lines), f"c{len(cuts)}") is not None) is masked
