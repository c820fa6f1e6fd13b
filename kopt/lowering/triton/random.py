"""Random bits: Triton's own Philox."""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.dialects import tile
from kopt.lowering.expr import Expr
from kopt.lowering.printer import Handler
from kopt.lowering.triton.kernel import TritonPrinter


def print_philox(kernel: TritonPrinter, op: tile.PhiloxOp) -> None:
    """``a, b, c, d = _philox(offset, low, high)``: names of their own, as loops may not change a name's type."""
    offset, low, high = (kernel.typed(value) for value in op.operands)
    names = [kernel.names.bind(word, word.name_hint or op.words[0].name_hint) for word in op.words]
    kernel.line(f"{', '.join(names)} = {kernel.helper('_philox')}({offset.text}, {low.text}, {high.text})")
    for word, name in zip(op.words, names, strict=True):
        kernel.alias(word, Expr(name, shape=offset.shape))


HANDLERS: dict[type[Operation], Handler] = {tile.PhiloxOp: print_philox}
