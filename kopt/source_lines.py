"""Lines of source files that locations name: IR may name any path, so only sources are opened."""

from __future__ import annotations

import inspect
import linecache
import os
import stat
from collections.abc import Callable
from typing import Any

#: What a location in IR can make kopt open and show: files of these kinds, up to this many bytes.
_KINDS = (".py", ".mlir")
_LARGEST = 1 << 24


def source_line(file: str, line: int) -> str:
    """A line of a source file without the space around it, or nothing where there is none."""
    if line > 0 and (file in linecache.cache or _is_source(file)):
        return linecache.getline(file, line).strip("\n")
    return ""


def source_lines(file: str) -> list[str]:
    """All lines of a source file, or none where there is no such file."""
    if file in linecache.cache or _is_source(file):
        return [line.rstrip("\n") for line in linecache.getlines(file)]
    return []


def register(file: str, text: str) -> None:
    """The text behind a name, for locations of what is no file, or no file of these kinds."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def _is_source(file: str) -> bool:
    """Whether a path is a regular file of sources: no device or pipe, which might never end."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST and file.endswith(_KINDS)


def source_of(fn: Callable[..., Any]) -> str:
    """The text of a function; empty where no file has it."""
    try:
        return inspect.getsource(fn).rstrip()
    except OSError:
        return ""
