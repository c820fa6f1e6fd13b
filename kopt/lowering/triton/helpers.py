"""Functions that emitted modules define for themselves where Triton has no portable spelling.

They use arithmetic that the interpreter, CUDA and AMD share (no libdevice), and give the accuracy of the element type.
Series are Taylor's, cut where f32 or f64 no longer sees the next term.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import count
from math import factorial

from xdsl.ir import Operation

from kopt.lowering.names import MODULES, Names
from kopt.lowering.triton.helper_text import TEXT
from kopt.lowering.writer import Writer

_CALL = re.compile(r"\b(_[a-z]\w*)\b")


def _series(variable: str, coefficients: Sequence[float]) -> str:
    """Horner's form of a polynomial, lowest coefficient first."""
    text = repr(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"{coefficient!r} + {variable} * ({text})"
    return text


def _exp_series(terms: int) -> str:
    """``expm1(x) / x``, for ``|x| < 0.5``."""
    return _series("x", [1 / factorial(k) for k in range(1, terms + 1)])


def _atan_series(terms: int) -> str:
    """``atan(x) / x`` in ``z = x * x``, for ``|x| < tan(pi / 8)``."""
    return _series("z", [(-1) ** k / (2 * k + 1) for k in range(terms)])


_SERIES = {
    "EXPM1_F32": _exp_series(8),
    "EXPM1_F64": _exp_series(15),
    "ATAN_F32": _atan_series(10),
    "ATAN_F64": _atan_series(22),
}


@cache
def functions() -> dict[str, str]:
    """The text of each helper function, by name, in an order in which each is defined before its users."""
    text = TEXT
    for name, series in _SERIES.items():
        text = text.replace(name, series)
    bodies = [part.strip() for part in text.split("@triton.jit\n")[1:]]
    return {body[len("def ") : body.index("(")]: body for body in bodies}


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
        return name not in functions() and name not in MODULES and not self._names.is_used(name)

    def print(self, writer: Writer) -> None:
        """Prints the functions that are needed."""
        for name, text in functions().items():
            if name in self._used:
                writer.lines(["", "", "@triton.jit", *text.splitlines()])
        for name, text in self._own.items():
            made = f"@triton.jit\ndef {name}{text}" if text.startswith("(") else f"{name}{text}"
            writer.lines(["", "", *made.splitlines()])
