"""The quick answer to whether an op is as its class says: it is given for ops that are, and never for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import StringAttr, TupleType
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op
from kopt.dialects.definition.verifying import verifier
from kopt.errors import VerifyError
from kopt.parsing import parse_module, verify
from kopt.walk import walk

FOLDER = Path(__file__).parents[1] / "lit" / "dialects"
FILES = [path for path in sorted(FOLDER.glob("*.mlir")) if "error" not in path.name]


class Asked(Exception):
    """xDSL was asked."""


class Definition:
    """A class's definition, which says when it is asked to verify an op."""

    def __init__(self, definition: Any):
        self.definition = definition

    def __getattr__(self, name: str) -> Any:
        return getattr(self.definition, name)

    def verify(self, op: Operation) -> None:
        raise Asked


def changes(op: Operation) -> Iterator[Callable[[Operation], None]]:
    """What an op may be lacking, have too much, or have of another kind."""
    strange = TestOp(result_types=[TupleType([])]).results[0]
    for number in range(len(op.operands)):
        yield lambda op, n=number: op.operands.__setitem__(n, strange)
        yield lambda op, n=number: setattr(op, "operands", [v for m, v in enumerate(op.operands) if m != n])
    yield lambda op: setattr(op, "operands", [*op.operands, strange])
    for name in op.properties:
        yield lambda op, name=name: op.properties.pop(name)
        yield lambda op, name=name: op.properties.__setitem__(name, TupleType([]))
    yield lambda op: op.properties.__setitem__("nobody", StringAttr("x"))
    yield lambda op: op.add_region(Region(Block()))
    if op.regions:
        yield lambda op: op.regions[-1].add_block(Block())
        yield lambda op: op.detach_region(op.regions[-1]) and None


def is_wrong(op: Operation) -> bool:
    """By xDSL."""
    try:
        op.get_irdl_definition().verify(op)  # pyright: ignore
    except (VerifyException, IndexError):
        return True
    except TypeError:  # a property that nothing can be made of
        return False
    return False


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_quick_answer(path: Path) -> None:
    seen: set[type] = set()
    module = parse_module("".join(line for line in path.read_text().splitlines(True) if not line.startswith("//")))
    for op in walk(module):
        if not isinstance(op, Op) or type(op) in seen:
            continue
        seen.add(type(op))
        asks = verifier(Definition(type(op).get_irdl_definition()), lambda op: None)  # pyright: ignore
        for change in changes(op):
            other = op.clone()
            change(other)
            if is_wrong(other):
                with pytest.raises((Asked, VerifyException)):
                    asks(other)


def test_ops_that_are_right_are_seldom_asked_of_xdsl() -> None:
    """Of those whose parts are each of a class, and whose regions have one block."""
    asked, seen = set(), set()
    for path in FILES:
        for op in walk(parse_module("".join(line for line in path.read_text().splitlines(True) if line[:2] != "//"))):
            if isinstance(op, Op) and type(op) not in seen:
                seen.add(type(op))
                try:
                    verifier(Definition(type(op).get_irdl_definition()), lambda op: None)(op)  # pyright: ignore
                except Asked:
                    asked.add(op.name)
    assert len(seen) > 100 and len(asked) < len(seen) / 10, asked


@pytest.mark.parametrize(
    "text",
    [
        '%d = "tile.dot"(%v) : (!tile.tile<8 x f32>) -> !tile.tile<8 x f32>',
        '%d = "tile.dot"() : () -> !tile.tile<8 x f32>',
        '%d = "tile.get"() : () -> !tile.tile<8 x f32>',
        '"tile.put"(%v) : (!tile.tile<8 x f32>) -> ()',
        '%d = "tile.mask"() <{fill = 0.0 : f32}> : () -> !tile.tile<8 x f32>',
    ],
)
def test_operands_that_are_missing_are_refused_with_the_place(text: str) -> None:
    """Where an op has others that may be left out, too."""
    whole = f"""func.func @f() {{
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  {text}
  func.return
}}"""
    with pytest.raises(VerifyError, match=":3:"):
        verify(parse_module(whole))
