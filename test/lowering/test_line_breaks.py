"""Broken lines mean what they meant, and are no longer than the limit."""

from __future__ import annotations

import ast
from random import Random

import pytest

from kopt.lowering.line_breaks import LINE, broken
from test.lowering.trees import tree

LONG = "a_name_of_thirty_characters_xx"


def test_broken_statements_mean_the_same() -> None:
    random, breaks = Random(3), 0
    for _ in range(2000):
        head = random.choice(("x = ", "x[0, pl.ds(i, 8)] = ", "return ", "a, b = ", ""))
        statement = f"{head}{tree(random, random.randrange(3, 6))[0].text}"
        lines = broken(statement, "    ", "softmax.py:12")
        breaks += len(lines) > 1
        inner = "\n".join(["def f():", *lines])
        assert ast.dump(ast.parse(inner)) == ast.dump(ast.parse(f"def f():\n    {statement}")), inner
    assert breaks > 500


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = f(a, b)", ["x = f(a, b)  # c"]),
        (
            f"x = f({LONG}, {LONG}, {LONG}, {LONG[:15]})",
            ["x = f(  # c", f"    {LONG}, {LONG}, {LONG}, {LONG[:15]}", ")"],
        ),
        (
            f"x = f({LONG}, {LONG}, {LONG}, {LONG})[0]",
            ["x = f(  # c", *[f"    {LONG},"] * 4, ")[0]"],
        ),
        (
            f"def f({LONG}, {LONG}, {LONG}, {LONG}):",
            ["def f(  # c", *[f"    {LONG},"] * 4, "):"],
        ),
        (
            f"x = [{LONG}, {LONG}, {LONG}, {LONG[:16]}]",
            ["x = [  # c", *[f"    {LONG},"] * 3, f"    {LONG[:16]},", "]"],
        ),
        (
            f"x = {LONG} + {LONG} - {LONG} * {LONG}",
            ["x = (  # c", f"    {LONG}", f"    + {LONG}", f"    - {LONG} * {LONG}", ")"],
        ),
        (
            f"x = y + f({LONG}, {LONG}, {LONG}, lambda a, b: {LONG})",
            ["x = y + f(  # c", *[f"    {LONG},"] * 3, f"    lambda a, b: {LONG},", ")"],
        ),
        (
            f"x = y[{LONG}, {LONG}, {LONG}, {LONG[:16]}]",
            ["x = y[  # c", f"    {LONG}, {LONG}, {LONG}, {LONG[:16]}", "]"],
        ),
        (f"x = '{LONG * 4}'", [f"x = '{LONG * 4}'  # c"]),
    ],
)
def test_where_lines_are_broken(text: str, lines: list[str]) -> None:
    assert broken(text, "", "c") == lines


def test_lines_that_can_be_are_short() -> None:
    text = f"x = f({', '.join(f'{LONG} * g({LONG}, {LONG} + {LONG} + {LONG} * {LONG})' for _ in range(3))})"
    lines = broken(text, " " * 16, "softmax.py:12")
    assert max(map(len, lines)) <= LINE
