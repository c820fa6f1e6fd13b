"""What Mosaic has no reshape for: the same lanes by slices side by side, and no such reshape is left."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.pattern_rewriter import PatternRewriteWalker

import kopt
from kopt.dialects.tile import ReshapeOp, SliceOp, tile_type
from kopt.interpreter import HANDLERS
from kopt.interpreter.machine import Machine
from kopt.passes.mosaic.reshapes import (
    JoinInOneRow,
    ReshapeBeforeCompare,
    SliceBeforeReshape,
    SplitReshape,
    _is_native,
)
from kopt.walk import walk
from test.named import named


def tile(shape: tuple[int, ...], element: str = "f32") -> str:
    return f"!tile.tile<{' x '.join([*map(str, shape), element])}>"


def module_of(shape: tuple[int, ...], lines: str):
    """Lines from ``%v``, an array's lanes, on."""
    at, memory = ", ".join(":" for _ in shape), "x".join(map(str, shape))
    return kopt.parse(f"""
func.func @f(%x: memref<{memory}xf32>) {{
  tile.grid (%i: b0=1) in (1) {{
    %v = tile.load %x[{at}] : memref<{memory}xf32> -> {tile(shape)}
    {lines}
  }}
  func.return
}}""")


def rewritten(shape: tuple[int, ...], lines: str, pattern) -> tuple[object, np.ndarray, np.ndarray]:
    """The module, and the lanes of ``%out`` before and after a pattern has been applied all over it."""
    type = named(module_of(shape, lines))["out"].type
    lines += f"\n%end = tile.neg %out : {type}"  # is there whatever becomes of what it is made of
    before, after = module_of(shape, lines), module_of(shape, lines)
    assert PatternRewriteWalker(pattern).rewrite_module(after) or isinstance(pattern, SliceBeforeReshape)
    after.verify()
    lanes = []
    for module in (before, after):
        machine = Machine(module, HANDLERS)
        machine.call(machine.functions["f"], [np.arange(np.prod(shape), dtype=np.float32).reshape(shape)])
        lanes.append(-machine[named(module)["end"]].data)
    return after, *lanes


def reshape(before: tuple[int, ...], after: tuple[int, ...]) -> str:
    return f"%out = tile.reshape %v : {tile(before)} to {tile(after)}"


NATIVE = [
    ((8, 128), (8, 1, 128), True),
    ((8, 128), (1, 8, 128), True),
    ((4, 256), (8, 128), True),
    ((4, 128), (512,), True),
    ((512,), (4, 128), True),
    ((2, 3, 4), (2, 12), True),
    ((2, 12), (2, 3, 4), True),
    ((6, 4), (24, 1), False),
    ((8, 1), (8,), True),
    ((6, 4), (4, 6), False),
    ((6, 4), (3, 8), False),
    ((3, 8), (6, 4), False),
    ((2, 96), (3, 64), False),
]


@pytest.mark.parametrize(("before", "after", "native"), NATIVE)
def test_which_reshapes_mosaic_has(before: tuple[int, ...], after: tuple[int, ...], native: bool) -> None:
    assert _is_native(before, after) == native


SPLIT = [
    ((6, 4), (4, 6)),
    ((6, 4), (3, 8)),
    ((3, 8), (6, 4)),
    ((2, 6, 4), (2, 4, 6)),
    ((2, 6, 4), (2, 3, 8)),
    ((5, 2, 8), (5, 4, 4)),
    ((2, 96), (3, 64)),
    ((2, 1, 6, 4), (2, 3, 1, 8)),
    ((12, 10), (8, 15)),
    ((2, 3, 10), (4, 15)),
]


@pytest.mark.parametrize(("before", "after"), SPLIT)
def test_rows_of_other_lanes(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    assert not _is_native(before, after)
    module, wanted, found = rewritten(before, reshape(before, after), SplitReshape())
    np.testing.assert_array_equal(found, wanted)
    pairs = [(tile_type(op.input).shape, tile_type(op.result).shape) for op in walk(module, ReshapeOp)]
    assert all(_is_native(*pair) for pair in pairs)


@pytest.mark.parametrize(("before", "after"), [pair[:2] for pair in NATIVE if pair[2]] + [((600, 1001), (1001, 600))])
def test_reshapes_that_stay(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    """Those that Mosaic has, and those of too many slices."""
    module = kopt.parse(f"func.func @f(%v: {tile(before)}) {{\n  {reshape(before, after)}\n  func.return\n}}")
    assert not PatternRewriteWalker(SplitReshape()).rewrite_module(module)


@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize(("rows", "step"), [((0, 6), 1), ((1, 2), 3), ((2, 2), 2)])
@pytest.mark.parametrize(("lead", "native"), [((2,), True), ((), False)])
def test_one_lane_of_each_group(lead: tuple[int, ...], native: bool, rows: tuple[int, int], step: int, offset: int):
    """Six groups of four lanes: a step of four, or of so many groups. What Mosaic has stays."""
    begin, count = rows
    lines = f"""%g = tile.reshape %v : {tile((*lead, 24))} to {tile((*lead, 6, 4))}
    %out = tile.slice %g {[*(0 for _ in lead), begin, offset]} {[*lead, count, 1]} {[*(1 for _ in lead), step, 1]}
        : {tile((*lead, 6, 4))} to {tile((*lead, count, 1))}"""
    assert _is_native((*lead, 24), (*lead, 6, 4)) == native
    module, wanted, found = rewritten((*lead, 24), lines, SliceBeforeReshape())
    np.testing.assert_array_equal(found, wanted)
    (cut,) = walk(module, SliceOp)
    assert (cut.input.owner.name == "tile.load") == (not native)  # pyright: ignore


def test_vectors_are_joined_in_one_row() -> None:
    lines = f"""%a = tile.slice %v [1] [3] [1] : {tile((8,))} to {tile((3,))}
    %out = tile.concat %v, %a dim 0 : {tile((8,))}, {tile((3,))} to {tile((11,))}"""
    module, wanted, found = rewritten((8,), lines, JoinInOneRow())
    np.testing.assert_array_equal(found, wanted)
    assert "dim 1" in str(module) and tile((1, 11)) in str(module)


def test_what_is_compared_gets_other_dimensions() -> None:
    V = tile((4, 8))
    lines = f"""%row = tile.slice %v [0, 0] [1, 8] [1, 1] : {V} to {tile((1, 8))}
    %long = tile.reshape %row : {tile((1, 8))} to {tile((8,))}
    %b = tile.broadcast %long dims [1] : {tile((8,))} to {V}
    %p = tile.gt %v, %b : {V}
    %r = tile.reshape %p : {tile((4, 8), "i1")} to {tile((4, 1, 8), "i1")}
    %out = tile.cast %r : {tile((4, 1, 8), "i1")} to {tile((4, 1, 8))}"""
    module, wanted, found = rewritten((4, 8), lines, ReshapeBeforeCompare())
    np.testing.assert_array_equal(found, wanted)
    assert not [op for op in walk(module, ReshapeOp) if "i1" in str(op.result.type)]
