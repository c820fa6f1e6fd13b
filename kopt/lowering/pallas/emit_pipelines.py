"""A `pallas.pipeline`: its loop's body as a function, and the `pltpu.emit_pipeline` that calls it for each block.

def k_body(x_block, out_block):
    k = pl.program_id(0)
    …

pltpu.emit_pipeline(
    k_body,
    grid=(4,),
    in_specs=[pl.BlockSpec((8, 128), lambda k: (i, k))],
    out_specs=[pl.BlockSpec((8, 128), lambda k: (i, k))],
)(x_ref, out_ref)
"""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.dialects.pallas import PipelineOp
from kopt.lowering.expr import Expr
from kopt.lowering.pallas.loops import begin_of, bounds_of, count_of
from kopt.lowering.pallas.printing import PallasPrinter, Visit
from kopt.lowering.pallas.specs import block_spec, text_list
from kopt.lowering.printer import Handler
from kopt.lowering.writer import source_place


def print_pipeline(printing: PallasPrinter, op: PipelineOp) -> None:
    """Writes the body's function and the pipeline. The body's block number is read first, as interpreters want it."""
    loop = op.loop
    lower, upper = bounds_of(loop, printing)
    count = count_of(loop, lower, upper, printing)
    body = printing.names.fresh(f"{loop.range.name_hint or 'k'}_body")
    id = printing.names.fresh(loop.range.name_hint, "k")
    blocks = [printing.names.bind(block) for block in op.blocks]
    printing.writer.gap()
    with printing.block(f"def {body}({', '.join(blocks)}):", loop):
        if loop.range.first_use is not None:
            printing.line(f"{id} = pl.program_id(0)")
        begin = begin_of(loop.range, Expr(id), lower, printing, loop)
        printing.visits[loop.range] = Visit(Expr(id), begin, upper, count)
        printing.print_block(loop.body.block)
    printing.writer.gap()
    at = [printing.name(value) for value in op.at]
    specs = [block_spec(window, [id], at) for window in op.windows.data]
    inputs, outputs = specs[: len(op.reads)], specs[len(op.reads) :]
    options = [body, f"grid=({count.text},)"]
    options += [f"{name}={text_list(some)}" for name, some in (("in_specs", inputs), ("out_specs", outputs)) if some]
    refs = ", ".join(printing.name(ref) for ref in (*op.reads, *op.writes))
    printing.writer.call("pltpu.emit_pipeline", options, f"({refs})", source_place(loop))


HANDLERS: dict[type[Operation], Handler] = {PipelineOp: print_pipeline}
