"""Functions that stand in for what Mosaic lacks, taken from `mosaic` and `mosaic_lanes` as text.

Both are ordinary code, tested by itself, but never imported here (they import jax): their text is cut into functions,
and a kernel's module gets those that it uses, with the functions that those use.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

_FILES = ("mosaic.py", "mosaic_lanes.py")
_HELPER = re.compile(r"(?<![\w.])_[a-z]\w*(?=\()")


@cache
def functions() -> dict[str, str]:
    """The text of each function, by name."""
    return {name: text for file in _FILES for name, text in _functions_of(file)}


def _functions_of(file: str) -> Iterator[tuple[str, str]]:
    text = (files("kopt.lowering.emitted") / file).read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, ast.get_source_segment(text, node) or ""


@cache
def closure(name: str) -> tuple[str, ...]:
    """A function and those that it uses, those first."""
    body = functions()[name]
    used = [other for other in dict.fromkeys(_HELPER.findall(body)) if other != name and other in functions()]
    order = [needed for other in used for needed in closure(other)]
    return tuple(dict.fromkeys([*order, name]))
