"""Masks of element numbers, and the work that counts in their lanes alone."""

from __future__ import annotations

from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.launch_models.number_masks import number_masks
from kopt.analysis.plans import GridNames
from test.analysis.one_launch import one_launch

TILE = "!tile.tile<b0=8 x f32>"


def test_what_a_mask_excludes_is_followed_to_reductions() -> None:
    text = f"""%q = tile.load %x[%i] : memref<64xf32> -> {TILE}
    %n = tile.index %i : !tile.range<b0=8>
    %l = tile.full 5 : !tile.tile<b0=8 x i32>
    %c = tile.ge %n, %l : !tile.tile<b0=8 x i32>
    %z = tile.full -inf : {TILE}
    %s = tile.select %c, %q, %z : {TILE}
    %e = tile.exp %s : {TILE}
    %r = tile.reduce add %e [0] : {TILE}
    %p = tile.exp %q : {TILE}"""
    grid = one_launch(text, x="64xf32").grid
    found = number_masks(Launch(grid, GridNames.of(grid)))
    assert {op.name: masks for op, (_, masks) in found.items()} == {
        "tile.select": True,
        "tile.ge": True,
        "tile.exp": False,
        "tile.reduce": False,
    }
    assert len([op for op in found if op.name == "tile.exp"]) == 1
