"""Scopes of values and of tags: what is visible where, and what the refusal says."""

from __future__ import annotations

import pytest
from xdsl.ir import ErasedSSAValue

from kopt.analysis.scope import check_scope
from kopt.dialects.tile import ELEMENTWISE, GridOp, LoadOp, StoreOp
from kopt.errors import VerifyError
from kopt.parsing import parse_module
from test.named import only

KERNEL = """
func.func @f(%x: memref<8xf32>, %n: index) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    %e = tile.exp %v : !tile.tile<b0=8 x f32>
    tile.store %e, %x[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  func.return
}
"""


def refusal(text: str) -> VerifyError:
    with pytest.raises(VerifyError) as caught:
        check_scope(parse_module(text, "f.mlir"), text)
    return caught.value


def function(body: str) -> str:
    return f"func.func @f(%x: memref<8xf32>) {{\n{body}\n  func.return\n}}\n"


IN_SCOPE = {
    "nothing": function(""),
    "kernel": KERNEL,
    "a tag of its own in each function": KERNEL + KERNEL.replace("@f", "@g"),
    "a shift is the range that it shifts": function("""
  tile.grid (%i: b0=8) in (8) {
    %b = tile.begin %i : !tile.range<b0=8>
    %s = tile.shift %i by %b : !tile.range<b0=8>
    %z = tile.index %s : !tile.range<b0=8>
  }"""),
    "one lane stands for all": function("""
  tile.grid (%i: b0=8) in (8) {
    %z = tile.full 0.0 : !tile.tile<b0=1 x f32>
  }"""),
    "outer values and tags inside a loop": function("""
  tile.grid (%i: b0=8) in (8) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.for %k: b1=4 in (0, 8) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %s = tile.add %a, %z : !tile.tile<b0=8 x f32>
      tile.yield %s : !tile.tile<b0=8 x f32>
    }
    %t = tile.exp %r : !tile.tile<b0=8 x f32>
  }"""),
    "blocks of one region see each other": """
func.func @f() {
  "test.termop"() [^second] : () -> ()
^first:
  %y = arith.addi %n, %n : index
  func.return
^second:
  %n = arith.constant 1 : index
  "test.termop"() [^first] : () -> ()
}
""",
}


@pytest.mark.parametrize("text", IN_SCOPE.values(), ids=IN_SCOPE)
def test_what_is_in_scope_passes(text: str) -> None:
    check_scope(parse_module(text))


OUT_OF_SCOPE = {
    "unbound": (
        "  %v = tile.full 0.0 : !tile.tile<b0=8 x f32>",
        2,
        "the tag 'b0' of !tile.tile<b0=8 x f32> (%v) is bound by no range",
        None,
    ),
    "after its loop": (
        "  tile.grid (%i: b0=8) in (8) {\n  }\n  %v = tile.full 0.0 : !tile.tile<b0=8 x f32>",
        4,
        "the tag 'b0' of !tile.tile<b0=8 x f32> (%v) is used outside the loop that binds it",
        2,
    ),
    "bound twice": (
        "  tile.grid (%i: b0=8) in (8) {\n  }\n  tile.grid (%j: b0=8) in (8) {\n  }",
        4,
        "the tag 'b0' is bound twice: rename the range (%j) to a tag of its own",
        2,
    ),
    "twice in one grid": (
        "  tile.grid (%i: b0=8, %j: b0=8) in (8, 8) {\n  }",
        2,
        "the tag 'b0' is bound twice: rename the range (%j) to a tag of its own",
        2,
    ),
    "other lanes": (
        "  tile.grid (%i: b0=8) in (8) {\n    %v = tile.full 0.0 : !tile.tile<b0=4 x f32>\n  }",
        3,
        "!tile.tile<b0=4 x f32> (%v) has 4 lanes of 'b0', whose range has 8",
        2,
    ),
    "before its definition": (
        '  %w = "arith.addi"(%n, %n) : (index, index) -> index\n  %n = arith.constant 1 : index',
        2,
        "operand #0 of 'arith.addi' (%n) is used before its definition",
        3,
    ),
    "host in a kernel": (
        "  tile.grid (%i: b0=8) in (8) {\n    %a = host.alloc : memref<4xf32>\n  }",
        3,
        "'host.alloc' is for the host, and stands in the kernel of 'tile.grid'",
        None,
    ),
}


@pytest.mark.parametrize(("body", "line", "message", "note"), OUT_OF_SCOPE.values(), ids=OUT_OF_SCOPE)
def test_what_is_not_is_refused_where_it_is_used(body: str, line: int, message: str, note: int | None) -> None:
    """The place is the use's; a note has the definition's, where there is one."""
    error = refusal(function(body))
    assert (error.message, error.location and error.location.line) == (message, line)
    places = [said.split("f.mlir:")[1].split(":")[0] for said in error.notes]
    assert places == ([] if note is None else [str(note)])


def test_an_op_of_the_host_behind_a_kernel_is_no_part_of_it() -> None:
    check_scope(parse_module(function("  tile.grid (%i: b0=8) in (8) {\n  }\n  %a = host.alloc : memref<4xf32>")))


def test_a_use_that_escapes_its_region() -> None:
    module = parse_module(KERNEL)
    store, grid = only(module, StoreOp), only(module, GridOp)
    store.detach()
    assert grid.parent is not None
    grid.parent.insert_op_after(store, grid)
    with pytest.raises(VerifyError, match=r"operand #0 of 'tile.store' \(%e\) is used outside the region that defines"):
        check_scope(module)


def test_a_use_of_what_is_in_no_module() -> None:
    module = parse_module(KERNEL)
    only(module, LoadOp).detach()
    with pytest.raises(VerifyError, match=r"'tile.exp' \(%v\) is defined by an operation that is not in the module"):
        check_scope(module)


def test_a_use_of_what_was_erased() -> None:
    module = parse_module(KERNEL)
    exp = only(module, ELEMENTWISE["exp"])
    load = only(module, LoadOp)
    load.detach()
    load.erase(safe_erase=False)
    assert isinstance(exp.operands[0], ErasedSSAValue)
    with pytest.raises(VerifyError, match="operand #0 of 'tile.exp'.* was erased while still in use"):
        check_scope(module)
