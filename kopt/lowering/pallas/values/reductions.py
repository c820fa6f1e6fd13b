"""The jnp spelling of the ops that combine lanes.

Mosaic has sums, maxima and minima of f32 and i32, and any and all of predicates; the others are folds by halves, and
scans are log-step, sorts compare networks. The pass ``expand-for-mosaic`` widens what is narrower.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation

from kopt.dialects.tile import ArgReduceOp, ReduceOp, ScanOp, SortOp, element_of, is_float, literal, neutral
from kopt.lowering.pallas.printing import PallasPrinter, ValuePrinter
from kopt.lowering.pallas.values.helpers import use_helper

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


def _reduce(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, ReduceOp)
    element = element_of(op.input)
    table = _REDUCE_PREDICATES if element == i1 else _REDUCE
    name = printing.name(op.input)
    if not op.dimensions:
        return name
    function = table.get(op.kind.data)
    if function is None:
        return _fold(name, op, printing)
    keep_type = _keep_type(op.kind.data, element, printing)
    if keep_type and not printing.shape(op.result):
        # Mosaic sums to a scalar by a function of JAX's own, which widens the sum where JAX has 64-bit numbers.
        return f"{function}({name}[None], axis={_axes([dim + 1 for dim in op.dimensions])}{keep_type})[0]"
    return f"{function}({name}, axis={_axes(op.dimensions)}{keep_type})"


def _axes(dims: Sequence[int]) -> str:
    return str(dims[0]) if len(dims) == 1 else repr(tuple(dims))


def _keep_type(kind: str, element: Attribute, printing: PallasPrinter) -> str:
    """``jnp.sum`` of integers is as wide as the widest unless told."""
    widens = kind == "add" and not is_float(element) and element != i1
    return f", dtype={printing.dtype(element)}" if widens else ""


def _fold(name: str, op: ReduceOp, printing: PallasPrinter) -> str:
    fold, combine = use_helper("_fold", printing), _COMBINE[op.kind.data]
    for dim in sorted(op.dimensions, reverse=True):
        name = f"{fold}({combine}, {name}, {dim})"
    return name


def _argreduce(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, ArgReduceOp)
    helper = use_helper("_argreduce", printing)
    return f"{helper}({_REDUCE[op.kind.data]}, {printing.name(op.input)}, {op.dim.data})"


def _scan(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, ScanOp)
    element, kind = element_of(op.input), op.kind.data
    helper = use_helper("_scan", printing)
    fill = printing.literal(literal(neutral(kind, element), element))
    reverse = ", reverse=True" if op.reverse is not None else ""
    return f"{helper}({_COMBINE[kind]}, {printing.name(op.input)}, {op.dim.data}, {fill}{reverse})"


def _sort(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, SortOp)
    helper = use_helper("_sort", printing)
    last = printing.literal(literal(op.last, element_of(op.input)))
    return f"{helper}({printing.name(op.input)}, {op.dim.data}, {op.descending is not None}, {last})"


PRINTERS: dict[type[Operation], ValuePrinter] = {
    ReduceOp: _reduce,
    ArgReduceOp: _argreduce,
    ScanOp: _scan,
    SortOp: _sort,
}
