"""Functions of the emitted module that stand in for what Mosaic lacks, taken from `library` as text.

`library` is ordinary code, tested by itself, but never imported here (it imports jax): its text is cut into functions,
and a kernel's module gets those that it uses, with the functions that those use.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib.resources import files

from kopt.lowering.pallas.printing import Printing

_HELPER = re.compile(r"(?<![\w.])_[a-z]\w*(?=\()")


@cache
def library() -> dict[str, str]:
    """The text of each function of `library`, by name."""
    text = (files("kopt.lowering.pallas.values") / "library.py").read_text(encoding="utf-8")
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {function.name: ast.get_source_segment(text, function) or "" for function in functions}


@cache
def _closure(name: str) -> tuple[str, ...]:
    """A function and those that it uses, those first."""
    body = library()[name]
    used = [other for other in dict.fromkeys(_HELPER.findall(body)) if other != name and other in library()]
    order = [needed for other in used for needed in _closure(other)]
    return tuple(dict.fromkeys([*order, name]))


def with_helpers(expression: str, printing: Printing) -> str:
    """The expression as it is, after asking for the functions of `library` that it calls."""
    for name in _HELPER.findall(expression):
        if name in library():
            use_helper(name, printing)
    return expression


def use_helper(name: str, printing: Printing) -> str:
    """Asks for one function of `library` and those that it uses; gives its name."""
    for needed in _closure(name):
        printing.helper(needed, library()[needed])
    return name
