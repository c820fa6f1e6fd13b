"""Arrays of which an op reads an element only to write the one in its place."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.pointwise import pointwise_inputs
from test.named import named, only

V, T = "memref<8x8xf32>", "memref<8x8xf32, strided<[1, 8]>>"
TEXT = f"""
func.func @f(%a: {V}, %b: {V}, %small: memref<8xf32>, %half: memref<8x8xbf16>, %t: {T}, %o: {V}) {{{{
  %view = host.reshape %a : {V} to {V}
  %flat = host.reshape %a : {V} to memref<64xf32>
  {{}}
  func.return
}}}}
"""


def inputs(op: str, out: str = "o") -> set[str]:
    """The names of the arrays, each found once, that the last op of a function may be computed over."""
    module = parse(TEXT.format(op))
    func, values = only(module, FuncOp), named(module)
    found = pointwise_inputs(list(func.body.block.ops)[-2], values[out])
    assert len(set(found)) == len(found)
    return {str(value.name_hint) for value in found}


def call(callee: str, *arguments: tuple[str, str]) -> str:
    """A call that writes into ``%o``."""
    names, types = (", ".join(part) for part in zip(*arguments, strict=True))
    kinds = ", ".join("unit" for _ in arguments)
    return f'host.call_out "aten.{callee}"({names}) args [{kinds}] to %o : ({types}) to {V}'


A, B, SMALL, HALF, STRIDED, VIEW, FLAT = (
    ("%a", V),
    ("%b", V),
    ("%small", "memref<8xf32>"),
    ("%half", "memref<8x8xbf16>"),
    ("%t", T),
    ("%view", V),
    ("%flat", "memref<64xf32>"),
)


@pytest.mark.parametrize(
    "op, found",
    [
        (call("exp.default", A), {"a"}),
        (call("add.Tensor", A, B), {"a", "b"}),
        (call("add.Tensor", A, A), {"a"}),
        (call("add.Tensor", A, SMALL), {"a"}),
        (call("add.Tensor", A, HALF), {"a"}),
        (call("add.Tensor", A, STRIDED), {"a"}),
        (call("add.Tensor", B, VIEW), {"b", "view"}),
        (call("add.Tensor", A, VIEW), set()),
        (call("mm.default", A, B), set()),
        (f"host.copy %a to %o : {V}, {V}", set()),
        ('symm.barrier group "tp"', set()),
    ],
)
def test_calls_of_pointwise_operators(op: str, found: set[str]) -> None:
    assert inputs(op) == found


def test_another_array_than_the_one_that_is_written() -> None:
    assert inputs(call("exp.default", A), out="b") == set()


def grid(lines: str) -> str:
    """A grid over blocks of rows and columns."""
    return f"tile.grid (%i: b0=4, %j: b1=2) in (8, 8) {{\n{lines}\n}}"


W = "!tile.tile<b0=4 x b1=2 x f32>"


def load(name: str, memory: str, entries: str = "%i, %j", tile: str = W, type: str = V) -> str:
    """A load of a block."""
    return f"%{name} = tile.load %{memory}[{entries}] : {type} -> {tile}\n"


def store(name: str, memory: str = "o", entries: str = "%i, %j", tile: str = W) -> str:
    """A store of a block."""
    return f"tile.store %{name}, %{memory}[{entries}] : {tile}, {V}\n"


ROWS = "!tile.tile<b0=4 x 8 x f32>"
LOOP = "tile.for %k: b2=2 in (0, 4) {{\n{}\n}}\n"


@pytest.mark.parametrize(
    "lines, found",
    [
        (load("v", "a") + store("v"), {"a"}),
        (load("v", "a") + load("w", "b") + f"%s = tile.add %v, %w : {W}\n" + store("s"), {"a", "b"}),
        (load("v", "a") + load("w", "a") + store("v"), {"a"}),
        (load("v", "a") + load("w", "b", "%i, 0", "!tile.tile<b0=4 x f32>") + store("v"), {"a"}),
        (load("v", "a") + load("w", "view") + store("v"), set()),
        (load("v", "b") + load("w", "view") + store("v"), {"b", "view"}),
        (load("v", "a") + load("w", "flat", "%i", "!tile.tile<b0=4 x f32>", "memref<64xf32>") + store("v"), set()),
        (load("v", "t", type=T) + store("v"), set()),
        (load("v", "a", "%i, :", ROWS) + store("v", entries="%i, :", tile=ROWS), set()),
        (load("v", "a") + load("u", "o") + store("v"), set()),
        (load("v", "a") + store("v") + store("v"), set()),
        (load("v", "a") + store("v") + f"atomic.rmw add %v, %o[%i, %j] : {W}, {V}\n", set()),
        (load("v", "a") + store("v") + store("v", "a"), set()),
        (load("v", "a") + store("v") + store("v", "b"), {"a"}),
        (load("v", "a") + LOOP.format(store("v")), set()),
        (load("v", "a") + LOOP.format(load("w", "a")) + store("v"), set()),
    ],
)
def test_grids_that_load_and_store_one_block(lines: str, found: set[str]) -> None:
    """Each cell has a block of its own, loads it before the one store of it, and nothing else touches the arrays."""
    assert inputs(grid(lines)) == found


def test_a_block_in_another_place_is_not_the_one() -> None:
    lines = load("v", "a", "%j, %i", "!tile.tile<b1=2 x b0=4 x f32>")
    assert inputs(grid(lines + "%w = tile.transpose %v [1, 0] : !tile.tile<b1=2 x b0=4 x f32>\n" + store("w"))) == set()
