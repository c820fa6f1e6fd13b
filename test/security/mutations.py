"""Mutants of IR texts, and what becomes of them on the way to every target: a result, or an error of kopt's.

``python test/security/mutations.py [SEED [NUMBER]]`` runs mutants and shows those that end in anything else, grouped
by the innermost place in kopt.
"""

from __future__ import annotations

import random
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TARGETS = ("reference", "pallas:v6e", "triton:sm90")
#: No mutant takes longer: texts are short.
SECONDS = 20

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@!#^]?[A-Za-z_$][\w$.]*|\d+(?:\.\d+)?|->|[^\s\w]')
_NUMBERS = ["0", "1", "-1", "2", "3", "7", "64", "128", "1000", "4096", "2147483647", "2147483648", "-2147483649",
            "9223372036854775808", "1e30", "0x10", "100000000000000000000", "0.5"]  # fmt: skip
_TYPES = (
    "f32 f16 bf16 i1 i8 i32 i64 index f64 i2147483648 i0 none ui8 f8E4M3FN tensor<4xf32> memref<?xf32> memref<*xf32> "
    "!tile.tile<f32> vector<4xf32> complex<f32>"
).split()


def texts() -> list[str]:
    """The IR that mutants are made of: the examples, and the pieces of the lit tests."""
    files = [*ROOT.glob("examples/ir/*.mlir"), *ROOT.glob("test/lit/**/*.mlir")]
    pieces = [piece for file in sorted(files) for piece in file.read_text().split("// -----")]
    plain = ["\n".join(line for line in piece.split("\n") if not line.lstrip().startswith("//")) for piece in pieces]
    return [text for text in plain if "func.func" in text and len(text) < 6000]


def mutant(sources: Sequence[str], random: random.Random) -> str:
    """One of the texts with some mutations."""
    text = random.choice(sources)
    for _ in range(random.choice([1, 1, 1, 2, 2, 3, 5])):
        text = random.choice(MUTATIONS)(text, random)
    return text


def _token(text: str, random: random.Random, pattern: re.Pattern[str] = _TOKEN) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return random.choice(found) if found else None


def _replaced(text: str, match: re.Match[str] | None, new: str) -> str:
    return text if match is None else text[: match.start()] + new + text[match.end() :]


def _delete(text: str, random: random.Random) -> str:
    return _replaced(text, _token(text, random), "")


def _double(text: str, random: random.Random) -> str:
    match = _token(text, random)
    return _replaced(text, match, f"{match[0]} {match[0]}") if match else text


def _swap(text: str, random: random.Random) -> str:
    match, other = _token(text, random), _token(text, random)
    return _replaced(text, match, other[0]) if other else text


def _number(text: str, random: random.Random) -> str:
    return _replaced(text, _token(text, random, re.compile(r"(?<![%@\w.])\d+|(?<=[x=])\d+")), random.choice(_NUMBERS))


def _type(text: str, random: random.Random) -> str:
    return _replaced(
        text, _token(text, random, re.compile(r"\b(?:f32|f16|bf16|i1|i32|i64|index)\b")), random.choice(_TYPES)
    )


def _value(text: str, random: random.Random) -> str:
    """Another value, defined before, after, or in another region."""
    pattern = re.compile(r"%[A-Za-z_][\w.]*")
    match, other = _token(text, random, pattern), _token(text, random, pattern)
    return _replaced(text, match, other[0]) if other else text


def _word(text: str, random: random.Random) -> str:
    """Another word of the text's: an op's name, a keyword, a kind."""
    pattern = re.compile(r"(?<![%@!#\w.])[a-z_]+(?:\.[a-z_]+)?\b")
    match, other = _token(text, random, pattern), _token(text, random, pattern)
    return _replaced(text, match, other[0]) if other else text


def _string(text: str, random: random.Random) -> str:
    new = random.choice(['""', '"\\0A"', '"' + "a" * 3000 + '"', '"jnp"', '"\\22; import os"', "@x", '"tp"'])
    return _replaced(text, _token(text, random, re.compile(r'"[^"]*"|@\w+')), new)


def _lines(change: Callable[[list[str], random.Random], None]) -> Callable[[str, random.Random], str]:
    def changed(text: str, random: random.Random) -> str:
        lines = text.split("\n")
        change(lines, random)
        return "\n".join(lines)

    return changed


def _move(lines: list[str], random: random.Random) -> None:
    lines.insert(random.randrange(len(lines)), lines.pop(random.randrange(len(lines))))


def _repeat(lines: list[str], random: random.Random) -> None:
    line = random.randrange(len(lines))
    lines[line:line] = [lines[line]] * random.choice([1, 1, 1, 20])


def _drop(lines: list[str], random: random.Random) -> None:
    lines.pop(random.randrange(len(lines)))


