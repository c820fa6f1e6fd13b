"""The numbers that scalars are on one rank: as the interpreter computes them."""

from __future__ import annotations

import pytest
from xdsl.dialects import arith

from kopt import parse
from kopt.analysis.remote.scalars import Known, begin, evaluate, limit
from kopt.dialects.tile import ForOp
from kopt.walk import walk
from test.named import named, only

TEXT = """
func.func @f() {{
  %yes = arith.constant true
  %no = arith.constant false
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %less = arith.constant -2 : index
  %i = arith.constant -2 : i32
  %most = arith.constant 2147483647 : i32
  %small = arith.constant -1 : i8
  {body}
  func.return
}}
"""


def number(text: str) -> int | None:
    """The value of ``%v``, on rank 5."""
    module = parse(TEXT.format(body=f"%v = {text}"))
    known: Known = {}
    for op in walk(module):
        if op.dialect_name() in ("arith", "symm") and (found := evaluate(op, known, 5)) is not None:
            known[op.results[0]] = found
    return known.get(named(module)["v"])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('symm.rank group "tp"', 5),
        ("arith.constant true", 1),
        ("arith.constant false", 0),
        ("arith.constant -4 : index", -4),
        ("arith.constant 1.0 : f32", None),
        ("arith.addi %c3, %less : index", 1),
        ("arith.floordivsi %less, %c3 : index", -1),
        ("arith.divui %c7, %c3 : index", 2),
        ("arith.remui %c7, %c3 : index", 1),
        ("arith.divui %c7, %c0 : index", None),
        ("arith.remui %c7, %c0 : index", None),
        ("arith.minsi %less, %c3 : index", -2),
        ("arith.select %yes, %c3, %c7 : index", 3),
        ("arith.select %no, %c3, %c7 : index", 7),
        # Truth values are 0 and 1: not (yes) is no.
        ("arith.xori %yes, %yes : i1", 0),
        ("arith.xori %no, %yes : i1", 1),
        ("arith.addi %yes, %yes : i1", 0),
        ("arith.cmpi eq, %yes, %yes : i1", 1),
        # What does not fit wraps.
        ("arith.addi %most, %most : i32", -2),
        ("arith.extsi %yes : i1 to i32", -1),
        ("arith.extui %yes : i1 to i32", 1),
        ("arith.extsi %small : i8 to i32", -1),
        ("arith.extui %small : i8 to i32", 255),
        ("arith.index_cast %i : i32 to index", -2),
        ("arith.shli %c3, %c3 : index", None),
    ],
)
def test_what_an_op_gives(text: str, wanted: int | None) -> None:
    assert number(text) == wanted


SIGNED = {"eq": False, "ne": True, "slt": True, "sle": True, "sgt": False, "sge": False}
UNSIGNED = {"ult": False, "ule": False, "ugt": True, "uge": True}


@pytest.mark.parametrize("predicate", [*SIGNED, *UNSIGNED])
@pytest.mark.parametrize("pair", ["%less, %c3 : index", "%i, %most : i32"])
def test_numbers_below_0_are_the_largest_without_a_sign(predicate: str, pair: str) -> None:
    assert number(f"arith.cmpi {predicate}, {pair}") == {**SIGNED, **UNSIGNED}[predicate]


RANGE = """
func.func @f(%n: index) {{
  %c2 = arith.constant 2 : index
  tile.for %k: b0=8 in ({bounds}) {{
    %begin = tile.begin %k : !tile.range<b0=8>
    %end = tile.end %k : !tile.range<b0=8>
    %id = tile.id %k : !tile.range<b0=8>
    %count = tile.count %k : !tile.range<b0=8>
    %far = tile.shift %k by %c2 : !tile.range<b0=8>
    %there = tile.begin %far : !tile.range<b0=8>
  }}
  func.return
}}
"""
NUMBERS = ("begin", "end", "id", "count")


@pytest.mark.parametrize(
    ("bounds", "block", "wanted"),
    [
        ("0, 24", 1, (8, 16, 1, 3)),
        ("0, 20", 2, (16, 20, 2, 3)),
        ("4, 13", 1, (12, 13, 1, 2)),
        ("4, 12", 0, (4, 12, 0, 1)),
    ],
)
def test_the_numbers_of_a_block(bounds: str, block: int, wanted: tuple[int, ...]) -> None:
    module = parse(RANGE.format(bounds=bounds))
    loop, values = only(module, ForOp), named(module)
    known: Known = {loop.range: block}
    assert tuple(evaluate(values[name].owner, known, 0) for name in NUMBERS) == wanted  # pyright: ignore
    assert (begin(loop.range, known), limit(loop.range, known)) == (wanted[0], int(bounds.split(", ")[1]))
    # A shifted range is another one.
    assert begin(values["far"], known) is None


def test_what_is_not_known_stays_so() -> None:
    module = parse(RANGE.format(bounds="0, %n"))
    loop, values = only(module, ForOp), named(module)
    assert begin(loop.range, {}) is None and limit(loop.range, {}) is None
    known: Known = {loop.range: 1}
    assert begin(loop.range, known) == 8
    assert [evaluate(values[name].owner, known, 0) for name in ("end", "count")] == [None, None]  # pyright: ignore
    known[values["n"]] = 13
    assert [evaluate(values[name].owner, known, 0) for name in ("end", "count")] == [13, 2]  # pyright: ignore
    assert evaluate(arith.AddiOp(values["begin"], values["begin"]), {}, 0) is None
