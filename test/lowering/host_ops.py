"""Host functions of one operation, and the lines that they become."""

from __future__ import annotations

import re
from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from kopt import parse

ARRAYS = {
    "x": "6x8xf32", "y": "6x8xf32", "w": "4x8xf32", "q": "2x3xf32", "b": "4x8xbf16", "i": "6x8xi32", "k": "2x3xi32",
    "n": "4xi32", "m": "6x8xi1", "r": "6xi1", "s": "f32", "t": "f32", "one": "1xf32",
}  # fmt: skip


def body(print_module: Callable[[ModuleOp, str], str], line: str, results: str) -> str:
    """The lines of a function of one operation, but for what it returns."""
    arguments = ", ".join(f"%{name}: memref<{type}>" for name, type in ARRAYS.items())
    given = line.split(" = ")[0]
    text = f"func.func @f({arguments}) -> ({results}) {{\n{line}\nfunc.return {given} : {results}\n}}"
    lines = print_module(parse(text), "f").split("def f(")[1].splitlines()[1:]
    plain = [re.sub(r" *# <string>:\d+$", "", line).strip() for line in lines]
    return "; ".join(line for line in plain if line and not line.startswith("return o"))


def call(name: str, inputs: str, arguments: str, types: str) -> tuple[str, str]:
    """A call of an operator, and the types of its results."""
    taken = ", ".join(f"memref<{ARRAYS[each]}>" for each in inputs.split())
    given = ", ".join(f"memref<{each}>" for each in types.split(";"))
    results = ", ".join(f"%o{n}" for n in range(len(types.split(";"))))
    operands = ", ".join(f"%{each}" for each in inputs.split())
    return f'{results} = host.call "aten.{name}"({operands}) args [{arguments}] : ({taken}) -> ({given})', given
