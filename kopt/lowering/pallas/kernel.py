"""A kernel function: the body of a `pallas.call`, statement by statement."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import GridOp
from kopt.lowering.expr import Expr, number
from kopt.lowering.names import Names
from kopt.lowering.pallas import emit_pipelines, loops, refs, remote
from kopt.lowering.pallas.printing import RESERVED, PallasPrinter, Visit
from kopt.lowering.pallas.specs import call_grid, grid_extents
from kopt.lowering.pallas.values import VALUES
from kopt.lowering.printer import Handler
from kopt.lowering.writer import Writer


def print_kernel(call: CallOp, name: str, writer: Writer, helpers: dict[str, str]) -> None:
    """Writes ``def name(x_ref, out_ref, …):`` with the body of a call."""
    names = Names(RESERVED)
    printing = PallasPrinter(writer, names, HANDLERS, helpers)
    printing.named_values.update(refs.terms_of_shifts(call, printing))
    grid = call_grid(call)
    parameters = [_bind_ref(ref, names) for ref in call.body.block.args]
    with printing.block(f"def {name}({', '.join(parameters)}):"):
        _enter_grid(grid, printing)
        printing.print_block(grid.body.block)


def _bind_ref(ref: SSAValue, names: Names) -> str:
    hint = ref.name_hint or "array"
    return names.bind(ref, hint if hint.endswith("_ref") else f"{hint}_ref")


def _enter_grid(grid: GridOp, printing: PallasPrinter) -> None:
    """Reads the numbers of the cell that the body uses: all at the top, where every interpreter allows it."""
    for dim, (range, count) in enumerate(zip(grid.ranges, grid_extents(grid), strict=False)):
        id = number(0)
        if count > 1 and range.first_use is not None:
            id = printing.give(Expr(f"pl.program_id({dim})"), range.name_hint or "i")
        lower, upper = (number(bound) for bound in grid.bounds[dim])
        begin = loops.begin_of(range, id, lower, printing)
        printing.visits[range] = Visit(id, begin, upper, number(count))


#: The printer of each op of a kernel.
HANDLERS: dict[type[Operation], Handler] = {
    **VALUES,
    **refs.HANDLERS,
    **remote.HANDLERS,
    **loops.HANDLERS,
    **emit_pipelines.HANDLERS,
}
