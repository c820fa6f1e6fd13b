"""Copies of modules are as xDSL's own: text, names and places, and nothing shared."""

from __future__ import annotations

import pytest
import torch
from xdsl.dialects.cf import BranchOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from examples.registry import EXAMPLES, Example
from kopt import parse
from kopt.clone import cloned
from kopt.dialects.tile import StoreOp
from test.named import only

COPY = """
func.func @copy(%x: memref<64xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=32) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=32 x f32>
    tile.store %v, %out[%i] : !tile.tile<b0=32 x f32>, memref<64xf32>
  }
  func.return
}
"""


@pytest.mark.parametrize("example", EXAMPLES[::6], ids=lambda example: example.name)
def test_copies_of_examples(example: Example) -> None:
    module = example.kernel.lower(*example.make_args("tiny", torch.float32), target="triton:sm90").module
    copy = cloned(module)
    assert str(copy) == str(module) == str(module.clone())
    pairs = [*zip(module.walk(), copy.walk(), strict=True)]
    assert all(old is not new and old.location == new.location for old, new in pairs)
    assert not {id(value) for op, _ in pairs for value in op.results} & {id(v) for _, op in pairs for v in op.operands}


def test_a_copy_is_changed_alone() -> None:
    module = parse(COPY)
    text, copy = str(module), cloned(module)
    store = only(copy, StoreOp)
    store.detach()
    store.erase()
    assert str(module) == text != str(copy)


def test_values_from_around_stay() -> None:
    store = only(parse(COPY), StoreOp)
    copy = cloned(store)
    assert copy.parent is None and copy.operands == store.operands


def test_a_function_without_a_body() -> None:
    func = only(parse("func.func private @f(memref<4xf32>)"), FuncOp)
    assert str(cloned(func)) == str(func)


def test_blocks_that_name_each_other() -> None:
    last = Block([ReturnOp()])
    func = FuncOp("f", ((), ()), Region([Block([BranchOp(last)]), last]))
    copy = cloned(func)
    assert str(copy) == str(func)
    assert only(copy, BranchOp).successor is copy.body.blocks[1]
