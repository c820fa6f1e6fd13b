"""Parsing of command lines whose mistakes are shown like those in a source file."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Sequence
from typing import NoReturn, TextIO, TypeVar

from kopt.errors import ConfigError, KoptError, Location
from kopt.registry import did_you_mean

ErrorT = TypeVar("ErrorT", bound=KoptError)


def usage_error(argv: Sequence[str], culprit: str, message: str, prog: str = "kopt") -> ConfigError:
    """An error about the argument ``culprit``, pointing at it in the command line."""
    return place(ConfigError(message, id="command-line"), argv, culprit, prog)


def place(error: ErrorT, argv: Sequence[str], culprit: str | None = None, prog: str = "kopt") -> ErrorT:
    """Point an error at the argument ``culprit``; by default at the one that its message quotes."""
    words = [shlex.quote(word) for word in (*prog.split(), *argv)]
    suspects = re.findall(r"'([^']+)'", error.message) if culprit is None else [culprit]
    last_first = range(len(words) - 1, 0, -1)
    plain = (*prog.split(), *argv)
    index = next((i for suspect in suspects for i in last_first if _mentions(plain[i], suspect)), 0)
    col = sum(len(word) + 1 for word in words[:index]) + 1
    error.location = Location("<command line>", 1, col, col + len(words[index]))
    error.source = " ".join(words).replace("\n", " ")
    return error


def shows_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal that shows colours, and nobody asked for none (``NO_COLOR``)."""
    return stream.isatty() and "NO_COLOR" not in os.environ


def _mentions(word: str, suspect: str) -> bool:
    """Whether the argument is the suspect, or has it as a part: ``--target=NAME``, ``FILE:NAME``, ``a,b``."""
    return bool(suspect) and (word == suspect or word.endswith(f"={suspect}") or suspect in re.split("[=,:@]", word))


class ArgumentParser(argparse.ArgumentParser):
    """An argparse parser that raises ``kopt.ConfigError`` with a caret, and never abbreviates options."""

    def __init__(self, **kwargs):
        super().__init__(allow_abbrev=False, **kwargs)
        self._argv: Sequence[str] = ()

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """The parsed arguments; unknown ones are errors."""
        self._argv = argv
        return self.parse_intermixed_args(list(argv))

    def error(self, message: str) -> NoReturn:
        """Raise the complaint of argparse about the argument that it mentions."""
        mentioned = [word for word in self._argv if word and word.split("=")[0] in message]
        culprit = (mentioned[-1] if mentioned else "").split("=")[0]
        unknown = culprit.startswith("-") and culprit not in self._option_string_actions
        close = did_you_mean(culprit, self._option_string_actions) if unknown else ""
        raise usage_error(self._argv, culprit, message + close, self.prog)
