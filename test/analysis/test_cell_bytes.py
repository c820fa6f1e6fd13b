"""What a cell takes of VMEM while its block sizes are chosen."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kopt import parse
from kopt.analysis.cell_bytes import cell_bytes
from kopt.planning.block_sizes import rooms
from kopt.targets.chips import TPU_CHIPS

V6E = TPU_CHIPS["v6e"]
TILE = "!tile.tile<b0=8 x b1=128 x f32>"
#: Rows of which a maximum is subtracted: they wait for it.
ROWS = f"""
func.func @f(%x: memref<4096x4096xf32>, %out: memref<4096x4096xf32>) {{
  tile.grid (%i: b0=8, %j: b1=128) in (4096, 4096) {{
    %v = tile.load %x[%i, %j] : memref<4096x4096xf32> -> {TILE}
    %m = tile.reduce max %v [1] : {TILE}
    %r = tile.reshape %m : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1 x f32>
    %b = tile.broadcast %r dims [0, 1] : !tile.tile<b0=8 x 1 x f32> to {TILE}
    %e = tile.exp %v : {TILE}
    %d = tile.sub %e, %b : {TILE}
    tile.store %d, %out[%i, %j] : {TILE}, memref<4096x4096xf32>
  }}
  func.return
}}"""


@pytest.mark.parametrize("loop_type", ["auto", "resident"])
def test_larger_blocks_take_no_less(loop_type: str) -> None:
    taken = cell_bytes(parse(ROWS), V6E, ["b0", "b1"], loop_type)
    found = [taken({"b0": 8 << n, "b1": 128}) for n in range(6)]
    assert all(few < many for few, many in pairwise(found))
    assert found[0] == 4 * 8 * 128 * 4


def test_what_is_alive_and_has_no_register_counts() -> None:
    taken = cell_bytes(parse(ROWS), V6E, ["b0", "b1"])
    block = 512 * 1024 * 4
    assert 5 * block <= taken({"b0": 512, "b1": 1024}) <= 7 * block


def test_no_grid_takes_nothing() -> None:
    assert cell_bytes(parse("func.func @f() {\n func.return\n}"), V6E)({}) == 0


def test_buffers_that_plans_tell_have_the_larger_room() -> None:
    """What is beyond that, or temporaries, are compared with the smaller one then."""
    usual, told = (cell_bytes(parse(ROWS), V6E, ["b0", "b1"], told=told) for told in (False, True))
    small, most = rooms(V6E)
    few, many, far = ({"b0": rows, "b1": 4096} for rows in (64, 320, 1024))
    assert told(few) <= usual(few) <= small
    assert told(many) <= small < usual(many) <= most
    assert told(far) > small and usual(far) > most
