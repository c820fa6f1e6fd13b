"""What `kopt.analysis.access_summary` says of launches, and of arrays over a function, in both forms of the IR."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

import kopt
from kopt.analysis.access_summary import AccessSummary, accesses, may_alias, seen_by
from kopt.dialects.host import AllocOp, LaunchOp
from kopt.dialects.tile import GridOp

A = "memref<100xf32>"
T = "!tile.tile<b0=8 x f32>"


def function(text: str) -> FuncOp:
    module = kopt.parse(text, "kernel.py")
    return next(op for op in module.ops if isinstance(op, FuncOp))


def grid(body: str, extent: int = 100, tag: str = "b0") -> str:
    return f"tile.grid (%i: {tag}=8) in ({extent}) {{\n{body}\n}}".replace("b0=8 x", f"{tag}=8 x")


def load(name: str, memory: str, entry: str = "%i") -> str:
    return f"%{name} = tile.load {memory}[{entry}] : {A} -> {T}"


def store(value: str, memory: str, entry: str = "%i", rest: str = "") -> str:
    return f"tile.store {value}, {memory}[{entry}]{rest} : {T}, {A}"


SHIFT = "%n = arith.constant 1 : index\n%s = tile.shift %i by %n : !tile.range<b0=8>"
MASK = "%m = tile.full true : !tile.tile<b0=8 x i1>"

#: (name, body, what happens to %out: read, early, written, covered)
BODIES = [
    ("written", [load("v", "%x"), store("%v", "%out")], "w c"),
    ("updated", [load("v", "%out"), store("%v", "%out")], "r e w c"),
    ("read after its own store", [load("v", "%x"), store("%v", "%out"), load("w", "%out")], "r w c"),
    ("read after a masked store", [MASK, load("v", "%x"), store("%v", "%out", rest=" mask %m"), load("w", "%out")],
     "r e w"),
    ("read at another place", [SHIFT, load("v", "%x"), store("%v", "%out"), load("w", "%out", "%s")], "r e w c"),
    ("only read", [load("v", "%out")], "r e"),
    ("read after a store in a condition",
     ["%id = tile.id %i : !tile.range<b0=8>\n%n = arith.constant 1 : index\n%b = arith.cmpi slt, %id, %n : index",
      load("v", "%x"), "scf.if %b {", store("%v", "%out"), "}", load("w", "%out")], "r e w"),
    ("read in a loop after a store before it",
     [load("v", "%x"), store("%v", "%out"), "tile.for %k: b9=4 in (0, 8) {", load("w", "%out"), "}"], "r w c"),
    ("atomic", ["%v = tile.full 1.0 : !tile.tile<b0=8 x f32>",
                f"atomic.rmw add %v, %out[%i] : {T}, {A}"], "r e w"),
]  # fmt: skip


def letters(found: AccessSummary) -> str:
    facts = {"r": found.read, "e": found.early, "w": found.written, "c": found.covered}
    return " ".join(letter for letter, fact in facts.items() if fact)


@pytest.mark.parametrize(("name", "body", "expected"), BODIES, ids=[case[0] for case in BODIES])
def test_one_launch(name: str, body: list[str], expected: str) -> None:
    text = f"func.func @f(%x: {A}, %out: {A}) {{\n{grid(chr(10).join(body))}\nfunc.return\n}}"
    func = function(text)
    body_op = next(op for op in func.walk() if isinstance(op, GridOp))
    found = accesses(body_op)[func.body.block.args[1]]
    assert letters(found) == expected
    assert found.output_only == (expected in ("w c", "r w c"))
    launched = kopt.run_pipeline(kopt.parse(text), "functionalise-host")
    launch = next(op for op in launched.walk() if isinstance(op, LaunchOp))
    by_name = {arg.name_hint: access for arg, access in accesses(launch).items()}
    assert letters(by_name["out"]) == expected


#: (name, ops, whether the first elements of %t are needed, words of the reason)
HOST = [
    ("covered, then returned", [grid(store("%v", "%t"))], None),
    ("partly written, then returned", [grid(store("%v", "%t"), 99)], "it is returned"),
    ("never touched", [], "it is returned"),
    ("covered by two halves",
     ["%l = host.slice %t [0] [48] [1] : memref<100xf32> to memref<48xf32, strided<[1]>>",
      "%h = host.slice %t [48] [52] [1] : memref<100xf32> to memref<52xf32, strided<[1], offset: 48>>",
      grid(store("%v", "%l").replace(A, "memref<48xf32, strided<[1]>>"), 48),
      grid(store("%v", "%h").replace(A, "memref<52xf32, strided<[1], offset: 48>>"), 52, "b1")
      .replace("%v", "%u").replace("b0", "b1")], None),
    ("covered by one half",
     ["%l = host.slice %t [0] [48] [1] : memref<100xf32> to memref<48xf32, strided<[1]>>",
      grid(store("%v", "%l").replace(A, "memref<48xf32, strided<[1]>>"), 48)], "it is returned"),
    ("covered by even and odd elements",
     ["%l = host.slice %t [0] [50] [2] : memref<100xf32> to memref<50xf32, strided<[2]>>",
      "%h = host.slice %t [1] [50] [2] : memref<100xf32> to memref<50xf32, strided<[2], offset: 1>>",
      grid(store("%v", "%l").replace(A, "memref<50xf32, strided<[2]>>"), 50),
      grid(store("%u", "%h").replace(A, "memref<50xf32, strided<[2], offset: 1>>"), 50, "b1").replace("b0", "b1")],
     None),
    ("covered through a reshape",
     ["%r = host.reshape %t : memref<100xf32> to memref<10x10xf32>",
      "%p = host.permute %r [1, 0] : memref<10x10xf32> to memref<10x10xf32, strided<[1, 10]>>",
      grid("%w = tile.full 1.0 : !tile.tile<b0=8 x 10 x f32>\n"
           "tile.store %w, %p[%i, :] : !tile.tile<b0=8 x 10 x f32>, memref<10x10xf32, strided<[1, 10]>>", 10)], None),
    ("covered through rows of a reshape",
     ["%r = host.reshape %t : memref<100xf32> to memref<10x10xf32>",
      "%a = host.slice %r [0, 0] [4, 10] [1, 1] : memref<10x10xf32> to memref<4x10xf32, strided<[10, 1]>>",
      "%b = host.slice %t [40] [60] [1] : memref<100xf32> to memref<60xf32, strided<[1], offset: 40>>",
      "host.copy %q to %a : memref<4x10xf32>, memref<4x10xf32, strided<[10, 1]>>",
      "host.copy %y to %b : memref<60xf32>, memref<60xf32, strided<[1], offset: 40>>"], None),
    ("copied over", [f"host.copy %x to %t : {A}, {A}"], None),
    ("read before it is covered",
     [f'%c = host.call "aten.clone.default"(%t) args [unit] : ({A}) -> ({A})', f"host.copy %x to %t : {A}, {A}"],
     "the call at line"),
    ("read by a loop before it is covered", [grid(load("w", "%t")), f"host.copy %x to %t : {A}, {A}"],
     "the load at line"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "ops", "reason"), HOST, ids=[case[0] for case in HOST])
def test_over_a_function(name: str, ops: list[str], reason: str | None) -> None:
    values = "%v = tile.full 1.0 : !tile.tile<b0=8 x f32>\n"
    body = "\n".join(ops).replace("{\n", "{\n" + values, 1)
    if "%u" in body:
        at = body.index("tile.store %u")
        body = body[:at] + "%u = tile.full 1.0 : !tile.tile<b1=8 x f32>\n" + body[at:]
    func = function(f"""
