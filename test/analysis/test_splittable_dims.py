"""Values that can be computed part by part: which lanes each op's lanes come from, and where that ends."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from kopt import parse
from kopt.analysis.splittable_dims import can_be_cut, inputs, needed, sources, taken_whole
from kopt.dialects.tile import LoadOp
from test.named import named

A, B, C = "!tile.tile<4 x 8 x f32>", "!tile.tile<8 x 2 x f32>", "!tile.tile<4 x 2 x f32>"
TEXT = """
func.func @f(%x: memref<4x8xf32>, %y: memref<100x8x16xf32>, %a: {a}, %b: {b}, %c: {c}, %row: !tile.tile<8 x f32>,
             %s: !tile.tile<f32>, %one: !tile.tile<1 x 8 x f32>, %m: !tile.tile<4 x 8 x i1>,
             %n: !tile.tile<4 x 8 x i32>,
             %d: !tile.tile<3 x 4 x 8 x f32>, %g: !tile.tile<3 x 8 x 2 x f32>, %ids: !tile.tile<8 x i32>) {{
  tile.grid (%i: b0=4) in (4) {{
    {body}
  }}
  func.return
}}
"""


def parsed(body: str):
    return named(parse(TEXT.format(body=body, a=A, b=B, c=C)))


# The operands by name, for each dimension of the result; None where lanes are combined.
RULES = {
    "lane by lane": (f"%r = tile.add %a, %a : {A}", [{"a": 0}, {"a": 1}]),
    "selected": (f"%r = tile.select %m, %a, %a : {A}", [{"m": 0, "a": 0}, {"m": 1, "a": 1}]),
    "cast": (f"%r = tile.cast %a : {A} to !tile.tile<4 x 8 x i32>", [{"a": 0}, {"a": 1}]),
    "a number": (f"%r = tile.full 1.0 : {A}", [{}, {}]),
    "repeated rows": (f"%r = tile.broadcast %row dims [1] : !tile.tile<8 x f32> to {A}", [{}, {"row": 0}]),
    "a repeated number": (f"%r = tile.broadcast %s dims [] : !tile.tile<f32> to {A}", [{}, {}]),
    "one row stands for all": (
        f"%r = tile.broadcast %one dims [0, 1] : !tile.tile<1 x 8 x f32> to {A}",
        [{}, {"one": 1}],
    ),
    "transposed": ("%r = tile.transpose %d [2, 0, 1] : !tile.tile<3 x 4 x 8 x f32>", [{"d": 2}, {"d": 0}, {"d": 1}]),
    "a dimension of one more": (
        f"%r = tile.reshape %a : {A} to !tile.tile<4 x 1 x 8 x f32>",
        [{"a": 0}, None, {"a": 1}],
    ),
    "regrouped": (f"%r = tile.reshape %a : {A} to !tile.tile<32 x f32>", [None]),
    "summed over rows": (f"%r = tile.reduce add %a [0] : {A}", [{"a": 1}]),
    "summed over columns": (f"%r = tile.reduce add %a [1] : {A}", [{"a": 0}]),
    "summed over two": ("%r = tile.reduce add %d [0, 2] : !tile.tile<3 x 4 x 8 x f32>", [{"d": 1}]),
    "places of extremes": (f"%r = tile.argreduce max %a dim 0 : {A}", [{"a": 1}]),
    "running sums": (f"%r = tile.scan add %a dim 0 : {A}", [None, {"a": 1}]),
    "a product": (f"%r = tile.dot %a, %b : {A}, {B} -> {C}", [{"a": 0}, {"b": 1}]),
    "a product that is added": (f"%r = tile.dot %a, %b, %c : {A}, {B} -> {C}", [{"a": 0, "c": 0}, {"b": 1, "c": 1}]),
    "products": (
        "%r = tile.dot %d, %g : "
        "!tile.tile<3 x 4 x 8 x f32>, !tile.tile<3 x 8 x 2 x f32> -> !tile.tile<3 x 4 x 2 x f32>",
        [{"d": 0, "g": 0}, {"d": 1}, {"g": 2}],
    ),
    "a mask": (
        "%z = tile.broadcast %row dims [1] : !tile.tile<8 x f32> to !tile.tile<b0=4 x 8 x f32>\n"
        " %r = tile.mask %z in (%i, _) else 0.0 : !tile.tile<b0=4 x 8 x f32>",
        [None, {"z": 1}],
    ),
    "a load": (f"%r = tile.load %x[:, :] : memref<4x8xf32> -> {A}", [{}, {}]),
    "a masked load": (f"%r = tile.load %x[:, :] mask %m : memref<4x8xf32> -> {A}", [{"m": 0}, {"m": 1}]),
    "a load of a block": ("%r = tile.load %x[%i, :] : memref<4x8xf32> -> !tile.tile<b0=4 x 8 x f32>", [None, {}]),
    "a load of a part": ("%r = tile.load %x[0:4, 0:4] : memref<4x8xf32> -> !tile.tile<4 x 4 x f32>", [None, None]),
    "a load of rows": (
        "%r = tile.load %y[%n, :, 3] : memref<100x8x16xf32> -> !tile.tile<4 x 8 x 8 x f32>",
        [{"n": 0}, {"n": 1}, {}],
    ),
    "a slice": (f"%r = tile.slice %a [0, 0] [2, 8] [1, 1] : {A} to !tile.tile<2 x 8 x f32>", [None, None]),
}


@pytest.mark.parametrize(("body", "wanted"), RULES.values(), ids=RULES)
def test_the_operands_that_have_a_values_lanes(body: str, wanted: list[dict[str, int] | None]) -> None:
    values = parsed(body)
    result = values["r"]
    for dim, names in enumerate(wanted):
        found = sources(result, dim)
        pairs = [(values[name], place) for name, place in (names or {}).items()]
        assert (found is None) is (names is None)
        assert isinstance(op := result.owner, Operation)
        assert {(op.operands[n], place) for n, place in (found or {}).items()} == set(pairs)
        assert set(inputs(result, dim)) == set(pairs)


def test_arguments_are_made_of_nothing_that_is_known() -> None:
    values = parsed("")
    assert sources(values["a"], 0) is None and inputs(values["a"], 0) == []


@pytest.mark.parametrize(
    ("load", "wanted"),
    [
        (f"%x[:, :] : memref<4x8xf32> -> {A}", [0, 1]),
        ("%x[3, :] : memref<4x8xf32> -> !tile.tile<8 x f32>", [1]),
        ("%x[%i, :] : memref<4x8xf32> -> !tile.tile<b0=4 x 8 x f32>", [None, 1]),
        ("%x[:, 0:8] : memref<4x8xf32> -> !tile.tile<4 x 8 x f32>", [0, None]),
        ("%y[%ids, 3, :] : memref<100x8x16xf32> -> !tile.tile<8 x 16 x f32>", [None, 2]),
    ],
)
def test_dimensions_of_arrays_that_are_taken_whole(load: str, wanted: list[int | None]) -> None:
    op = parsed(f"%r = tile.load {load}")["r"].owner
    assert isinstance(op, LoadOp) and [taken_whole(op, dim) for dim in range(len(wanted))] == wanted


CHAIN = f"""%u = tile.load %x[:, :] : memref<4x8xf32> -> {A}
    %e = tile.exp %u : {A}
    %q = tile.add %e, %u : {A}
    %t = tile.transpose %q [1, 0] : {A}
    %w = tile.reduce add %t [0] : !tile.tile<8 x 4 x f32>
    %p = tile.scan add %q dim 1 : {A}
    %r = tile.exp %p : {A}"""


def test_all_that_lanes_are_made_from_each_once() -> None:
    values = parsed(CHAIN)
    found = list(needed(values["w"], 0))
    wanted = [("w", 0), ("t", 1), ("q", 0), ("e", 0), ("u", 0)]
    assert len(found) == len(set(found)) and set(found) == {(values[name], dim) for name, dim in wanted}
    assert found[0] == (values["w"], 0)
    # It ends where lanes are combined.
    assert list(needed(values["r"], 1)) == [(values["r"], 1), (values["p"], 1)]


@pytest.mark.parametrize(
    ("name", "dim", "written", "wanted"),
    [
        ("w", 0, (), True),
        ("t", 0, ("y",), True),
        ("w", 0, ("x",), False),
        ("r", 0, (), True),
        ("r", 1, (), False),
        ("a", 0, (), False),
    ],
)
def test_parts_one_by_one(name: str, dim: int, written: tuple[str, ...], wanted: bool) -> None:
    values = parsed(CHAIN)
    assert can_be_cut(values[name], dim, [values[each] for each in written]) is wanted
