"""Functions that stand in for what Mosaic lacks, taken from `mosaic` as text.

`mosaic` is ordinary code, tested by itself, but never imported here (it imports jax): its text is cut into functions,
and a kernel's module gets those that it uses, with the functions that those use.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib.resources import files


@cache
def functions() -> dict[str, str]:
    """The text of each function of `mosaic`, by name."""
    text = (files("kopt.lowering.emitted") / "mosaic.py").read_text(encoding="utf-8")
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {function.name: ast.get_source_segment(text, function) or "" for function in functions}
