"""Mutants of a text: what each operator makes of it, and functions whose code is changed in place."""

from __future__ import annotations

import pytest

from .operators import mutants
from .swapping import Functions, outermost

CASES = [
    ("return a < b", {"return a <= b", "return a >= b", "return None"}),
    ("return a + 1", {"return a - 1", "return a + 2", "return None"}),
    (
        "return a and not b",
        {"return (a or not b)", "return ((a))", "return ((not b))", "return a and (b)", "return None"},
    ),
    ("f(a, b)", {"pass", "f(b, a)"}),
    ("return False", {"return True"}),
    ("return 0", {"return 1", "return None"}),
    ("max(a, b)", {"pass", "min(a, b)"}),
    ("np.maximum(a, b)", {"pass"}),
    ("zip(a, b, strict=True)", {"pass", "zip(b, a, strict=True)"}),
    ("x = [n for n in a if b]", {"x = [n for n in a if True]"}),
    ("x: int = a", set()),
    ("raise ValueError(a + 1)", {"pass"}),
    ("assert a < 1", set()),
    ("unsupported(f'{a + 1}', 'b')", {"pass"}),
    ("x = mismatch(a, b)", {"x = mismatch(b, a)"}),
]


@pytest.mark.parametrize(("line", "wanted"), CASES, ids=[line for line, _ in CASES])
def test_what_becomes_of_a_line(line: str, wanted: set[str]) -> None:
    text = f"def f(a: int, b: int = 1):\n    {line}\n"
    found = mutants("file.py", text)
    assert {each.applied(text).split("\n")[1].strip() for each in found} == wanted
    assert all((each.function, each.line) == ("f", 2) for each in found)
    for each in found:
        before, after = outermost("file.py", text), outermost("file.py", each.applied(text))
        assert before.keys() == after.keys() == {("f", 1)} and before != after


def test_functions_that_another_gave_before_change_too(tmp_path) -> None:
    """As rows of a table, which exist before a mutant does."""
    path = tmp_path / "rows.py"
    text = "def row(n):\n    def operation(x):\n        return x + n\n    return operation\n"
    namespace: dict = {}
    exec(compile(text, str(path), "exec"), namespace)
    row = namespace["row"](3)
    assert row(4) == 7
    assert Functions(str(tmp_path)).swap(str(path), text, text.replace("+", "-")) == 2
    assert row(4) == 1


def test_what_functions_remember_is_forgotten(tmp_path) -> None:
    """They gave it before there was a mutant."""
    path = tmp_path / "known.py"
    text = "from functools import cache\n@cache\ndef double(n):\n    return n * 2\n"
    namespace: dict = {}
    exec(compile(text, str(path), "exec"), namespace)
    assert namespace["double"](8) == 16
    Functions(str(tmp_path)).swap(str(path), text, text.replace("*", "//"))
    assert namespace["double"](8) == 4
