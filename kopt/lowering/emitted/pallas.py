"""Functions that stand in for what Mosaic lacks, taken from `mosaic` as text.

`mosaic` is ordinary code, tested by itself, but never imported here (it imports jax): its text is cut into functions,
and a kernel's module gets those that it uses, with the functions that those use.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib.resources import files

_HELPER = re.compile(r"(?<![\w.])_[a-z]\w*(?=\()")


@cache
def functions() -> dict[str, str]:
    """The text of each function of `mosaic`, by name."""
    text = (files("kopt.lowering.emitted") / "mosaic.py").read_text(encoding="utf-8")
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {function.name: ast.get_source_segment(text, function) or "" for function in functions}


@cache
def closure(name: str) -> tuple[str, ...]:
    """A function and those that it uses, those first."""
    body = functions()[name]
    used = [other for other in dict.fromkeys(_HELPER.findall(body)) if other != name and other in functions()]
    order = [needed for other in used for needed in closure(other)]
    return tuple(dict.fromkeys([*order, name]))
