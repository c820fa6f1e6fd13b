"""How validation is asked for: ``seed,n`` and words, on the command line and in the environment."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

from kopt.errors import ConfigError

#: The environment variable that validates every lowering: ``1``, or options as the command line takes them.
SWITCH = "KOPT_VERIFY_SEMANTICS"
_WORDS = ("exact", "masked", "beyond")


@dataclass(frozen=True)
class Options:
    """``inputs`` sets of arguments made from ``seed``.

    ``ranks`` is how many run a module of several, where it does not say so itself (0: two).
    ``exact`` replaces floats by a finite ring, in which sums in any order are equal; ``masked`` says that the module
    has been through ``insert-masks``, ``beyond`` that its loads may reach beyond their arrays.
    """

    seed: int = 0
    inputs: int = 2
    exact: bool = False
    ranks: int = 0
    masked: bool = False
    beyond: bool = False

    @classmethod
    def parse(cls, text: str) -> Options:
        """Options from ``0,3,exact``; numbers first. Raises `ConfigError`."""
        found, numbers = cls(), []
        for word in filter(None, (part.strip() for part in text.split(","))):
            if (ranks := re.fullmatch(r"ranks=(\d+)", word)) is not None:
                found = replace(found, ranks=int(ranks[1]))
            elif word in _WORDS:
                found = replace(found, **{word: True})
            elif word.isdigit():
                numbers.append(int(word))
            else:
                known = ", ".join(("seed", "n", *_WORDS, "ranks=N"))
                raise ConfigError(f"semantics are verified by {known}, found '{word}'")
        if len(numbers) > 2 or (len(numbers) == 2 and not numbers[1]):
            raise ConfigError(f"semantics are verified by a seed and a number of inputs, found '{text}'")
        return replace(found, **dict(zip(("seed", "inputs"), numbers, strict=False)))

    @classmethod
    def from_environment(cls) -> Options | None:
        """What the environment asks for, None where it asks for nothing."""
        text = os.environ.get(SWITCH, "")
        return None if text in ("", "0") else cls() if text == "1" else cls.parse(text)

    def __str__(self) -> str:
        words = [word for word in _WORDS if getattr(self, word)]
        words += [f"ranks={self.ranks}"] if self.ranks else []
        return ",".join([str(self.seed), str(self.inputs), *words])
