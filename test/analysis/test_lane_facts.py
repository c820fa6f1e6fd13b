"""Facts about lanes: each value's are found once, after those it is made of, and stand right behind what they say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from kopt import parse
from kopt.analysis.lane_facts import LaneFact, LaneFacts, concerning, jagged_loop, tiles
from kopt.dialects import tile
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.jagged import ValidOp as JaggedValidOp
from kopt.dialects.tile import GridOp, TileType
from kopt.parsing import verify
from test.named import named, only

TEXT = """
func.func @f(%x: memref<100x64xf32>, %lens: memref<100xi32>) {
  tile.grid (%i: b0=8, %j: b1=16) in (100, 64) {
    %v = tile.load %x[%i, %j] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
    %e = tile.exp %v : !tile.tile<b0=8 x b1=16 x f32>
    %s = tile.add %e, %v : !tile.tile<b0=8 x b1=16 x f32>
    %n = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %t = tile.transpose %v [1, 0] : !tile.tile<b0=8 x b1=16 x f32>
    jagged.for %k: b2=4 in %n {
      %zero = tile.full 0.0 : !tile.tile<b0=8 x b2=4 x f32>
      %turned = tile.full 0.0 : !tile.tile<b2=4 x b0=8 x f32>
      %lone = tile.full 0.0 : !tile.tile<b2=4 x f32>
      %b = tile.begin %k : !tile.range<b2=4>
      %shifted = tile.shift %k by %b : !tile.range<b2=4>
    }
  }
  func.return
}
"""


class Parts:
    def __init__(self) -> None:
        self.module = parse(TEXT)
        self.values = named(self.module)
        self.asked: list[str | None] = []
        self.builder = LaneFacts(lambda value: None)

    def with_rules(self, known: Sequence[str]) -> LaneFacts:
        """Rules for some values, which note that they were asked: elementwise ops have what their operands have."""

        def rule(builder: LaneFacts, op, value: SSAValue):
            self.asked.append(value.name_hint)
            found = dict.fromkeys(fact for each in tiles(op.operands) for fact in builder.facts(each))
            return tuple(found) or builder.tagged(value, [0, 1])

        self.builder = LaneFacts(lambda value: rule if value.name_hint in known else None)
        return self.builder


def test_a_value_without_a_rule_has_no_facts() -> None:
    parts = Parts()
    builder, v = parts.builder, parts.values["v"]
    assert builder.facts(v) == () and builder.of(v) is builder.plain(v) is builder.along(v, [0]) is None


def test_each_values_facts_are_found_once_after_its_operands() -> None:
    parts = Parts()
    builder = parts.with_rules(["v", "e", "s"])
    found = builder.facts(parts.values["s"])
    assert parts.asked == ["v", "e", "s"]
    assert builder.facts(parts.values["s"]) is found and builder.facts(parts.values["v"]) == found
    assert parts.asked == ["v", "e", "s"]


def test_a_range_whose_blocks_are_all_full_says_nothing() -> None:
    """64 elements are 4 blocks of 16; 100 are 12 and a half of 8: the first lanes of the last are valid."""
    parts = Parts()
    (fact,) = parts.builder.tagged(parts.values["v"], [0, 1])
    assert (fact.dims, fact.items, fact.prefix) == ((0,), (), True)
    reshape = fact.mask.owner
    assert isinstance(reshape, tile.ReshapeOp) and reshape.result.type == TileType([8], i1)
    valid = reshape.input.owner
    assert isinstance(valid, tile.ValidOp) and valid.range is parts.values["i"]
    grid = only(parts.module, GridOp)
    assert list(grid.body.block.ops)[:2] == [valid, reshape]
    verify(parts.module)


@pytest.mark.parametrize(
    ("name", "dims", "wanted"), [("v", [1], []), ("t", [1], [(1,)]), ("t", [0], []), ("n", [], [])]
)
def test_tags_say_what_some_dimensions_are(name: str, dims: list[int], wanted: list[tuple[int, ...]]) -> None:
    parts = Parts()
    assert [fact.dims for fact in parts.builder.tagged(parts.values[name], dims)] == wanted


def test_the_validity_of_a_range_is_made_once() -> None:
    parts = Parts()
    (first,) = parts.builder.tagged(parts.values["v"], [0])
    (second,) = parts.builder.tagged(parts.values["t"], [1])
    assert first.mask is second.mask
    only(parts.module, tile.ValidOp)


def test_a_jagged_ranges_lanes_are_those_of_the_items() -> None:
    parts = Parts()
    (fact,) = parts.builder.tagged(parts.values["zero"], [1])
    assert (fact.dims, fact.items, fact.prefix) == ((0, 1), (0,), False)
    mask = fact.mask.owner
    assert isinstance(mask, tile.MaskOp) and isinstance(valid := mask.input.owner, JaggedValidOp)
    assert valid.range is parts.values["k"] and valid.lengths is parts.values["n"]
    assert fact.mask.type == TileType([8, 4], i1) and mask.fill_number == 0
    verify(parts.module)


def test_items_behind_their_lanes_are_turned_around() -> None:
    """The range is the first dimension, its owner the second: the mask of 8 by 4 is transposed."""
    parts = Parts()
    (fact,) = parts.builder.tagged(parts.values["turned"], [0])
    assert (fact.dims, fact.items) == ((0, 1), (1,)) and fact.mask.type == TileType([4, 8], i1)
    transpose = fact.mask.owner
    assert isinstance(transpose, tile.TransposeOp) and transpose.order == (1, 0)
    verify(parts.module)


def test_a_jagged_range_without_its_items_has_lanes_of_its_own() -> None:
    """Lanes below the longest item's: some item has them."""
    parts = Parts()
    (fact,) = parts.builder.tagged(parts.values["lone"], [0])
    assert (fact.dims, fact.items, fact.prefix) == ((0,), (), False)
    assert isinstance(fact.mask.owner, tile.ReshapeOp) and isinstance(fact.mask.owner.input.owner, tile.ValidOp)


