"""The lit tests check what they seem to check."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt.testing.directives import problems_in
from kopt.testing.runner import SUFFIXES, parse_line, run_lines

LIT = Path(__file__).resolve().parents[1] / "lit"
FILES = sorted(path for path in LIT.rglob("*") if path.suffix in SUFFIXES)


def test_every_lit_file_is_sound() -> None:
    """No CHECK without filecheck, no misspelt directive, no file without a RUN line."""
    problems = [f"{path}:{line}: {what}" for path in FILES for line, what in problems_in(path.read_text())]
    assert FILES
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("// CHECK: a\n", "no RUN line"),
        ("// RUN: kopt %s\n// CHECK: a\n", "no RUN line calls filecheck"),
        ("// RUN: kopt %s | filecheck %s\n// CHECK-NXT: a\n", "'CHECK-NXT:' is no directive"),
        ("// RUN: kopt %s | filecheck %s\n// CHCEK: a\n", "'CHCEK:' is no directive"),
        ("// RUN: kopt %s | filecheck %s\n// CHECK-NEXT a\n", "has to be followed by ':'"),
        ("// RUN: kopt %s | filecheck %s\n// CHECK : a\n", "has to be followed by ':'"),
        ("// RUN: kopt %s | filecheck %s\n// CHECK-COUNT: a\n", "'CHECK-COUNT:' is no directive"),
        ("// RUN: kopt %s | filecheck %s --check-prefix=FOO\n// FOO-LABLE: a\n", "'FOO-LABLE:' is no directive"),
        ("// RUN: kopt %s | filecheck %s --check-prefix=FOO\n// CHECK: a\n", "no RUN line asks"),
    ],
)
def test_problems_are_found(text: str, problem: str) -> None:
    """Each way to write a test that checks nothing is noticed."""
    assert problem in "\n".join(what for _, what in problems_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "// RUN: kopt %s | filecheck %s\n// CHECK: a\n// CHECK-COUNT-2: b\n// CHECK-NEXT{LITERAL}: c\n",
        "// RUN: kopt %s | filecheck %s --check-prefixes=A,B\n// A-NEXT: x\n// B: y\n// Note: prose\n",
        "// RUN: kopt %s --verify-diagnostics\n// What the CHECK lines would say is no matter here.\n",
    ],
)
def test_sound_files_pass(text: str) -> None:
    """Right directives, several prefixes and prose are no problems."""
    assert problems_in(text) == []


def test_run_lines_join_continuations() -> None:
    """A final backslash continues the command on the next RUN line."""
    assert run_lines("// RUN: kopt %s \\\n// RUN:   -p cse | \\\n// RUN: filecheck %s\n// RUN: kopt\n") == [
        "kopt %s -p cse | filecheck %s",
        "kopt",
    ]


def test_command_lines_are_read_as_a_shell_does() -> None:
    """Quotes, pipes, sequences and redirections."""
    (first, second), (third,) = parse_line("kopt 'a|b{c=1}' 2>&1 | filecheck %s && kopt < in > out 2> err")
    assert first.argv == ["kopt", "a|b{c=1}"] and first.merged
    assert second.argv == ["filecheck", "%s"]
    assert (third.argv, third.stdin, third.stdout, third.stderr) == (["kopt"], "in", "out", "err")
