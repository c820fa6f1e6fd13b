"""Text from IR in emitted Python: the one place where names become identifiers, and strings literals.

IR may come from strangers. What it calls things is never printed as it is: symbols, name hints and names of groups
become identifiers here, strings literals, and places in comments one line of printable characters.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from functools import cache

from xdsl.ir import SSAValue

from kopt.lowering.emitted import pallas, triton

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
#: Python reads some other letters as these: whatever is not ASCII is replaced.
_NOT_WORD = re.compile(r"[^A-Za-z0-9_]+")
_DUNDER = re.compile(r"__\w*__\Z")
#: The longest identifier; longer texts are cut.
_LONGEST = 80

_KEYWORDS = frozenset((*keyword.kwlist, *keyword.softkwlist))
_BUILTINS = frozenset(dir(builtins))
#: What emitted modules import, under these names.
MODULES = ("jax", "jnp", "lax", "pl", "pltpu", "P", "functools", "torch", "triton", "tl", "dist", "symm_mem")
#: The builtins that emitted modules use, and the class that some define.
_USED = (
    "ValueError abs any bool enumerate float int isinstance iter len list max min next range sum tuple zip Captured"
).split()


class Names:
    """Python identifiers for SSA values: from their name hints, made valid and unique.

    ``reserved`` are names that the emitted code uses for itself, besides keywords and builtins.
    """

    def __init__(self, reserved: Iterable[str] = ()):
        self._used = {*_KEYWORDS, *_BUILTINS, *reserved}
        self._names: dict[SSAValue, str] = {}
        self._next: dict[str, int] = {}

    def fresh(self, hint: str | None, default: str = "v") -> str:
        """A new identifier like ``hint``."""
        base = _cleaned(hint or "", default)
        name, number = base, self._next.get(base, 1)
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._next[base] = number
        self._used.add(name)
        return name

    def reserve(self, name: str) -> None:
        """Nothing else is called so from now on."""
        self._used.add(name)

    def is_used(self, name: str) -> bool:
        """Whether something has that name, or may have it in Python."""
        return name in self._used

    def public(self, symbol: str) -> str:
        """The name of a module's public function (`public_name`), which nothing else is called then."""
        name = public_name(symbol)
        self._used.add(name)
        return name

    def bind(self, value: SSAValue, hint: str | None = None) -> str:
        """Gives a value its identifier: from ``hint``, else from its own name hint."""
        name = self.fresh(hint or value.name_hint)
        self._names[value] = name
        return name

    def alias(self, value: SSAValue, expression: str) -> None:
        """Lets a value be spelt by an expression or by a name that exists already."""
        self._names[value] = expression

    def __getitem__(self, value: SSAValue) -> str:
        return self._names[value]


@cache
def public_name(symbol: str) -> str:
    """The name of the public function that is emitted for a symbol: the same in the module of every target.

    It is the symbol itself wherever Python can have a function of that name in a module that imports and uses what
    emitted modules do.
    """
    plain = is_identifier(symbol) and len(symbol) <= _LONGEST and not _DUNDER.match(symbol)
    if plain and symbol not in _reserved():
        return symbol
    return Names(_reserved()).fresh(symbol, "kernel")


def is_identifier(text: str) -> bool:
    """Whether a text from IR may stand as a name in emitted code."""
    return bool(_IDENTIFIER.match(text)) and text not in _KEYWORDS


def quoted(text: str) -> str:
    """A text from IR as a Python literal in double quotes, of ASCII characters."""
    escaped = text.encode("unicode_escape", "surrogatepass").decode("ascii")
    return '"' + escaped.replace('"', '\\"') + '"'


def one_line(text: str) -> str:
    """A text made safe to stand in a comment: one line of printable characters."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _cleaned(text: str, default: str) -> str:
    """An identifier like a text, with no underscore around it: names that begin with one are helpers'."""
    base = _NOT_WORD.sub("_", text[: 4 * _LONGEST]).strip("_")[: _LONGEST - 8].strip("_") or default
    return base if _IDENTIFIER.match(base) else f"{default}_{base}"


@cache
def _reserved() -> frozenset[str]:
    """What no public function may be called."""
    return frozenset(("_", *_KEYWORDS, *MODULES, *_USED, *pallas.functions(), *triton.functions()))