def test_validity_over_all_dimensions_and_some() -> None:
    parts = Parts()
    builder = parts.with_rules(["v"])
    v = parts.values["v"]
    whole, plain = builder.of(v), builder.plain(v)
    assert whole is not None and whole.type == TileType(tile.tile_type(v).dims.data, i1)
    assert plain is not None and plain.type == TileType([8, 16], i1)
    for found in (whole, plain):
        assert isinstance(found.owner, tile.BroadcastOp) and tuple(found.owner.mapping) == (0,)
    assert builder.along(v, [1]) is None and builder.along(v, [0, 1]) is not None
    verify(parts.module)


def test_all_facts_hold_where_they_are_joined() -> None:
    parts = Parts()
    v = parts.values["v"]
    (rows,) = parts.builder.tagged(v, [0])
    columns = LaneFact(parts.builder.insert(tile.FullOp(1, TileType([16], i1)), v), (1,))
    assert parts.builder.joined((), [0, 1], [8, 16], v) is None
    both = parts.builder.joined((rows, columns), [0, 1], [8, 16], v)
    assert both is not None and isinstance(both.owner, tile.ELEMENTWISE["and"])
    sides = [value.owner for value in both.owner.operands]
    assert [(side.input, tuple(side.mapping)) for side in sides] == [(rows.mask, (0,)), (columns.mask, (1,))]
    verify(parts.module)


def test_a_mask_that_is_as_wide_is_not_spread() -> None:
    parts = Parts()
    v = parts.values["v"]
    (rows,) = parts.builder.tagged(v, [0])
    assert parts.builder.spread(rows, [0], [8], v) is rows.mask
    # Named by number among the dimensions that are asked for.
    wide = parts.builder.spread(LaneFact(rows.mask, (3,)), [1, 3], [2, 8], v).owner
    assert (
        isinstance(wide, tile.BroadcastOp) and tuple(wide.mapping) == (1,) and wide.result.type == TileType([2, 8], i1)
    )


