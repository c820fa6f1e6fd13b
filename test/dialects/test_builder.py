"""The builder of rewrites: where its operations are, what they are called, and what it leaves out."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint

from kopt.dialects.builder import Builder, named
from kopt.dialects.tile import BroadcastOp, DimAttr, FullOp, ReshapeOp, TileType, tile_type


def block() -> tuple[Block, TestOp]:
    last = TestOp()
    return Block([last]), last


def names(of: Block) -> list[str]:
    return [op.name for op in of.ops]


def test_ops_stand_in_front_and_have_the_location_of_their_source():
    body, last = block()
    source = TestOp()
    value = Builder(last, source).add(FullOp(1, TileType([8], i32)), "ones")
    assert names(body) == ["tile.full", "test.op"]
    assert value.name_hint == "ones" and value.owner.location is source.location


def test_a_hint_is_for_what_has_no_name():
    _, last = block()
    op = FullOp(1, TileType([8], i32))
    named(op.result, "mine")
    assert Builder(last).add(op, "other").name_hint == "mine"


def test_at_the_end_of_a_block():
    body = Block()
    build = Builder(InsertPoint.at_end(body), TestOp())
    build.index(3)
    body.add_op(TestOp())
    build.into(body).index(4)
    assert names(body) == ["arith.constant", "arith.constant", "test.op"]


def test_what_changes_nothing_is_left_out():
    body, last = block()
    build = Builder(last)
    value = build.add(FullOp(1, TileType([8, 4], i32)))
    assert build.cast(value, i32) is value
    assert build.transpose(value, [0, 1]) is value
    assert build.cut(value, 0, 4) is value
    assert build.reshape(value, [8, 4]) is value
    assert build.both(None, value) is value and build.both(value, None) is value and build.both(None, None) is None
    assert build.index(value) is value
    assert names(body) == ["tile.full", "test.op"]


def test_a_tag_that_a_value_does_not_have_is_of_a_broadcast():
    _, last = block()
    build = Builder(last)
    value = build.add(FullOp(1, TileType([32], i32)))
    plain, tagged = build.reshape(value, [8, 4]), build.reshape(value, [DimAttr(8, "b0"), 4])
    assert isinstance(plain.owner, ReshapeOp) and isinstance(tagged.owner, BroadcastOp)
    assert tile_type(plain).tags == ("", "") and tile_type(tagged).tags == ("b0", "")


def test_replacing_keeps_type_and_name():
    body, last = block()
    first = Builder(last).add(FullOp(1, TileType([8], i32)), "x")
    user = TestOp([first])
    body.add_op(user)
    build = Builder(first.owner)
    build.replace(build.add(FullOp(2, TileType([8], IntegerType(16)))))
    assert names(body) == ["tile.full", "tile.cast", "test.op", "test.op"]
    assert user.operands[0].type == TileType([8], i32) and user.operands[0].name_hint == "x"