func.func @f(%x: {A}, %q: memref<4x10xf32>, %y: memref<60xf32>) -> {A} {{
  %t = host.alloc fill 0.0 : {A}
  {body}
  func.return %t : {A}
}}""")
    found = seen_by(next(op.result for op in func.walk() if isinstance(op, AllocOp)), func.body.block.ops)
    assert found.needed == (reason is not None), found.reason
    assert (reason or "") in found.reason


ONES = "%v = tile.full 1.0 : !tile.tile<b0=8 x f32>"

#: (body of one loop, its extent, why the first elements of %t are needed)
FUNCTIONAL = [
    ([load("w", "%t"), store("%w", "%x")], 100, "the load at line 5 reads it"),
    ([ONES, load("w", "%t"), store("%v", "%t")], 100, "the load at line 6 reads it"),
    ([ONES, store("%v", "%t"), load("w", "%t")], 100, None),
    ([ONES, store("%v", "%t")], 100, None),
    ([ONES, store("%v", "%t")], 99, "the store at line 6 leaves out element [99]"),
    ([ONES, store("%v", "%x")], 100, "it is returned"),
]


@pytest.mark.parametrize(("body", "extent", "reason"), FUNCTIONAL)
def test_over_functional_launches(body: list[str], extent: int, reason: str | None) -> None:
    """A launch that gives a new version of an array keeps what it does not write of the one before."""
    text = f"""
func.func @f(%x: {A}) -> {A} {{
  %t = host.alloc fill 0.0 : {A}
  {grid(chr(10).join(body), extent)}
  func.return %t : {A}
}}"""
    module = kopt.run_pipeline(kopt.parse(text), "functionalise-host")
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    found = seen_by(next(op.result for op in func.walk() if isinstance(op, AllocOp)), func.body.block.ops)
    assert (found.needed, found.reason) == (reason is not None, reason or "")


@pytest.mark.parametrize(("extent", "reason"), [(99, "the caller keeps what is not written"), (100, "")])
def test_a_caller_keeps_what_is_not_written_of_an_argument(extent: int, reason: str) -> None:
    func = function(
        f"func.func @f(%out: {A}) {{\n{grid(ONES + chr(10) + store('%v', '%out'), extent)}\nfunc.return\n}}"
    )
    found = seen_by(func.body.block.args[0], func.body.block.ops)
    assert (found.needed, found.reason) == (bool(reason), reason)


def test_an_array_without_elements_is_written_before_it_is_read() -> None:
    """None of its elements is read first, or returned as it was made."""
    func = function(f"""
func.func @f(%x: {A}) -> memref<0x8xf32> {{
  %t = host.alloc : memref<0x8xf32>
  %c = host.call "aten.clone.default"(%t) args [unit] : (memref<0x8xf32>) -> (memref<0x8xf32>)
  func.return %t : memref<0x8xf32>
}}""")
    found = seen_by(next(op.result for op in func.walk() if isinstance(op, AllocOp)), func.body.block.ops)
    assert not found.needed, found.reason


def test_arguments_may_be_one_array() -> None:
    """An argument that another one may be is read by the other's loads."""
    func = function(f"""
func.func @f(%x: {A}, %out: {A}, %n: memref<100xi32>) {{
  %t = host.alloc : {A}
  {grid(load("v", "%x") + chr(10) + store("%v", "%out"))}
  func.return
}}""")
    x, out, n = func.body.block.args
    alloc = next(op.result for op in func.walk() if isinstance(op, AllocOp))
    assert may_alias(x, out) and not may_alias(x, n) and not may_alias(out, alloc)
    found = seen_by(out, func.body.block.ops)
    assert found.needed and "load" in found.reason
    assert not seen_by(alloc, func.body.block.ops).needed
