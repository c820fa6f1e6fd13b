"""Which products a chip has for operands with scales."""

import pytest

from kopt.analysis.scaled_products import is_scaled, scaled_operands, scales_in_product
from kopt.api import parse
from kopt.dialects.tile import DotOp
from kopt.targets.chips import GPU_CHIPS
from kopt.walk import walk

TEXT = """
func.func @f(%x: !tile.tile<32 x {k} x {x}>, %s: !tile.tile<32 x {groups} x {scale}>,
             %y: !tile.tile<{k} x 64 x {y}>, %t: !tile.tile<64 x {groups} x {scale}>) {{
  %a = tile.scaling_extf {left} %x, %s dim 1 : !tile.tile<32 x {k} x {x}>, !tile.tile<32 x {groups} x {scale}> to
    !tile.tile<32 x {wide} x bf16>
  %b = tile.scaling_extf {right} %y, %t dim 0 : !tile.tile<{k} x 64 x {y}>, !tile.tile<64 x {groups} x {scale}> to
    !tile.tile<{wide} x 64 x bf16>
  %d = tile.dot %a, %b : !tile.tile<32 x {wide} x bf16>, !tile.tile<{wide} x 64 x bf16> -> !tile.tile<32 x 64 x f32>
  func.return
}}
"""
TYPES = {"e2m1": "ui8", "e4m3": "f8E4M3FN", "bf16": "bf16"}


def product(left: str, right: str, scale: str = "ui8", k: int = 64, groups: int = 0) -> DotOp:
    wide = 2 * k if left == "e2m1" else k
    groups = groups or wide // (16 if scale == "f8E4M3FN" else 32)
    names = {"left": left, "right": right, "x": TYPES[left], "y": TYPES[right]}
    return walk(parse(TEXT.format(**names, k=k, wide=wide, groups=groups, scale=scale)), DotOp)[0]


@pytest.mark.parametrize(
    ("chip", "dot", "taken"),
    [
        ("sm100", product("e2m1", "e2m1"), True),
        ("sm100", product("e4m3", "e4m3"), True),
        ("sm100", product("e2m1", "e2m1", "f8E4M3FN"), True),
        ("sm100", product("e4m3", "e4m3", "f8E4M3FN"), False),
        ("sm100", product("bf16", "bf16"), False),
        ("sm100", product("e4m3", "e4m3", groups=1), False),
        ("sm100", product("e4m3", "e4m3", k=1024), False),
        ("sm90", product("e2m1", "e2m1"), False),
        ("gfx950", product("e2m1", "e2m1"), True),
        ("gfx950", product("e2m1", "e2m1", "f8E4M3FN"), False),
        ("gfx950", product("e4m3", "e4m3", k=512), False),
    ],
)
def test_what_a_chip_takes(chip, dot, taken):
    """Formats of 8 bits at most, the groups of its scales, and blocks that a program shares."""
    assert is_scaled(dot, GPU_CHIPS[chip]) is taken
    operands = scaled_operands(dot)
    assert operands is not None
    assert [scales_in_product(each, GPU_CHIPS[chip]) for each in operands] == [taken] * 2
