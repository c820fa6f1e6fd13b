"""A kernel function: the body of a `pallas.call`, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Callable

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from kopt.dialects.pallas import CallOp, PipelineOp
from kopt.dialects.tile import GridOp, IdOp, WhenOp, YieldOp
from kopt.ir.ranges import binding
from kopt.lowering.names import Names
from kopt.lowering.pallas.emit_pipelines import print_pipeline
from kopt.lowering.pallas.loops import LOOPS, PrintBlock
from kopt.lowering.pallas.printing import RESERVED, Printing, Visit
from kopt.lowering.pallas.refs import REFS
from kopt.lowering.pallas.remote import REMOTE
from kopt.lowering.pallas.specs import call_grid, grid_extents
from kopt.lowering.pallas.values import VALUES
from kopt.lowering.pallas.values.elementwise import is_number_only
from kopt.lowering.pallas.values.ranges import is_spelt_at_uses
from kopt.lowering.writer import Writer

#: The writer of one op.
Handler = Callable[[Operation, Printing], None]

_OPERAND = re.compile(r"[A-Za-z_]\w*\Z|-?\d+\Z")


def print_kernel(call: CallOp, name: str, writer: Writer, helpers: dict[str, str]) -> None:
    """Writes ``def name(x_ref, out_ref, …):`` with the body of a call."""
    names = Names(RESERVED)
    printing = Printing(writer, names, helpers=helpers)
    grid = call_grid(call)
    refs = [_bind_ref(ref, names) for ref in call.body.block.args]
    with printing.block(f"def {name}({', '.join(refs)}):"):
        _enter_grid(grid, printing)
        print_block(grid.body.block, printing)


def _bind_ref(ref: SSAValue, names: Names) -> str:
    hint = ref.name_hint or "array"
    return names.bind(ref, hint if hint.endswith("_ref") else f"{hint}_ref")


def _enter_grid(grid: GridOp, printing: Printing) -> None:
    """Reads the numbers of the cell that the body uses: all at the top, where every interpreter allows it."""
    for number, (range, count) in enumerate(zip(grid.ranges, grid_extents(grid), strict=False)):
        id = "0"
        if count > 1 and range.first_use is not None:
            id = printing.assign(f"pl.program_id({number})", range.name_hint or "i")
        lower, upper = grid.bounds[number]
        printing.visits[range] = Visit(id, begin_of(range, id, lower, printing), str(upper), str(count))


def begin_of(range: SSAValue, id: str, lower: int | str, printing: Printing) -> str:
    """The first element of a block, as a name or a number; a line is written where it must be computed."""
    size = binding(range).size
    if id == "0":
        return str(lower)
    if not any(needs_begin(use.operation) for use in range.uses):
        return id
    product = id if size == 1 else f"{id} * {size}"
    expression = product if lower in (0, "0") else f"{lower} + {product}"
    return expression if expression == id else printing.assign(expression, f"{range.name_hint or id}_begin")


def needs_begin(op: Operation) -> bool:
    """Whether a user of a range asks for more than the number of its block."""
    return not isinstance(op, WhenOp | IdOp)


def print_block(block: Block, printing: Printing) -> None:
    """Writes the ops of a block: a statement each, or the assignment of a value."""
    for op in block.ops:
        HANDLERS[type(op)](op, printing)


def _with_blocks(print_op: Callable[[Operation, Printing, PrintBlock], None]) -> Handler:
    """The writer of an op with regions, whose blocks are written as any others."""
    return lambda op, printing: print_op(op, printing, print_block)


def _print_value(op: Operation, printing: Printing) -> None:
    if is_number_only(op) or is_spelt_at_uses(op):
        return
    expression = VALUES[type(op)](op, printing)
    if len(op.results) > 1:
        printing.unpack(op.results, expression, op)
    elif _OPERAND.match(expression):
        printing.alias(op.results[0], expression)
    else:
        printing.bind(op.results[0], expression, op)


def _end(op: Operation, printing: Printing) -> None:
    """What a block ends with: whoever writes the block asks for its operands."""


#: The writer of each op of a kernel.
HANDLERS: dict[type[Operation], Handler] = {
    **REFS,
    **REMOTE,
    **{kind: _with_blocks(print_op) for kind, print_op in {**LOOPS, PipelineOp: print_pipeline}.items()},
    **dict.fromkeys(VALUES, _print_value),
    **dict.fromkeys((YieldOp, scf.YieldOp), _end),
}