def _attribute(text: str, random: random.Random) -> str:
    """One more attribute, of an op's own or of none."""
    deep = "[" * 60 + "]" * 60
    extra = random.choice(
        ["{a = 1}", "{keywords = [1]}", f"{{a = {deep}}}", "{mask}", "{kind = 3 : i64}", "{dims = 7}"]
    )
    return _replaced(text, _token(text, random, re.compile(r" : ")), f" {extra} : ")


def _location(text: str, random: random.Random) -> str:
    place = random.choice(['"x\\0Aimport os.py":1:1', '"a":-1:0', '"/dev/zero":1:1', "unknown", '"n"("a":1:1)'])
    return _replaced(text, _token(text, random, re.compile(r"$", re.M)), f" loc({place})")


MUTATIONS: list[Callable[[str, random.Random], str]] = [
    _delete, _double, _swap, _number, _number, _number, _type, _type, _value, _value, _value, _word, _word, _string,
    _lines(_move), _lines(_move), _lines(_repeat), _lines(_drop), _attribute, _location,
]  # fmt: skip


class Hang(BaseException):
    """A mutant takes too long."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises `Hang`, once, where the main thread computed for so long; other threads count for nothing."""
    until: float | None = time.thread_time() + seconds

    def stop(*_: Any) -> None:
        nonlocal until
        if until is None:
            return
        if (left := until - time.thread_time()) > 0:
            signal.setitimer(signal.ITIMER_PROF, left)
            return
        until = None
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    finally:
        until = None
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN if before == signal.SIG_DFL else before)


def travel(text: str) -> None:
    """Parses a text and lowers each of its functions for every target, and runs it by the reference.

    Raises what is no `kopt.KoptError`; those are answers.
    """
    import kopt

    try:
        module = kopt.parse(text)
    except kopt.KoptError as error:
        _check_error(error)
        return
    for op in module.ops:
        if op.name == "func.func" and op.body.blocks:
            for target in TARGETS:
                try:
                    _lower(module, op.sym_name.data, target)
                except kopt.KoptError as error:
                    _check_error(error)


def _lower(module: Any, entry: str, target: str) -> None:
    import ast

    import kopt
    from kopt.interpreter import run

    lowered = kopt.lower_module(module, entry, target, allow_inline=True)
    if target != "reference":
        ast.parse(lowered.source)
        return
    arrays = small_arrays(module, entry)
    if arrays is not None:
        run(lowered.module, entry, arrays)


def small_arrays(module: Any, entry: str) -> list[Any] | None:
    """Arrays for a function's arguments, or None where they are many elements or none that kopt makes."""
    import numpy as np
    from xdsl.dialects.builtin import MemRefType

    from kopt.analysis.entry import entry_function
    from kopt.interpreter.rounding import numpy_type

    arrays = []
    for type in entry_function(module, entry).function_type.inputs:
        if not isinstance(type, MemRefType) or not 0 <= np.prod(type.get_shape(), dtype=float) <= 1 << 16:
            return None
        arrays.append(np.ones(type.get_shape(), numpy_type(type.element_type)))
    return arrays


def _check_error(error: Any) -> None:
    """An error says something, briefly, in one piece."""
    assert str(error) and "Traceback" not in str(error)


def failure(text: str, seconds: float = SECONDS) -> str | None:
    """Where a text ends in anything but a result or an error of kopt's: the exception and the innermost frame."""
    try:
        with time_limit(seconds):
            travel(text)
    except Hang as hang:
        return f"hang at {_frame(hang)}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:100]!r} at {_frame(error)}"
    return None


def _frame(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f"{ROOT}/kopt/" in f.filename]
    if not frames:
        return "no frame of kopt"
    return f"{frames[-1].filename.removeprefix(str(ROOT) + '/')}:{frames[-1].lineno} {frames[-1].name}"


def explore(seed: int, number: int) -> dict[str, list[str]]:
    """The failing mutants, by failure."""
    generator, sources = random.Random(seed), texts()
    found: dict[str, list[str]] = {}
    for _ in range(number):
        text = mutant(sources, generator)
        if (what := failure(text)) is not None:
            found.setdefault(what, []).append(text)
    return found


def main() -> None:
    """Explores for ever, or some mutants of a seed, and shows each new failure when it is met."""
    first, number = (*map(int, sys.argv[1:]), *(random.SystemRandom().randrange(1 << 30), 0)[len(sys.argv) - 1 :])
    met: set[str] = set()
    for seed in range(first, first + 1) if number else count(first):
        print(f"seed {seed}", flush=True)
        for what, mutants in explore(seed, number or 500).items():
            if what not in met:
                met.add(what)
                print(f"=== {what}\n{min(mutants, key=len)}", flush=True)


if __name__ == "__main__":
    main()
