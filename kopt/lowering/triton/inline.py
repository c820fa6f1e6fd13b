"""Calls of the author's own Triton functions."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr

from kopt.dialects import triton
from kopt.lowering.triton.expressions import Expr
from kopt.lowering.triton.kernel import Handler, Kernel, tile_type


def print_inline(kernel: Kernel, op: triton.InlineOp) -> None:
    """``a, b = name(x, y)``, with all lanes of the arguments."""
    names = dict.fromkeys(op.functions.data, "")
    for name, text in op.functions.data.items():
        assert isinstance(text, StringAttr)
        names[name] = kernel.own_function(name, text.data)
    callee = names[op.callee.data]
    call = f"{callee}({', '.join(kernel.whole(value).text for value in op.args)})"
    if not op.outs:
        kernel.line(call)
        return
    results = [kernel.names.bind(value, value.name_hint) for value in op.outs]
    kernel.line(f"{', '.join(results)} = {call}")
    for value, name in zip(op.outs, results, strict=True):
        kernel.alias(value, Expr(name, shape=tile_type(value).shape))


HANDLERS: dict[type, Handler] = {triton.InlineOp: print_inline}
