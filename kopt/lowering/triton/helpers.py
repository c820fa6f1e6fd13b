"""The functions that one emitted Triton module defines: helpers that its ops call, and those of the author's."""

from __future__ import annotations

import re
from itertools import count

from xdsl.ir import Operation

from kopt.lowering.emitted.triton import functions
from kopt.lowering.names import MODULES, Names
from kopt.lowering.writer import Writer

_CALL = re.compile(r"\b(_[a-z]\w*)\b")
#: What the names of block sizes begin with: kernels have these for themselves.
BLOCK = "BLOCK_"


class Helpers:
    """The helper functions that a module needs."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._used: set[str] = set()
        self._own: dict[str, str] = {}
        self.callees: dict[Operation, str] = {}
        """The functions of the author's that ops call."""

    @property
    def own(self) -> tuple[str, ...]:
        """The names of functions and constants that are no helpers."""
        return tuple(self._own)

    def use(self, name: str) -> str:
        """Notes that a function and those it calls are needed; gives its name."""
        if name not in self._used:
            self._used.add(name)
            for called in _CALL.findall(functions()[name]):
                if called in functions():
                    self.use(called)
        return name

    def add(self, hint: str, text: str) -> str:
        """Notes a kernel's own function, whose text begins with its parameters, or a constant; gives its name."""
        names = (f"{hint}_{number}" if number > 1 else hint for number in count(1))
        name = next(name for name in names if self._is_free(name, text))
        self._own[name] = text
        self._names.reserve(name)
        return name

    def _is_free(self, name: str, text: str) -> bool:
        """Whether a name stands for a text already, or for nothing."""
        if name in self._own:
            return self._own[name] == text
        taken = name in functions() or name in MODULES or self._names.is_used(name)
        return not (taken or name.startswith(BLOCK))

    def print(self, writer: Writer) -> None:
        """Prints the functions that are needed."""
        for name, text in functions().items():
            if name in self._used:
                writer.lines(["", "", "@triton.jit", *text.splitlines()])
        for name, text in self._own.items():
            made = f"@triton.jit\ndef {name}{text}" if text.startswith("(") else f"{name}{text}"
            writer.lines(["", "", *made.splitlines()])