def test_facts_that_increase_stay() -> None:
    parts = Parts()
    fact = LaneFact(parts.builder.insert(tile.FullOp(1, TileType([8, 16], i1)), parts.values["v"]), (0, 2), (0,), True)
    assert parts.builder.sorted(fact, parts.values["v"]) is fact
    turned = parts.builder.sorted(LaneFact(fact.mask, (2, 0), (0,), True), parts.values["v"])
    assert (turned.dims, turned.items, turned.prefix) == ((0, 2), (0,), True)
    assert turned.mask.type == TileType([16, 8], i1)


def test_what_others_say_of_a_value() -> None:
    parts = Parts()
    builder = parts.with_rules(["v"])
    builder.settle(parts.values["t"], parts.values["v"])
    assert builder.facts(parts.values["t"]) is builder.facts(parts.values["v"]) and builder.facts(parts.values["t"])
    mask = builder.insert(tile.FullOp(1, TileType([8, 16], i1)), parts.values["e"])
    builder.carry(parts.values["e"], mask)
    (fact,) = builder.facts(parts.values["e"])
    assert (fact.mask, fact.dims) == (mask, (0, 1))
    assert builder.plain(parts.values["e"]) is mask


def test_ops_are_put_behind_what_they_speak_of_in_their_order() -> None:
    parts = Parts()
    new = [tile.FullOp(1, TileType([], i1)) for _ in range(4)]
    v, k = parts.values["v"], parts.values["k"]
    assert parts.builder.insert(new[0], v) is new[0].result
    parts.builder.insert(new[1], v)
    parts.builder.insert(new[2], k)
    parts.builder.insert(new[3], k)
    load = v.owner
    assert load.next_op is new[0] and new[0].next_op is new[1] and new[1].next_op is parts.values["e"].owner
    loop = only(parts.module, JaggedForOp)
    assert list(loop.body.block.ops)[:2] == new[2:]
    assert new[0].location == load.location and new[2].location == loop.location


def test_the_range_that_a_tag_names() -> None:
    parts = Parts()
    v, zero = parts.values["v"], parts.values["zero"]
    assert parts.builder.range_of(v, "b1") is parts.values["j"]
    assert parts.builder.range_of(zero, "b2") is parts.values["k"]  # not what is shifted
    assert parts.builder.range_of(v, "b7") is None


def test_a_tag_names_a_range_of_the_values_own_grid() -> None:
    """Other functions of a module have the same tags."""
    module = parse(TEXT + TEXT.replace("@f(", "@g("))
    grids = [op for op in module.walk() if isinstance(op, GridOp)]
    builder = LaneFacts(lambda value: None)
    for grid in grids:
        first = grid.body.block.first_op
        assert first is not None and len(grids) == 2
        assert builder.range_of(first.results[0], "b0") is grid.ranges[0]


def test_jagged_loops_bind_their_range_through_shifts() -> None:
    parts = Parts()
    loop = only(parts.module, JaggedForOp)
    assert jagged_loop(parts.values["k"]) is jagged_loop(parts.values["shifted"]) is loop
    assert jagged_loop(parts.values["i"]) is None


def test_facts_that_concern_some_dimensions() -> None:
    mask = Parts().values["v"]
    facts = (LaneFact(mask, (0, 1)), LaneFact(mask, (2,)))
    assert concerning(facts, [1]) == facts[:1] and concerning(facts, [2, 0]) == facts
    assert concerning(facts, [3]) == concerning(facts, []) == concerning((), [0]) == ()


def test_tiles_are_told_from_other_values() -> None:
    values = Parts().values
    assert tiles([values["x"], values["v"], values["i"], values["n"]]) == [values["v"], values["n"]]
    assert tile.tile_type(values["v"]).shape == (8, 16)
