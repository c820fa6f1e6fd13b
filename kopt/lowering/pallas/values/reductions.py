"""The jnp spelling of the ops that combine lanes.

Mosaic has sums, maxima and minima of f32 and i32, and any and all of predicates; the others are folds by halves, and
scans are log-step, sorts compare networks. The pass ``expand-for-mosaic`` widens what is narrower.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation

from kopt.dialects.tile import ArgReduceOp, ReduceOp, ScanOp, SortOp, element_of, is_float, literal, neutral
from kopt.lowering.expr import Expr, spell
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.printer import Handler

_REDUCE = {"add": "jnp.sum", "max": "jnp.max", "min": "jnp.min"}
#: On predicates a sum is "any", as NumPy adds booleans.
_REDUCE_PREDICATES = {
    **dict.fromkeys(("add", "max", "or"), "jnp.any"),
    **dict.fromkeys(("mul", "min", "and"), "jnp.all"),
}
_COMBINE = {
    "add": "jnp.add",
    "mul": "jnp.multiply",
    "max": "jnp.maximum",
    "min": "jnp.minimum",
    "and": "jnp.bitwise_and",
    "or": "jnp.bitwise_or",
    "xor": "jnp.bitwise_xor",
}


def _reduce(printing: PallasPrinter, op: ReduceOp) -> None:
    element, expr = element_of(op.input), printing[op.input]
    table = _REDUCE_PREDICATES if element == i1 else _REDUCE
    if op.dimensions:
        function = table.get(op.kind.data)
        expr = _fold(expr, op, printing) if function is None else spell(_template(function, op, printing), expr)
    printing.define(op.result, expr)


def _template(function: str, op: ReduceOp, printing: PallasPrinter) -> str:
    keep_type = _keep_type(op.kind.data, element_of(op.input), printing)
    if keep_type and not printing.shape(op.result):
        # Mosaic sums to a scalar by a function of JAX's own, which widens the sum where JAX has 64-bit numbers.
        return f"{function}({{0}}[None], axis={_axes([dim + 1 for dim in op.dimensions])}{keep_type})[0]"
    return f"{function}({{0}}, axis={_axes(op.dimensions)}{keep_type})"


def _axes(dims: Sequence[int]) -> str:
    return str(dims[0]) if len(dims) == 1 else repr(tuple(dims))


def _keep_type(kind: str, element: Attribute, printing: PallasPrinter) -> str:
    """``jnp.sum`` of integers is as wide as the widest unless told."""
    widens = kind == "add" and not is_float(element) and element != i1
    return f", dtype={printing.dtype(element)}" if widens else ""


def _fold(expr: Expr, op: ReduceOp, printing: PallasPrinter) -> Expr:
    for dim in sorted(op.dimensions, reverse=True):
        expr = printing.spelt(f"_fold({_COMBINE[op.kind.data]}, {{0}}, {dim})", expr)
    return expr


def _argreduce(printing: PallasPrinter, op: ArgReduceOp) -> None:
    text = f"_argreduce({_REDUCE[op.kind.data]}, {{0}}, {op.dim.data})"
    printing.define(op.result, printing.spell(text, op.input))


def _scan(printing: PallasPrinter, op: ScanOp) -> None:
    element, kind = element_of(op.input), op.kind.data
    fill = printing.literal(literal(neutral(kind, element), element)).text
    reverse = ", reverse=True" if op.reverse is not None else ""
    text = f"_scan({_COMBINE[kind]}, {{0}}, {op.dim.data}, {fill}{reverse})"
    printing.define(op.result, printing.spell(text, op.input))


def _sort(printing: PallasPrinter, op: SortOp) -> None:
    last = printing.literal(literal(op.last, element_of(op.input))).text
    text = f"_sort({{0}}, {op.dim.data}, {op.descending is not None}, {last})"
    printing.unpack(op.results, printing.spell(text, op.input), op)


HANDLERS: dict[type[Operation], Handler] = {
    ReduceOp: _reduce,
    ArgReduceOp: _argreduce,
    ScanOp: _scan,
    SortOp: _sort,
}
