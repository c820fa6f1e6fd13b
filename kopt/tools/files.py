"""Reading and writing of the command's files: whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile

from kopt.errors import ConfigError, Location, ParseError


def read_input(path: str) -> tuple[str, str]:
    """The name to show and the text of ``path``, ``-`` being stdin. Raises ``kopt.KoptError``."""
    name = "<stdin>" if path == "-" else path
    try:
        if path == "-":
            return name, sys.stdin.read()
        with open(path, encoding="utf-8") as file:
            return name, file.read()
    except OSError as error:
        raise ConfigError(f"cannot read '{path}': {error.strerror}", id="file") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ParseError(f"not UTF-8 text: {error.reason}", Location(name, line), source="", id="file") from error


def write_output(path: str, text: str) -> None:
    """Write ``text`` to ``path``, ``-`` being stdout; a file appears complete or stays as it was."""
    if path == "-":
        sys.stdout.write(text)
        return
    if os.path.exists(path) and not os.path.isfile(path):
        # A device or a pipe cannot be replaced: write into it.
        _write(path, text)
        return
    folder = os.path.dirname(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".kopt-")
    except OSError as error:
        raise ConfigError(f"cannot write '{path}': {error.strerror}", id="file") from error
    os.close(handle)
    _write(temporary, text)
    os.chmod(temporary, 0o666 & ~_umask())
    os.replace(temporary, path)


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(f"cannot write '{path}': {error.strerror}", id="file") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
