"""Calls of the author's own Triton functions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from kopt.dialects import triton
from kopt.dialects.tile import tile_type
from kopt.lowering.expr import Expr
from kopt.lowering.printer import Handler
from kopt.lowering.triton.helpers import Helpers
from kopt.lowering.triton.kernel import TritonPrinter
from kopt.walk import walk


def define_functions(launch: triton.LaunchOp, helpers: Helpers) -> None:
    """Defines the functions that the calls of a launch need, those that others use first."""
    for op in walk(launch):
        if not isinstance(op, triton.InlineOp):
            continue
        names: dict[str, str] = {}
        for name, text in op.functions.data.items():
            assert isinstance(text, StringAttr)
            names[name] = helpers.add(name, _renamed(text.data, names))
        helpers.callees[op] = names[op.callee.data]


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """A function's text with the names that those which it uses have in this module."""
    for old, new in names.items():
        if old != new:
            text = re.sub(rf"(?<![\w.]){re.escape(old)}\b", new, text)
    return text


def print_inline(kernel: TritonPrinter, op: triton.InlineOp) -> None:
    """``a, b = name(x, y)``, with all lanes of the arguments."""
    call = f"{kernel.own_function(op)}({', '.join(kernel.whole(value).text for value in op.args)})"
    if not op.outs:
        kernel.line(call)
        return
    results = [kernel.names.bind(value, value.name_hint) for value in op.outs]
    kernel.line(f"{', '.join(results)} = {call}")
    for value, name in zip(op.outs, results, strict=True):
        kernel.alias(value, Expr(name, shape=tile_type(value).shape))


HANDLERS: dict[type[Operation], Handler] = {triton.InlineOp: print_inline}
