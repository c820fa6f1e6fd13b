"""A kernel function: the body of a `pallas.call`, statement by statement."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import GridOp
from kopt.dialects.tile.extents import ExtentOp
from kopt.ir.ranges import binding
from kopt.lowering.expr import Expr, number
from kopt.lowering.names import Names
from kopt.lowering.pallas import emit_pipelines, loops, refs, remote
from kopt.lowering.pallas.printing import RESERVED, PallasPrinter, Visit
from kopt.lowering.pallas.specs import asked_extents, call_grid, extent_names, grid_extents
from kopt.lowering.pallas.values import VALUES
from kopt.lowering.printer import Handler
from kopt.lowering.writer import Writer
from kopt.open_extents import is_open


def print_kernel(call: CallOp, name: str, writer: Writer, helpers: dict[str, str]) -> None:
    """Writes ``def name(x_ref, out_ref, …):`` with the body of a call."""
    extents = extent_names(call)
    names = Names((*RESERVED, *extents.values()))
    printing = PallasPrinter(writer, names, HANDLERS, helpers)
    printing.named_values.update(refs.terms_of_shifts(call, printing))
    grid = call_grid(call)
    for op in call.body.block.ops:
        if isinstance(op, ExtentOp):
            printing.alias(op.result, Expr(extents[op.extent]))
    asked = [extents[extent] for extent in asked_extents(call)]
    parameters = [*(_bind_ref(ref, names) for ref in call.body.block.args), *(["*", *asked] if asked else [])]
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
        if (is_open(count) or count > 1) and range.first_use is not None:
            id = printing.give(Expr(f"pl.program_id({dim})"), range.name_hint or "i")
        lower, upper = number(grid.bounds[dim][0]), loops.bound_of(binding(range).upper, printing)
        begin = loops.begin_of(range, id, lower, printing)
        printing.visits[range] = Visit(id, begin, upper, _count(dim, count))


def _count(dim: int, count: int) -> Expr:
    """How many cells there are: asked of the grid where it differs from call to call."""
    return Expr(f"pl.num_programs({dim})") if is_open(count) else number(count)


#: The printer of each op of a kernel.
HANDLERS: dict[type[Operation], Handler] = {
    **VALUES,
    **refs.HANDLERS,
    **remote.HANDLERS,
    **loops.HANDLERS,
    **emit_pipelines.HANDLERS,
}
