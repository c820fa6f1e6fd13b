"""Runs lit tests inside this process: 8 ms a test where spawning ``kopt`` and ``filecheck`` takes 300.

A test is a file with ``RUN:`` lines of a small shell language: pipes, ``&&``, ``;``, ``< > >> 2> 2>&1``, quotes, a line
continued by a final ``\\``. ``kopt`` and ``filecheck`` run in-process; ``spawn kopt …``, ``python …`` (the one that
runs the tests) and any other command in a process of their own. ``not CMD`` wants exit code 1 (a user's mistake),
``not --crash CMD`` wants 70 (a bug of kopt's).

Substitutions: ``%s`` the test, ``%S`` its folder, ``%t`` a file of its own, ``%T`` the folder that it runs in,
``%{root}`` the folder that the configuration names. ``REQUIRES: jax, triton`` skips the test where a module is not
installed.
"""

from __future__ import annotations

import importlib.util
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from kopt.testing.directives import problems_in

SUFFIXES = (".mlir", ".test")
SPAWN_TIMEOUT_S = 120
USER_ERROR, CRASH = 1, 70

#: Where kopt is imported from.
_KOPT = str(Path(__file__).resolve().parents[2])
_RUN = re.compile(r"\bRUN:\s*(.*?)\s*$", re.MULTILINE)
_REQUIRES = re.compile(r"\bREQUIRES:\s*(.*?)\s*$", re.MULTILINE)


@dataclass
class Outcome:
    """What became of a test: passed, or why not, or which module it lacks."""

    log: str = ""
    failed: bool = False
    missing: str | None = None


@dataclass
class Stage:
    """One command of a pipeline and where its streams go."""

    argv: list[str] = field(default_factory=list)
    stdin: str | None = None
    stdout: str | None = None
    append: bool = False
    stderr: str | None = None
    merged: bool = False


@dataclass
class CommandResult:
    """What a command did."""

    code: int
    out: str = ""
    err: str = ""


def run_file(path: Path, root: Path | None = None) -> Outcome:
    """Run one test in an empty folder of its own; ``root`` is ``%{root}``, by default the test's folder."""
    text = path.read_text(encoding="utf-8")
    if problems := problems_in(text):
        return Outcome("\n".join(f"{path}:{line}: {what}" for line, what in problems), failed=True)
    if (missing := _missing_module(text)) is not None:
        return Outcome(missing=missing)
    with tempfile.TemporaryDirectory(prefix="kopt-lit-") as folder, chdir(folder):
        substitutions = _substitutions(path, folder, root or path.parent)
        for line in run_lines(text):
            log = _run_line(line, substitutions)
            if log is not None:
                return Outcome(f"RUN: {line}\n{log}", failed=True)
    return Outcome()


def run_lines(text: str) -> list[str]:
    """The command lines of a test, continuations joined."""
    lines: list[str] = []
    continued = False
    for line in _RUN.findall(text):
        body = line.removesuffix("\\").rstrip()
        lines[-1:] = [f"{lines[-1]} {body}"] if continued else [*lines[-1:], body]
        continued = line.endswith("\\")
    return lines


def _missing_module(text: str) -> str | None:
    names = [name.strip() for found in _REQUIRES.findall(text) for name in found.split(",")]
    return next((name for name in names if importlib.util.find_spec(name) is None), None)


def _substitutions(path: Path, folder: str, root: Path) -> dict[str, str]:
    return {
        "%{root}": str(root),
        "%s": str(path),
        "%S": str(path.parent),
        "%t": os.path.join(folder, path.name + ".tmp"),
        "%T": folder,
        "%%": "%",
    }


def _run_line(line: str, substitutions: dict[str, str]) -> str | None:
    """None where every pipeline of the line succeeds, else what the failing one said."""
    pattern = re.compile("|".join(map(re.escape, substitutions)))
    for pipeline in parse_line(line):
        for stage in pipeline:
            stage.argv = [pattern.sub(lambda m: substitutions[m[0]], word) for word in stage.argv]
            for stream in ("stdin", "stdout", "stderr"):
                if (name := getattr(stage, stream)) is not None:
                    setattr(stage, stream, pattern.sub(lambda m: substitutions[m[0]], name))
        if (log := _run_pipeline(pipeline)) is not None:
            return log
    return None


