"""Ops that combine lanes: masks, reductions, scans and dots."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import IntegerType, f32, f64, i1, i32
from xdsl.ir import Attribute, Operation

from kopt.analysis.scaled_products import scaled_operands
from kopt.dialects import tile
from kopt.lowering.expr import Expr, spell
from kopt.lowering.printer import Handler
from kopt.lowering.triton.kernel import TritonPrinter
from kopt.lowering.triton.ranges import masks_of

#: Reductions that Triton has under a name, for integers and floats. Its maxima lose NaN, so floats combine by helpers.
_INTEGER = {"add": "tl.sum", "max": "tl.max", "min": "tl.min", "xor": "tl.xor_sum"}
_FLOAT = {"add": "tl.sum"}
_COMBINERS = {"mul": "_mul", "and": "_and", "or": "_or", "xor": "_xor", "max": "_max", "min": "_min"}
_NAN_COMBINERS = {"max": "_nan_max", "min": "_nan_min"}
_BOOLEAN = {"or": "tl.max", "max": "tl.max", "and": "tl.min", "min": "tl.min"}


def print_mask(kernel: TritonPrinter, op: tile.MaskOp) -> None:
    """``tl.where(mask, v, fill)``."""
    mask = masks_of(kernel, op.limits)
    value = kernel[op.input]
    if mask is None:
        kernel.define(op.result, value)
        return
    kernel.define(op.result, spell("tl.where({0}, {1}, {2})", mask, kernel.typed(op.input), kernel.literal(op.fill)))


def _combiner(kind: str, type: Attribute) -> str:
    return _NAN_COMBINERS.get(kind, _COMBINERS[kind]) if tile.is_float(type) else _COMBINERS[kind]


def print_reduce(kernel: TritonPrinter, op: tile.ReduceOp) -> None:
    """One call a dimension, last first; all dimensions at once have no axis."""
    source = tile.tile_type(op.input)
    expr = kernel.whole(op.input, op.dimensions)
    shape = tuple(size for n, size in enumerate(expr.shape) if n not in op.dimensions)
    axes = [None] if len(op.dimensions) == source.rank else [*reversed(op.dimensions)]
    reduced = _reduced(kernel, op.kind.data, source.element_type, expr, axes)
    kernel.define(op.result, replace(reduced, shape=shape))


def _reduced(kernel: TritonPrinter, kind: str, type: Attribute, expr: Expr, axes: list[int] | list[None]) -> Expr:
    if type == i1 and kind in _BOOLEAN:
        return spell("{0} != 0", _calls(_BOOLEAN[kind], spell("{0}.to(tl.int32)", expr), axes))
    named = (_FLOAT if tile.is_float(type) else _INTEGER).get(kind)
    if named is None:
        combine = kernel.helper(_combiner(kind, type))
        for axis in axes:
            expr = spell(f"tl.reduce({{0}}, {axis}, {combine})", expr)
        return expr
    return narrowed(kernel, type, _calls(named, expr, axes))


def _calls(function: str, expr: Expr, axes: list[int] | list[None]) -> Expr:
    for axis in axes:
        expr = spell(f"{function}({{0}})" if axis is None else f"{function}({{0}}, axis={axis})", expr)
    return expr


def narrowed(kernel: TritonPrinter, type: Attribute, expr: Expr) -> Expr:
    """Triton combines short integers in 32 bits: the result wraps to its type."""
    if isinstance(type, IntegerType) and type.width.data < 32:
        return spell(f"{{0}}.to({kernel.dtype(type)})", expr)
    return expr


def print_argreduce(kernel: TritonPrinter, op: tile.ArgReduceOp) -> None:
    """The lane number of the largest or smallest: ``tl.argmax``, or for floats a combination that knows NaN."""
    source, axis, kind = tile.tile_type(op.input), op.dim.data, op.kind.data
    expr = kernel.whole(op.input)
    shape = tile.tile_type(op.result).shape
    if not tile.is_float(source.element_type):
        numbers = "{0}.to(tl.int32)" if source.element_type == i1 else "{0}"
        kernel.define(op.result, spell(f"tl.arg{kind}({numbers}, axis={axis})", expr, shape=shape))
        return
    numbers = _numbers(kernel, source, axis)
    combine = kernel.helper(f"_arg{kind}_of")
    name = kernel.names.bind(op.result)
    kernel.line(f"_, {name} = tl.reduce(({expr.text}, {numbers}), {axis}, {combine})")
    kernel.alias(op.result, Expr(name, shape=shape))


def _numbers(kernel: TritonPrinter, type: tile.TileType, axis: int) -> str:
    """The number of each lane along a dimension, over all dimensions."""
    sizes = kernel.sizes(type.shape, type)
    lanes = f"tl.arange(0, {sizes[1:-1].split(', ')[axis]})"
    slots = "".join(["[", ", ".join(":" if n == axis else "None" for n in range(type.rank)), "]"])
    return f"tl.broadcast_to({lanes}{slots if type.rank > 1 else ''}, {sizes})"


def print_scan(kernel: TritonPrinter, op: tile.ScanOp) -> None:
    """``tl.cumsum``, ``tl.cumprod``, or ``tl.associative_scan`` with a helper."""
    source, axis, kind = tile.tile_type(op.input), op.dim.data, op.kind.data
    expr = kernel.whole(op.input)
    named = {"add": "tl.cumsum", "mul": "tl.cumprod"}.get(kind)
    reverse = ", reverse=True" if op.reverse is not None else ""
    if named is None:
        combine = kernel.helper(_combiner(kind, source.element_type))
        scanned = spell(f"tl.associative_scan({{0}}, {axis}, {combine}{reverse})", expr)
    else:
        scanned = narrowed(kernel, source.element_type, spell(f"{named}({{0}}, axis={axis}{reverse})", expr))
    kernel.define(op.result, scanned)


def print_associative(kernel: TritonPrinter, op: tile.AssociativeOp) -> None:
    """``a, b = tl.associative_scan((x, y), axis, _combine)``, or ``tl.reduce``, by a function of the module."""
    values = [kernel.whole(value).text for value in op.inputs]
    combine = kernel.function(op.body.block, lambda: [kernel.typed(value).text for value in op.combined])
    function = "tl.associative_scan" if isinstance(op, tile.AssociativeScanOp) else "tl.reduce"
    operand = values[0] if len(values) == 1 else f"({', '.join(values)})"
    reverse = ", reverse=True" if op.reverse is not None else ""
    _name_results(kernel, op, f"{function}({operand}, {op.dim.data}, {combine}{reverse})")


def print_sort(kernel: TritonPrinter, op: tile.SortOp) -> None:
    """``v, n = _sort(x, numbers, axis, rounds, descending)``: blocks have powers of two as sizes."""
    source, axis = tile.tile_type(op.input), op.dim.data
    rounds = (source.shape[axis] - 1).bit_length()
    operands = f"{kernel.whole(op.input).text}, {_numbers(kernel, source, axis)}"
    _name_results(kernel, op, f"{kernel.helper('_sort')}({operands}, {axis}, {rounds}, {op.descending is not None})")


def _name_results(kernel: TritonPrinter, op: Operation, text: str) -> None:
    """Gives each result a name, ``_`` where nobody uses it."""
    names = [kernel.names.bind(result) if result.uses else "_" for result in op.results]
    kernel.line(f"{', '.join(names)} = {text}")
    for result, name in zip(op.results, names, strict=True):
        kernel.alias(result, Expr(name, shape=tile.tile_type(result).shape))


#: Types of sums that ``tl.dot`` is told: up to Triton 3.7 it takes them for f32, whatever it adds to.
_SUMS = {f64: "tl.float64", i32: "tl.int32"}


def print_dot(kernel: TritonPrinter, op: tile.DotOp) -> None:
    """``tl.dot(l, r, acc)``; f32 operands say how they may be rounded."""
    source, result = tile.tile_type(op.lhs), tile.tile_type(op.result)
    assert source.rank <= 3, "verify-triton"
    if (scaled := scaled_operands(op)) is not None:
        operands = [part for each in scaled for part in _scaled(kernel, each)]
        kernel.define(
            op.result, Expr(f"tl.dot_scaled({', '.join([*operands, *_sum(kernel, op)])})", shape=result.shape)
        )
        return
    operands = [kernel.whole(op.lhs), kernel.whole(op.rhs)]
    precision = op.precision.data if op.precision is not None else "ieee"
    if source.element_type == f32 and precision == "bf16":
        operands = [spell("{0}.to(tl.bfloat16)", operand) for operand in operands]
    arguments = [*(operand.text for operand in operands), *_sum(kernel, op)]
    if (kind := _SUMS.get(result.element_type)) is not None:
        arguments.append(f"out_dtype={kind}")
    elif source.element_type == f32 and precision != "bf16":
        arguments.append(f'input_precision="{precision}"')
    kernel.define(op.result, Expr(f"tl.dot({', '.join(arguments)})", shape=result.shape))


def _sum(kernel: TritonPrinter, op: tile.DotOp) -> list[str]:
    """What a product is added to, where that is not 0."""
    acc = op.accumulator
    return [] if acc is None or kernel[acc].literal == 0 else [kernel.whole(acc).text]


def _scaled(kernel: TritonPrinter, op: tile.ScalingExtfOp) -> list[str]:
    return [kernel.whole(op.input).text, kernel.whole(op.scale).text, f'"{op.format.data}"']


def print_scaling(kernel: TritonPrinter, op: tile.ScalingExtfOp) -> None:
    """Nothing: ``tl.dot_scaled`` takes the operand with its scale."""


HANDLERS: dict[type[Operation], Handler] = {
    tile.MaskOp: print_mask,
    tile.ReduceOp: print_reduce,
    tile.ArgReduceOp: print_argreduce,
    tile.ScanOp: print_scan,
    tile.AssociativeReduceOp: print_associative,
    tile.AssociativeScanOp: print_associative,
    tile.SortOp: print_sort,
    tile.DotOp: print_dot,
    tile.ScalingExtfOp: print_scaling,
}
