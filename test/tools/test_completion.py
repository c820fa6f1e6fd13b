"""Completion as the shell does it: a command line, and what a press of Tab offers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

import pytest

from kopt.tools.completion import PARSERS, script
from kopt.tools.main import COMMANDS

#: bash hands over words that end at ``=`` and ``:`` too; the script must not go by these.
_ASK = """
COMP_LINE=$1 COMP_POINT=${#1}
COMP_WORDS=($(echo "$1" | sed 's/[=:]/ & /g')); [[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_kopt
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def offered() -> Callable[[str], list[str]]:
    """What bash offers at the end of a line."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    text = script("bash") + _ASK

    def ask(line: str) -> list[str]:
        done = subprocess.run([bash, "-c", text, "bash", line], capture_output=True, text=True, timeout=20)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout.split()

    return ask


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kopt rep", ["report"]),
        ("kopt f.mlir rep", []),
        ("kopt f.mlir --dump", ["--dump-pass-pipeline"]),
        ("kopt f.mlir -p canonicali", ["canonicalize"]),
        ("kopt f.mlir -p cse,pallas-tpu", ["cse,pallas-tpu7x"]),
        ("kopt f.mlir --pass-pipeline=cse,canonicali", ["cse,canonicalize"]),
        ("kopt f.mlir -t triton", ["triton-py"]),
        ("kopt run f.py:g --target pallas:v6", ["v6e"]),
        ("kopt run f.py:g --target=triton:sm9", ["sm90"]),
        ("kopt report f.py:g --target pallas:v6e,triton:sm9", ["sm90"]),
        ("kopt run f.py:g --che", ["--check"]),
        ("kopt explain f.py:g --target pallas:v6", ["v6e"]),
        ("kopt explain f.py:g --term", ["--terminal"]),
        ("kopt cache cl", ["clear"]),
        ("kopt completion z", ["zsh"]),
        ("kopt f.mlir -o f.ml", []),
        ("kopt run exam", []),
    ],
)
def test_what_is_offered(offered: Callable[[str], list[str]], line: str, words: list[str]) -> None:
    """Options, values, lists of values and commands; the shell offers files where it is none of these."""
    assert offered(line) == words


def test_every_command_is_completed() -> None:
    """A new subcommand has to bring its parser."""
    assert {*PARSERS} == {"", *COMMANDS}


def test_zsh_runs_the_same_completion() -> None:
    """By its own support for bash's."""
    head, mark, body = script("zsh").partition("_kopt() {")
    assert "bashcompinit" in head and mark + body == script("bash")[script("bash").index(mark) :]
