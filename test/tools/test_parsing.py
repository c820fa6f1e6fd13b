"""Parsing sets locations and fails with one kind of error; verification sees scopes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.test import TestOp, TestTermOp
from xdsl.ir import Block, Region

from kopt.diagnostics import collect, location_of, remark
from kopt.errors import Location, ParseError, VerifyError
from kopt.parsing import parse_module, verify

TEXT = """\
func.func @f(%a: i32) -> i32 {
  %0, %1 = "test.op"() ({
      %2 = arith.addi %a, %a : i32
      "test.termop"() : () -> ()
  }) : () -> (i32, i32)
  return %a : i32 loc("k.py":3:4)
}
"""


def test_every_operation_knows_its_place() -> None:
    """The place of the operation's name, counted from one; an explicit ``loc`` wins."""
    module = parse_module(TEXT, "f.mlir")
    places = {op.name: str(location_of(op)) for op in module.walk()}
    assert places == {
        "builtin.module": "f.mlir:1:1",
        "func.func": "f.mlir:1:1",
        "test.op": "f.mlir:2:12",
        "arith.addi": "f.mlir:3:12",
        "test.termop": "f.mlir:4:7",
        "func.return": "k.py:3:4",
    }


def test_an_operation_without_a_location_is_where_its_parent_is() -> None:
    """What a pass creates points at what encloses it."""
    module = parse_module(TEXT, "f.mlir")
    op = TestOp()
    module.body.block.add_op(op)
    assert location_of(op) == Location("f.mlir", 1, 1)


def test_remarks_go_to_the_innermost_collector() -> None:
    """Without a collector a remark is nothing."""
    op = TestOp()
    remark(op, "unheard")
    with collect() as outer:
        with collect() as inner:
            remark(op, "inner")
        remark(op, "outer")
    assert [d.message for d in inner] == ["inner"]
    assert [str(d) for d in outer] == ["remark: outer"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"test.op"(%a) : (i32) -> ()\n%a = "test.op"() : () -> i32', "is used before its definition"),
        ('%r = "test.op"() ({\n"test.termop"() : () -> ()\n}) : () -> i32\n"test.op"(%r) : (i32) -> ()', None),
        ('"test.op"() ({\n^bb0(%a: i32):\n"test.termop"(%a) : (i32) -> ()\n}) : () -> ()', None),
    ],
)
def test_scopes(text: str, message: str | None) -> None:
    """A use has to follow its definition in an enclosing block."""
    module = parse_module(text)
    if message is None:
        verify(module)
        return
    with pytest.raises(VerifyError, match=message) as caught:
        verify(module, text)
    assert str(caught.value).startswith("<string>:1:1: error:")


def test_uses_that_escape_their_region_are_found() -> None:
    """Text cannot say it, passes can build it."""
    inner = TestOp(result_types=[i32])
    outer = TestOp(regions=[Region(Block([inner, TestTermOp()]))])
    module = ModuleOp([outer, TestOp(operands=[inner.res[0]])])
    with pytest.raises(VerifyError, match="outside the region that defines it"):
        verify(module)


def test_values_of_detached_operations_are_found() -> None:
    """A pass may erase an operation and leave its value in use."""
    module = ModuleOp([TestOp(operands=[TestOp(result_types=[i32]).res[0]])])
    with pytest.raises(VerifyError, match="not in the module"):
        verify(module)


@pytest.mark.parametrize("rest", ["\n", "\\", ""])
def test_a_string_that_is_never_closed_is_found_at_once(rest: str) -> None:
    """However long it is."""
    with pytest.raises(ParseError, match="not closed on its line") as caught:
        parse_module('"test.op"() {a = "' + "long " * 100 + rest)
    assert caught.value.location is not None and caught.value.location.col == 18


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_broken_text_is_a_parse_or_verify_error(data: st.DataObject) -> None:
    """Whatever is cut out, doubled or put in: an error with a place, never another exception."""
    start = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(start, min(len(TEXT), start + 8)))
    junk = data.draw(
        st.sampled_from(["", "%", "(", "}", '"', "-1", "!t", "#a", "^b", "loc(", "0x", "\x00", "i32", " : "])
    )
    try:
        verify(parse_module(TEXT[:start] + junk + TEXT[end:], "f.mlir"))
    except (ParseError, VerifyError) as error:
        assert error.location is not None
