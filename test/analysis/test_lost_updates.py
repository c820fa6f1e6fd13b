"""Orders of visits in which a call would lose updates: one kernel that is right, and what breaks it."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.lost_updates import LostUpdate, problems
from kopt.dialects.pallas import CallOp
from test.named import only

TILE = "!tile.tile<b0=8 x 128 x f32>"
TEXT = """
func.func @f(%x: memref<{rows}x512x{e}>) -> memref<{rows}x128x{e}> {{
  %r = pallas.call @f(%x) windows [<[8, 128], (d0, d1) -> {source}, vmem>, <[8, 128], (d0, d1) -> {target}, vmem>]
      semantics ({semantics}) aliases [-1] : (memref<{rows}x512x{e}>) -> memref<{rows}x128x{e}> {{
  ^bb0(%x_ref: !tile.ref<8 x 128 x {e}, vmem>, %o: !tile.ref<8 x 128 x {e}, vmem>, %acc: !tile.ref<8 x 128 x {e}, vmem>):
    tile.grid (%i: b0=8, %k: b1=128) in ({rows}, 512) reduce [1] {{
      {body}
    }}
  }}
  func.return %r : memref<{rows}x128x{e}>
}}
"""  # noqa: E501


def get(ref: str, name: str) -> str:
    return f"%{name} = tile.get %{ref}[:, :] : !tile.ref<8 x 128 x EL, vmem> -> !tile.tile<b0=8 x 128 x EL>"


def put(value: str, ref: str) -> str:
    return f"tile.put %{value}, %{ref}[:, :] : !tile.tile<b0=8 x 128 x EL>, !tile.ref<8 x 128 x EL, vmem>"


def when(visit: str, *lines: str) -> str:
    return f"tile.when {visit}(%k) {{\n" + "\n".join(lines) + "\n}"


ZERO = "%z = tile.full 0.0 : !tile.tile<b0=8 x 128 x EL>"
SUM = "%s = tile.add %a, %v : !tile.tile<b0=8 x 128 x EL>"
FILL, COMMIT = when("first", ZERO, put("z", "acc")), when("last", get("acc", "e"), put("e", "o"))
UPDATE = (get("x_ref", "v"), get("acc", "a"), SUM, put("s", "acc"))


def found(*body: str, semantics: str = "parallel, arbitrary", target: str = "(d0, 0)", rows: int = 64, e: str = "f32"):
    text = TEXT.format(
        body="\n".join(body).replace("EL", e), semantics=semantics, target=target, source="(d0, d1)", rows=rows, e=e
    )
    return [*problems(only(parse(text), CallOp))]


def words(problems: list[LostUpdate]) -> str:
    return "\n".join(problem.message for problem in problems)


def test_a_scratch_filled_first_and_committed_last() -> None:
    assert found(FILL, *UPDATE, COMMIT) == []


def test_the_output_itself_serves_too() -> None:
    inner = (when("first", ZERO, put("z", "o")), get("x_ref", "v"), get("o", "a"), SUM, put("s", "o"))
    assert found(*inner) == []


def test_a_block_that_is_never_filled() -> None:
    assert "'acc' is read before a visit has written it" in words(found(*UPDATE, COMMIT))
    assert "'o' is read before a visit has written it" in words(
        found(get("x_ref", "v"), get("o", "a"), SUM, put("s", "o"))
    )


def test_a_carried_dimension_is_not_parallel() -> None:
    text = words(found(FILL, *UPDATE, COMMIT, semantics="parallel, parallel"))
    assert "d1 (%k) is marked parallel, but 'acc' is carried along it" in text


@pytest.mark.parametrize(("rows", "count"), [(64, 1), (8, 0)])
def test_a_block_that_is_left_and_come_back_to(rows: int, count: int) -> None:
    """The output moves with the inner dimension: with one outer cell it is never come back to."""
    body = (get("x_ref", "v"), put("v", "o"))
    text = words(found(*body, target="(0, d1)", rows=rows, semantics="arbitrary, arbitrary"))
    assert text.count("is left and come back to") == count


def test_each_visit_stores_over_the_one_before() -> None:
    (problem,) = found(get("x_ref", "v"), put("v", "o"))
    assert "all cells along d1 (%k) store into one block of 'o'" in problem.message and problem.fatal


def test_a_store_behind_one_that_does_not_move_is_looked_at() -> None:
    (problem,) = found(ZERO, put("z", "o"), get("x_ref", "v"), put("v", "o"))
    assert "all cells along d1 (%k) store into one block of 'o'" in problem.message


def test_a_block_that_is_filled_on_the_last_visit_is_not_there_on_the_first() -> None:
    late = when("last", ZERO, put("z", "acc"))
    assert "'acc' is read before a visit has written it" in words(found(*UPDATE, COMMIT, late))


def test_what_does_not_move_is_stored_again() -> None:
    assert found(ZERO, put("z", "o")) == []


def test_a_commit_that_comes_too_late() -> None:
    late = "tile.when last(%i, %k) {\n" + get("acc", "e") + "\n" + put("e", "o") + "\n}"
    assert "the updates before it are lost" in words(found(FILL, *UPDATE, late))


@pytest.mark.parametrize(("e", "count"), [("f32", 0), ("bf16", 1), ("f16", 1)])
def test_narrow_sums_are_less_exact(e: str, count: int) -> None:
    wide = [f"%{name}32 = tile.cast %{name} : !tile.tile<b0=8 x 128 x EL> to {TILE}" for name in "av"]
    total = f"%s32 = tile.add %a32, %v32 : {TILE}\n%s = tile.cast %s32 : {TILE} to !tile.tile<b0=8 x 128 x EL>"
    plain, narrow = (get("x_ref", "v"), get("acc", "a"), SUM), (get("x_ref", "v"), get("acc", "a"), *wide, total)
    problems = found(FILL, *(plain if e == "f32" else narrow), put("s", "acc"), COMMIT, e=e)
    assert len(problems) == count and not any(problem.fatal for problem in problems)
