"""Parsing of command lines whose mistakes are shown like those in a source file."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import NoReturn

from kopt.errors import ConfigError, Location


def usage_error(argv: Sequence[str], culprit: str, message: str, prog: str = "kopt") -> ConfigError:
    """An error about the argument ``culprit``, pointing at it in the command line."""
    words = [shlex.quote(word) for word in (*prog.split(), *argv)]
    index = next((i for i in reversed(range(len(words))) if culprit and culprit in words[i]), 0)
    col = sum(len(word) + 1 for word in words[:index]) + 1
    where = Location("<command line>", 1, col, col + len(words[index]))
    return ConfigError(message, where, source=" ".join(words).replace("\n", " "))


class ArgumentParser(argparse.ArgumentParser):
    """An argparse parser that raises ``kopt.ConfigError`` with a caret, and never abbreviates options."""

    def __init__(self, **kwargs):
        super().__init__(allow_abbrev=False, **kwargs)
        self._argv: Sequence[str] = ()

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """The parsed arguments; unknown ones are errors."""
        self._argv = argv
        return self.parse_args(list(argv))

    def error(self, message: str) -> NoReturn:
        """Raise the complaint of argparse about the argument that it mentions."""
        mentioned = [word for word in self._argv if word and word.split("=")[0] in message]
        culprit = mentioned[-1] if mentioned else ""
        raise usage_error(self._argv, culprit.split("=")[0], message, self.prog)
