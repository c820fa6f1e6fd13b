"""Mutants of IR texts: tokens, numbers, types, values, words and lines that are replaced, moved, doubled or gone."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]

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
