"""Parts of values: the lanes of a slice of them, made of loads of less; and which values have none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import kopt
from kopt.dialects.tile import LoadOp, tile_type
from kopt.dialects.tile.index_list import SliceAttr
from kopt.interpreter import HANDLERS
from kopt.interpreter.machine import Machine
from kopt.passes.gpu.cutting import Cuts, cut_type, joint, part_of_slice, whole
from kopt.walk import walk
from test.named import named

V, H = "!tile.tile<6 x 8 x f32>", "!tile.tile<6 x 4 x f32>"
LOAD = f"%v = tile.load %x[:, 2:18:2] : memref<6x20xf32> -> {V}\n"
HALVES = f"""%a = tile.load %x[:, 0:4] : memref<6x20xf32> -> {H}
    %b = tile.load %x[:, 9:13] : memref<6x20xf32> -> {H}
    """
JOINED = HALVES + f"%v = tile.concat %a, %b dim 1 : {H}, {H} to {V}\n"

#: A value `%r`, a part of it, and how many lanes the loads that it is made of have; None where it has no such part.
CASES = {
    "all": (LOAD + f"%r = tile.exp %v : {V}", ((0, 6, 1), (0, 8, 1)), None),
    "a load": (LOAD.replace("%v", "%r"), ((1, 3, 2), (3, 2, 1)), 6),
    "a load's row": (LOAD.replace("%v", "%r"), ((5, 1, 1), (0, 8, 1)), 8),
    "a masked load": (
        f"%m = tile.full true : !tile.tile<6 x 8 x i1>\n%r = tile.load %x[:, 0:8] mask %m : memref<6x20xf32> -> {V}",
        ((0, 3, 1), (0, 8, 1)),
        None,
    ),
    "a block": (
        "%r = tile.load %x[%i, 0:8] : memref<6x20xf32> -> !tile.tile<b0=6 x 8 x f32>",
        ((0, 3, 1), (0, 8, 1)),
        None,
    ),
    "lanes of a block": (
        "%r = tile.load %x[%i, 0:8] : memref<6x20xf32> -> !tile.tile<b0=6 x 8 x f32>",
        ((0, 6, 1), (1, 3, 2)),
        18,
    ),
    "a cast": (LOAD + f"%r = tile.cast %v : {V} to !tile.tile<6 x 8 x bf16>", ((0, 6, 1), (0, 2, 4)), 12),
    "a number": (f"%r = tile.full 3.0 : {V}", ((0, 2, 1), (0, 8, 1)), 0),
    "numbers": ("%r = tile.arange 5, 3 : !tile.tile<8 x i32>", ((1, 3, 2),), 0),
    "repeated lanes": (
        "%s = tile.load %x[:, 3] : memref<6x20xf32> -> !tile.tile<6 x f32>\n"
        f"%r = tile.broadcast %s dims [0] : !tile.tile<6 x f32> to {V}",
        ((2, 2, 2), (1, 3, 1)),
        2,
    ),
    "a repeated lane": (
        "%s = tile.load %x[:, 3:4] : memref<6x20xf32> -> !tile.tile<6 x 1 x f32>\n"
        f"%r = tile.broadcast %s dims [0, 1] : !tile.tile<6 x 1 x f32> to {V}",
        ((2, 2, 2), (1, 3, 1)),
        2,
    ),
    "a lane more": (
        LOAD + f"%r = tile.reshape %v : {V} to !tile.tile<6 x 1 x 8 x f32>", ((1, 2, 3), (0, 1, 1), (4, 4, 1)), 8
    ),
    "merged": (LOAD + f"%r = tile.reshape %v : {V} to !tile.tile<48 x f32>", ((0, 8, 1),), None),
    "split": (LOAD + f"%r = tile.reshape %v : {V} to !tile.tile<6 x 2 x 4 x f32>", ((0, 6, 1), (0, 1, 1), (0, 4, 1)),
              None),
    "transposed": (LOAD + f"%r = tile.transpose %v [1, 0] : {V}", ((1, 3, 2), (4, 2, 1)), 6),
    "a part of a part": (
        LOAD + f"%r = tile.slice %v [1, 1] [3, 3] [2, 2] : {V} to !tile.tile<3 x 3 x f32>", ((1, 2, 1), (0, 2, 2)), 4
    ),
    "the first of two": (JOINED.replace("%v", "%r"), ((0, 6, 1), (1, 2, 2)), 12),
    "the second of two": (JOINED.replace("%v", "%r"), ((0, 6, 1), (4, 4, 1)), 24),
    "one lane of the second": (JOINED.replace("%v", "%r"), ((5, 1, 1), (7, 1, 1)), 1),
    "lanes of both": (JOINED.replace("%v", "%r"), ((0, 6, 1), (3, 2, 1)), None),
    "lanes of both, apart": (JOINED.replace("%v", "%r"), ((0, 6, 1), (0, 2, 4)), None),
    "rows of both": (JOINED.replace("%v", "%r"), ((2, 2, 1), (0, 8, 1)), None),
    "what another op uses whole": (
        LOAD + f"%r = tile.exp %v : {V}\n%u = tile.reduce add %r [1] : {V}", ((0, 6, 1), (0, 4, 1)), None
    ),
    "what is computed of loads": (
        LOAD + f"%e = tile.exp %v : {V}\n%r = tile.mul %e, %v : {V}\n"
        f"%p = tile.slice %r [0, 0] [6, 4] [1, 1] : {V} to {H}",
        ((0, 6, 1), (0, 4, 1)),
        24 + 24,
    ),
    "a select": (
        LOAD + f"%z = tile.full 0.0 : {V}\n%c = tile.gt %v, %z : {V}\n%r = tile.select %c, %z, %v : {V}\n"
        f"%p = tile.slice %r [0, 0] [6, 4] [1, 1] : {V} to {H}",
        ((0, 6, 1), (4, 4, 1)),
        24,
    ),
    "lanes in another order": (
        LOAD + f"%r = tile.scan add %v dim 1 : {V}",
        ((0, 6, 1), (0, 4, 1)),
        None,
    ),
}  # fmt: skip
X = np.random.default_rng(0).standard_normal((6, 20)).astype(np.float32)


def module(lines: str):
    return kopt.parse(
        f"func.func @f(%x: memref<6x20xf32>) {{\n  tile.grid (%i: b0=6) in (6) {{\n    {lines}\n  }}\n  func.return\n}}"
    )


@pytest.mark.parametrize("name", CASES)
def test_parts_have_the_lanes_of_a_slice(name: str) -> None:
    lines, bounds, lanes = CASES[name]
    parsed = module(lines)
    value = named(parsed)["r"]
    cuts, before = Cuts(set()), walk(parsed, LoadOp)
    assert cuts.can_cut(value, bounds) == (lanes is not None or bounds == whole(value))
    if not cuts.can_cut(value, bounds):
        return
    part = cuts.cut(value, bounds)
    assert cuts.cut(value, bounds) is part and (part is value) == (bounds == whole(value))
    assert part.type == cut_type(tile_type(value), bounds)
    parsed.verify()
    made = [load for load in walk(parsed, LoadOp) if load not in before]
    assert sum(np.prod(tile_type(load.result).shape, dtype=int) for load in made) <= (lanes or 0)
    machine = Machine(parsed, HANDLERS)
    machine.call(machine.functions["f"], [X])
    picked = tuple(slice(first, first + (size - 1) * stride + 1, stride) for first, size, stride in bounds)
    np.testing.assert_array_equal(machine[part].data, machine[value].data[picked])


def test_whole_parts_are_the_values() -> None:
    value = named(module(LOAD))["v"]
    assert whole(value) == ((0, 6, 1), (0, 8, 1)) and Cuts(set()).cut(value, whole(value)) is value


def test_stores_that_are_split_use_no_value_whole() -> None:
    parsed = module(LOAD + f"%r = tile.exp %v : {V}\ntile.store %r, %x[:, 0:8] : {V}, memref<6x20xf32>")
    value, bounds = named(parsed)["r"], ((0, 6, 1), (0, 4, 1))
    (store,) = [use.operation for use in value.uses]
    assert not Cuts(set()).can_cut(value, bounds) and Cuts({store}).can_cut(value, bounds)


@pytest.mark.parametrize(("start", "stop", "step"), [(0, 10, 1), (3, 20, 1), (2, 19, 4)])
def test_parts_of_slices(start: int, stop: int, step: int) -> None:
    taken = range(start, stop, step)
    for offset, size, stride in product(range(4), range(4), (1, 2)):
        wanted = [taken[offset + n * stride] for n in range(size) if offset + n * stride < len(taken)]
        if len(wanted) == size:
            found = part_of_slice(SliceAttr(start, stop, step), offset, size, stride)
            assert [*range(found.start.data, found.stop.data, found.step.data)] == wanted


@pytest.mark.parametrize(
    ("lines", "dim", "wanted"),
    [
        (JOINED.replace("%v", "%r"), 1, [0, 4, 8]),
        (JOINED.replace("%v", "%r"), 0, None),
        (JOINED + f"%r = tile.exp %v : {V}", 1, [0, 4, 8]),
        (LOAD + f"%r = tile.exp %v : {V}", 1, None),
        (
            JOINED.replace("%v", "%j") + LOAD + f"%r = tile.add %v, %j : {V}",
            1,
            [0, 4, 8],
        ),
        (JOINED + f"%r = tile.broadcast %v dims [1, 2] : {V} to !tile.tile<3 x 6 x 8 x f32>", 2, [0, 4, 8]),
        (JOINED + f"%r = tile.broadcast %v dims [1, 2] : {V} to !tile.tile<3 x 6 x 8 x f32>", 0, None),
        (JOINED + f"%r = tile.transpose %v [1, 0] : {V}", 0, None),
    ],
)
def test_where_inputs_are_joined(lines: str, dim: int, wanted: list[int] | None) -> None:
    assert joint(named(module(lines))["r"], dim) == wanted
