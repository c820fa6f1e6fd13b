"""The modules of lit tests compute the same before and after the passes that they are tests of.

FileCheck compares the lines that a test names; here the interpreter runs all others too, where arrays are small.
"""

from __future__ import annotations

import re
import shlex
from math import prod
from pathlib import Path

import pytest
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp

from kopt.context import make_context
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import ForOp, GridOp
from kopt.errors import KoptError, MeaningError
from kopt.ir.ranges import visits
from kopt.parsing import parse_module
from kopt.pass_manager import parse_pipeline, run
from kopt.validation import Options, Validator
from kopt.walk import walk

FOLDER = Path(__file__).parents[1] / "lit" / "passes"
#: What a function's arrays and loops may have, so that running it takes milliseconds.
MOST_ELEMENTS, MOST_VISITS = 5_000, 32


def pipeline(text: str) -> str | None:
    """The passes of the first command that has passes."""
    for line in re.findall(r"^// RUN: kopt %s (.*)$", text, re.M):
        words = shlex.split(re.split(r" \| | 2>&1", line)[0])
        for word, following in zip(words, [*words[1:], ""], strict=True):
            if word == "-p":
                return following
            if word.startswith("--pass-pipeline="):
                return word.partition("builtin.module(")[2].removesuffix(")")
    return None


def is_small(text: str) -> bool:
    """Whether a module's functions run at once."""
    try:
        module = parse_module(text)
    except KoptError:  # which the lit test expects
        return False
    for func in walk(module, FuncOp):
        shapes = [type.get_shape() for type in func.function_type.inputs if isinstance(type, MemRefType)]
        ranges = [range for op in walk(func, GridOp) for range in op.ranges] + [op.range for op in walk(func, ForOp)]
        trips = [visits(range) for range in ranges]
        if None in trips or walk(func, JaggedForOp):  # made up numbers may make these as long as they like
            return False
        if any(size < 0 for shape in shapes for size in map(_number, shape)):
            return False
        if sum(map(prod, shapes)) > MOST_ELEMENTS or prod(filter(None, trips)) > MOST_VISITS:
            return False
    return True


def _number(size: int) -> int:
    """A size, -1 of an open extent: no arguments are made up for these."""
    return size if type(size) is int else -1


def modules(path: Path) -> list[str]:
    """The small modules of a lit test."""
    return [text for text in re.split(r"^// -----.*$", path.read_text(), flags=re.M) if is_small(text)]


FILES = [path for path in sorted(FOLDER.glob("*.mlir")) if not path.stem.endswith("-errors")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_passes_keep_what_modules_compute(path: Path) -> None:
    passes = pipeline(path.read_text())
    for text in modules(path) if passes else []:
        ranks = re.search(r"ranks=(\d+)", passes or "")
        validator = Validator(Options(0, 1, ranks=int(ranks[1]) if ranks else 0))
        try:
            run(parse_module(text), make_context(), parse_pipeline(passes or ""), instrumentation=[validator])
        except KoptError as error:
            assert "expected-error" in text and not isinstance(error, MeaningError), str(error)
