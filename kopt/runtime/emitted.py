"""Emitted modules in memory: their text is registered so that tracebacks, debuggers and Triton can read it."""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
from types import ModuleType
from typing import Any

from kopt.errors import Location

_SOURCE_COMMENT = re.compile(r"#\s*(?P<file>[^\s:#][^:#]*\.\w+):(?P<line>\d+)(?::(?P<col>\d+))?\s*$")
#: A comment line of the printers: ``# file.py:12``, and the source line after a colon where it could be read.
_COMMENT_LINE = re.compile(r"\s*#\s*(?P<file>[^\s:#][^:#]*\.\w+):(?P<line>\d+)(?P<col>)(?::\s.*)?$")
_WIDE = re.compile(r"\b(u?int64|float64)\b")


def module_name(source: str, entry: str) -> str:
    """A stable module name for an emitted text."""
    return f"kopt_emitted_{entry}_{hashlib.sha256(source.encode()).hexdigest()[:10]}"


def file_name(source: str, entry: str) -> str:
    """The name that tracebacks show for an emitted text."""
    return f"<{module_name(source, entry)}>"


def load_module(source: str, entry: str) -> ModuleType:
    """Execute emitted text as a fresh module whose lines `linecache` and `inspect` know."""
    name, file = module_name(source, entry), file_name(source, entry)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    exec(compile(source, file, "exec"), module.__dict__)
    return module


def needs_wide(source: str, specs: tuple[Any, ...]) -> bool:
    """Whether a module handles 64-bit elements, by its arguments or by what its text names.

    JAX narrows 64-bit values to 32 bits unless told otherwise, so every Pallas executor asks this.
    """
    return any(spec.dtype.bits == 64 for spec in specs) or bool(_WIDE.search(source))


def line_of_error(error: BaseException, file: str) -> int | None:
    """The innermost line of ``file`` in an exception's traceback, or None."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-1] if lines else None


def source_location(source: str, line: int) -> Location | None:
    """The place that an emitted line came from: its trailing ``# file.py:12`` comment, else the last such line above.

    None for a line outside any function, and where the function names no place before it.
    """
    lines = source.splitlines()
    if not 0 < line <= len(lines):
        return None
    match = _SOURCE_COMMENT.search(lines[line - 1])
    for text in reversed(lines[:line]):
        if match is not None or not text.startswith((" ", "\t")) and text.strip():
            break
        match = _COMMENT_LINE.match(text)
    if match is None:
        return None
    return Location(match["file"], int(match["line"]), int(match["col"] or 1))
