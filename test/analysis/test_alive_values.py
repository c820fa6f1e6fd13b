"""What is alive at once in a block, from definitions to last uses."""

from __future__ import annotations

from kopt.analysis.alive_values import alive_values
from kopt.dialects import tile
from test.analysis.one_launch import one_launch

ROW = "!tile.tile<128 x f32>"


def test_a_value_lives_until_its_last_use() -> None:
    body = f"""%a = tile.load %x[0, :] : memref<64x128xf32> -> {ROW}
    %b = tile.exp %a : {ROW}
    %c = tile.load %x[1, :] : memref<64x128xf32> -> {ROW}
    %d = tile.add %a, %c : {ROW}
    %e = tile.mul %b, %d : {ROW}
    tile.store %e, %y[0, :] : {ROW}, memref<64x128xf32>"""
    block = one_launch(body, writes="y", x="64x128xf32", y="64x128xf32").grid.body.block
    found = alive_values(
        block,
        lambda value: value.name_hint if isinstance(value.type, tile.TileType) else None,
        lambda op: ["inside"] if op.name == "tile.exp" else [],
    )
    assert [set(names) for names in found] == [{"a", "b", "inside"}, {"a", "b", "c", "d"}, {"b", "d", "e"}]