def parse_line(line: str) -> list[list[Stage]]:
    """A command line as pipelines of stages."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = list(lexer)
    pipelines = [[Stage()]]
    while words:
        _take(words, pipelines)
    return pipelines


def _take(words: list[str], pipelines: list[list[Stage]]) -> None:
    """Consume one word, or one operator with what belongs to it."""
    stage = pipelines[-1][-1]
    word = words.pop(0)
    if word == "2" and words[:2] == [">&", "1"]:
        del words[:2]
        stage.merged = True
    elif word == "2" and words[:1] == [">"]:
        stage.stderr = words[1]
        del words[:2]
    elif word == "|":
        pipelines[-1].append(Stage())
    elif word in ("&&", ";"):
        pipelines.append([Stage()])
    elif word == "<":
        stage.stdin = words.pop(0)
    elif word in (">", ">>"):
        stage.stdout, stage.append = words.pop(0), word == ">>"
    elif set(word) <= set("|&;<>"):
        raise ValueError(f"kopt.testing does not know the shell operator '{word}'")
    else:
        stage.argv.append(word)


def _run_pipeline(pipeline: list[Stage]) -> str | None:
    """Run the stages one after the other; every stage has to succeed, as in lit."""
    data = ""
    for stage in pipeline:
        if stage.stdin is not None:
            data = Path(stage.stdin).read_text(encoding="utf-8")
        result = run_command(stage.argv, data, stage.merged)
        if result.code != 0:
            said = "\n".join(filter(None, (result.out, result.err)))
            return f"exit code {result.code} of: {shlex.join(stage.argv)}\n{said}"
        data = result.out
        if stage.stderr is not None:
            Path(stage.stderr).write_text(result.err, encoding="utf-8")
        if stage.stdout is not None:
            with open(stage.stdout, "a" if stage.append else "w", encoding="utf-8") as file:
                file.write(data)
            data = ""
    return None


def run_command(argv: list[str], data: str = "", merged: bool = False) -> CommandResult:
    """Runs a command, kopt and filecheck in this process; ``merged`` puts its errors into its output."""
    match argv:
        case ["not", "--crash", *rest]:
            return _inverted(run_command(rest, data, merged), CRASH)
        case ["not", *rest]:
            return _inverted(run_command(rest, data, merged), USER_ERROR)
        case ["kopt", *rest]:
            return _in_process(lambda: _kopt(rest), data, merged)
        case ["filecheck", *rest]:
            return _in_process(lambda: _filecheck(rest), data, merged)
        case ["spawn", "kopt", *rest]:
            return _spawn([sys.executable, "-m", "kopt.tools.main", *rest], data, merged)
        case ["python", *rest]:
            return _spawn([sys.executable, *rest], data, merged)
        case _:
            return _spawn(argv, data, merged)


def _inverted(result: CommandResult, wanted: int) -> CommandResult:
    result.err += f"\n(exit code {wanted} was wanted, {result.code} came)" if result.code != wanted else ""
    result.code = int(result.code != wanted)
    return result


def _kopt(argv: list[str]) -> int:
    from kopt.tools.main import main

    return main(argv)


def _filecheck(argv: list[str]) -> int:
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options

    return Matcher.from_opts(parse_argv_options(["filecheck", *argv])).run()


def _in_process(call: Callable[[], int], data: str, merged: bool) -> CommandResult:
    """Call a tool's main function with its standard streams replaced."""
    out = io.StringIO()
    err = out if merged else io.StringIO()
    stdin, sys.stdin = sys.stdin, io.StringIO(data)
    linecache.checkcache()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = call()
    finally:
        sys.stdin = stdin
    return CommandResult(code, out.getvalue(), "" if merged else err.getvalue())


def _spawn(argv: list[str], data: str, merged: bool) -> CommandResult:
    """Run a command in a process of its own, with kopt importable."""
    path = os.pathsep.join(filter(None, (_KOPT, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        argv,
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=SPAWN_TIMEOUT_S,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr or "")
