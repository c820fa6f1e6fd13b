"""Narrow elements where Mosaic has 32 bits only: the same lanes, and nothing is done in narrow types that it lacks."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.pattern_rewriter import PatternRewriteWalker

import kopt
from kopt.dialects.tile import CastOp, element_of
from kopt.interpreter import HANDLERS
from kopt.interpreter.machine import Machine
from kopt.passes.mosaic.widening import WidenCombination, WidenElementwise, WidenRearrangement, WidenSelection
from kopt.walk import walk
from test.named import named


def tile(dims: str, element: str) -> str:
    return f"!tile.tile<{dims} x {element}>" if dims else f"!tile.tile<{element}>"


def module_of(lines: str, element: str):
    """Lines from ``%v`` on, 8 rows of 16 narrow lanes, and ``%p``, which of them are at least 3."""
    given = "i32" if element[0] == "i" else "f32"
    number = "3" if element[0] == "i" else "3.0"
    return kopt.parse(f"""
func.func @f(%x: memref<8x16x{given}>) {{
  tile.grid (%i: b0=1) in (1) {{
    %given = tile.load %x[:, :] : memref<8x16x{given}> -> {tile("8 x 16", given)}
    %v = tile.cast %given : {tile("8 x 16", given)} to {tile("8 x 16", element)}
    %three = tile.full {number} : {tile("8 x 16", given)}
    %p = tile.ge %given, %three : {tile("8 x 16", given)}
    {lines}
  }}
  func.return
}}""")


def rewritten(lines: str, element: str, pattern) -> tuple[list, bool]:
    """The ops that make something of narrow lanes after a pattern, and whether it has changed anything."""
    type = named(module_of(lines, element))["out"].type
    lines += f"\n%end = tile.cast %out : {type} to {tile(' x '.join(map(str, type.shape)), 'f32')}"
    before, after = module_of(lines, element), module_of(lines, element)
    changed = PatternRewriteWalker(pattern).rewrite_module(after)
    after.verify()
    found = []
    for module in (before, after):
        machine = Machine(module, HANDLERS)
        x = np.arange(128).reshape(8, 16) % 11 - 4
        machine.call(machine.functions["f"], [x.astype(np.int32 if element[0] == "i" else np.float32)])
        found.append(machine[named(module)["end"]].data)
    np.testing.assert_array_equal(*found)
    tiles = [op for op in walk(after) if op.operands and op.name.startswith("tile.") and not isinstance(op, CastOp)]
    return [op for op in tiles if _is_narrow(op.operands[-1])], changed


def _is_narrow(value) -> bool:
    element = str(element_of(value)) if "tile" in str(value.type) else ""
    return element in ("i8", "i16", "bf16", "f16", "i1")


@pytest.mark.parametrize("element", ["i8", "i16", "bf16"])
@pytest.mark.parametrize("op", ["add", "mul", "minimum", "lt", "eq"])
def test_arithmetic(op: str, element: str) -> None:
    narrow, changed = rewritten(f"%out = tile.{op} %v, %v : {tile('8 x 16', element)}", element, WidenElementwise())
    assert changed and not narrow


@pytest.mark.parametrize(("op", "element"), [("add %v, %v", "i32"), ("add %v, %v", "f32"), ("and %p, %p", "i1")])
def test_arithmetic_that_stays(op: str, element: str) -> None:
    """Of 32 bits, and of predicates."""
    given = "i32" if element == "i1" else element
    assert not rewritten(f"%out = tile.{op} : {tile('8 x 16', element)}", given, WidenElementwise())[1]


@pytest.mark.parametrize("element", ["i8", "i16", "bf16"])
@pytest.mark.parametrize(
    "op",
    [
        "reduce add %v [1]",
        "reduce max %v [0, 1]",
        "scan add %v dim 1",
        "scan add %v dim 0 reverse",
        "argreduce max %v dim 1",
    ],
)
def test_combinations(op: str, element: str) -> None:
    lines = f"%out = tile.{op} : {tile('8 x 16', element)}"
    narrow, changed = rewritten(lines, element, WidenCombination())
    assert changed and not narrow


@pytest.mark.parametrize(
    ("op", "changes"),
    [
        ("reduce or %p [1]", False),
        ("reduce and %p [0]", False),
        ("reduce max %p [1]", False),
        ("reduce xor %p [1]", True),
        ("reduce or %p [0, 1]", True),
        ("reduce and %p [0, 1]", True),
        ("reduce add %p [0, 1]", True),
        ("reduce mul %p [0, 1]", True),
        ("reduce xor %p [0, 1]", True),
        ("scan or %p dim 1", True),
        ("scan and %p dim 1", True),
    ],
)
def test_any_and_all(op: str, changes: bool) -> None:
    """Of the rows or columns of a matrix they stay."""
    narrow, changed = rewritten(f"%out = tile.{op} : {tile('8 x 16', 'i1')}", "i32", WidenCombination())
    assert changed == changes == (not narrow)


V, P = tile("8 x 16", "bf16"), tile("8 x 16", "i1")
ROW = f"%r = tile.reduce max %v [1] : {V}\n"
MOVED = {
    "repeated along the last dimension": (
        f"{ROW}%out = tile.broadcast %r dims [0] : {tile('8', 'bf16')} to {V}", True
    ),
    "repeated rows": (
        f"%r = tile.reduce max %v [0] : {V}\n%out = tile.broadcast %r dims [1] : {tile('16', 'bf16')} to {V}", False
    ),
    "one number": (
        f"%r = tile.reduce max %v [0, 1] : {V}\n%out = tile.broadcast %r dims [] : {tile('', 'bf16')} to {V}", False
    ),
    "other lanes": (f"%out = tile.reshape %v : {V} to {tile('4 x 32', 'bf16')}", True),
    "the same lanes": (f"%out = tile.reshape %v : {V} to {tile('8 x 1 x 16', 'bf16')}", False),
    "predicates": (f"%out = tile.reshape %p : {P} to {tile('8 x 1 x 16', 'i1')}", True),
    "a slice": (f"%out = tile.slice %v [0, 4] [8, 8] [1, 1] : {V} to {tile('8 x 8', 'bf16')}", False),
    "a slice with a step": (f"%out = tile.slice %v [0, 4] [8, 4] [1, 2] : {V} to {tile('8 x 4', 'bf16')}", True),
    "a slice of one with a step": (
        f"%out = tile.slice %v [0, 4] [8, 1] [1, 2] : {V} to {tile('8 x 1', 'bf16')}", False
    ),
    "rows with a step": (f"%out = tile.slice %v [1, 0] [3, 16] [2, 1] : {V} to {tile('3 x 16', 'bf16')}", True),
    "a transpose": (f"%out = tile.transpose %v [1, 0] : {V}", False),
    "a transpose of predicates": (f"%out = tile.transpose %p [1, 0] : {P}", True),
    "lanes side by side": (f"%out = tile.concat %v, %v dim 1 : {V}, {V} to {tile('8 x 32', 'bf16')}", False),
    "predicates side by side": (f"%out = tile.concat %p, %p dim 1 : {P}, {P} to {tile('8 x 32', 'i1')}", True),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_lanes_that_move(name: str) -> None:
    lines, changes = MOVED[name]
    assert rewritten(lines, "bf16", WidenRearrangement())[1] == changes


ONE_ROW = f"%s = tile.slice %v [2, 0] [1, 16] [1, 1] : {V} to {tile('1 x 16', 'bf16')}\n"
SELECTED = {
    "as they are": (f"%w = tile.transpose %v [1, 0] : {V}\n%u = tile.transpose %w [1, 0] : {tile('16 x 8', 'bf16')}\n"
                    f"%out = tile.select %p, %u, %u : {V}", False),
    "one row that is repeated": (
        f"{ONE_ROW}%b = tile.broadcast %s dims [0, 1] : {tile('1 x 16', 'bf16')} to {V}\n"
        f"%out = tile.select %p, %b, %b : {V}", True),
    "fewer than eight rows": (
        f"%a = tile.slice %v [0, 0] [7, 16] [1, 1] : {V} to {tile('7 x 16', 'bf16')}\n"
        f"%q = tile.slice %p [0, 0] [7, 16] [1, 1] : {P} to {tile('7 x 16', 'i1')}\n"
        f"%out = tile.select %q, %a, %a : {tile('7 x 16', 'bf16')}", True),
    "cast from 32 bits": (f"%out = tile.select %p, %v, %v : {V}", True),
    "cast, and a number": (f"%z = tile.full 0.0 : {V}\n%out = tile.select %p, %v, %z : {V}", True),
    "a number, and what was narrow": (
        f"%w = tile.transpose %v [1, 0] : {V}\n%u = tile.transpose %w [1, 0] : {tile('16 x 8', 'bf16')}\n"
        f"%z = tile.full 0.0 : {V}\n%out = tile.select %p, %u, %z : {V}", False),
    "cast, and what was narrow": (
        f"%w = tile.transpose %v [1, 0] : {V}\n%u = tile.transpose %w [1, 0] : {tile('16 x 8', 'bf16')}\n"
        f"%out = tile.select %p, %v, %u : {V}", False),
}  # fmt: skip


@pytest.mark.parametrize("name", SELECTED)
def test_selections(name: str) -> None:
    lines, changes = SELECTED[name]
    assert rewritten(lines, "bf16", WidenSelection())[1] == changes
