"""Host ops in jnp: allocations, views and torch operators by their ATen names.

``HOST[type(op)](op, printing)`` is the expression of the op's result. `CALLS` has a template for each operator:
``{0}`` is its first positional argument, and ``{dtype}`` and ``{shape}`` are the result's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, MemRefType, NoneAttr, NoneType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.diagnostics import location_of
from kopt.dialects.host import AllocOp, CallOp, ExpandOp, InsertOp, PermuteOp, ReshapeOp, SliceOp
from kopt.dialects.tile import literal_value
from kopt.errors import LoweringError
from kopt.lowering.host.numbers import number

if TYPE_CHECKING:
    from kopt.lowering.pallas.printing import Printing

HostPrinter = Callable[[Operation, "Printing"], str]

#: Unary operators whose name is jnp's.
_SAME = "exp exp2 expm1 log log2 log10 log1p sqrt abs sign sin cos tan tanh floor ceil square isnan isinf".split()

#: Templates by operator name without ``aten.`` and overload, or with the overload where they differ.
CALLS: dict[str, str] = {
    "kopt.saturate_to_i32": "jnp.clip({0}, -(2**31), 2**31 - 1).astype(jnp.int32)",
    "prims.convert_element_type": "{0}.astype({dtype})",
    "_to_copy": "{0}.astype({dtype})",
    "clone": "{0}",
    "alias": "{0}",
    "detach": "{0}",
    "view": "{0}.reshape({shape})",
    "reshape": "{0}.reshape({shape})",
    "unsqueeze": "{0}.reshape({shape})",
    "squeeze": "{0}.reshape({shape})",
    "permute": "jnp.transpose({0}, {1})",
    "t": "{0}.T",
    "expand": "jnp.broadcast_to({0}, {shape})",
    "full": "jnp.full({shape}, {1}, {dtype})",
    "full_like": "jnp.full({shape}, {1}, {dtype})",
    "zeros": "jnp.zeros({shape}, {dtype})",
    "zeros_like": "jnp.zeros({shape}, {dtype})",
    "ones": "jnp.ones({shape}, {dtype})",
    "ones_like": "jnp.ones({shape}, {dtype})",
    "add": "({0} + {1}).astype({dtype})",
    "sub": "({0} - {1}).astype({dtype})",
    "mul": "({0} * {1}).astype({dtype})",
    "div": "({0} / {1}).astype({dtype})",
    "neg": "-{0}",
    "mm": 'jnp.matmul({0}, {1}, precision="highest").astype({dtype})',
    "bmm": 'jnp.matmul({0}, {1}, precision="highest").astype({dtype})',
    "tril": "jnp.tril({0})",
    "triu": "jnp.triu({0})",
    "rsqrt": "jax.lax.rsqrt({0})",
    "reciprocal": "1 / {0}",
    "sigmoid": "jax.nn.sigmoid({0})",
    "relu": "jnp.maximum({0}, 0)",
    "maximum": "jnp.maximum({0}, {1})",
    "minimum": "jnp.minimum({0}, {1})",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "logical_not": "jnp.logical_not({0})",
    "bitwise_and": "{0} & {1}",
    "bitwise_or": "{0} | {1}",
    "bitwise_left_shift": "{0} << {1}",
    "bitwise_right_shift": "{0} >> {1}",
    "__lshift__": "{0} << {1}",
    "__rshift__": "{0} >> {1}",
    "where": "jnp.where({0}, {1}, {2})",
    "cumsum": "jnp.cumsum({0}, axis={1}).astype({dtype})",
    "arange": "jnp.arange({0}, dtype={dtype})",
    "arange.start": "jnp.arange({0}, {1}, dtype={dtype})",
    "arange.start_step": "jnp.arange({0}, {1}, {2}, dtype={dtype})",
    "sum": "jnp.sum({0}).astype({dtype})",
    "sum.dim_IntList": "jnp.sum({0}, axis=tuple({1}), dtype={dtype}).reshape({shape})",
    "mean": "jnp.mean({0}).astype({dtype})",
    "mean.dim": "jnp.mean({0}, axis=tuple({1})).astype({dtype}).reshape({shape})",
    "amax": "jnp.max({0}, axis=tuple({1})).reshape({shape})",
    "amin": "jnp.min({0}, axis=tuple({1})).reshape({shape})",
    **{name: f"jnp.{name}({{0}})" for name in _SAME},
}


def _call(op: Operation, printing: Printing) -> str:
    assert isinstance(op, CallOp)
    arguments = list(_arguments(op, printing))
    result = _memref(op.outputs[0])
    name = op.callee.data
    if name.startswith("aten.constant_pad_nd"):
        return _pad(op, arguments, printing)
    if name.startswith("aten.cat"):
        return f"jnp.concatenate({arguments[0]}, axis={arguments[1] if len(arguments) > 1 else 0})"
    template = _template(name)
    if template is None or len(op.outputs) != 1:
        raise LoweringError(f"'{name}' has no spelling in jnp", location_of(op))
    return template.format(*arguments, dtype=printing.dtype(result.element_type), shape=tuple(result.get_shape()))


def _template(name: str) -> str | None:
    """The template of an operator: by its name with its overload, else without."""
    short = name.removeprefix("aten.")
    return CALLS.get(short) or CALLS.get(short.rpartition(".")[0])


def _arguments(op: CallOp, printing: Printing) -> Iterator[str]:
    operands = iter(op.inputs)
    for attribute in op.arguments.data:
        yield _argument(attribute, operands, printing)


def _argument(attribute: Attribute, operands: Iterator[SSAValue], printing: Printing) -> str:
    if isinstance(attribute, UnitAttr):
        return printing.name(next(operands))
    if isinstance(attribute, ArrayAttr):
        items = [_argument(item, operands, printing) for item in attribute.data]
        return f"[{', '.join(items)}]"
    if isinstance(attribute, StringAttr):
        return repr(attribute.data)
    if isinstance(attribute, NoneAttr | NoneType):
        return "None"
    return number(literal_value(attribute))


def _pad(op: CallOp, arguments: Sequence[str], printing: Printing) -> str:
    """``aten.constant_pad_nd(x, [lo, hi, …] from the last dimension, value)``."""
    numbers = [int(literal_value(item)) for item in op.arguments.data[1].data]  # pyright: ignore
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    rank = len(_memref(op.outputs[0]).get_shape())
    widths = [(0, 0)] * (rank - len(pairs)) + pairs[::-1]
    value = arguments[2] if len(arguments) > 2 else "0"
    fill = "" if value in ("0", "0.0") else f", constant_values={value}"
    return f"jnp.pad({arguments[0]}, {widths}{fill})"


def _memref(value: SSAValue) -> MemRefType:
    assert isinstance(value.type, MemRefType)
    return value.type


def _alloc(op: Operation, printing: Printing) -> str:
    assert isinstance(op, AllocOp)
    type = _memref(op.result)
    shape, dtype = tuple(type.get_shape()), printing.dtype(type.element_type)
    if op.fill is None or literal_value(op.fill) == 0:
        return f"jnp.zeros({shape}, {dtype})"
    return f"jnp.full({shape}, {printing.literal(op.fill)}, {dtype})"


def _reshape(op: Operation, printing: Printing) -> str:
    assert isinstance(op, ReshapeOp)
    return f"{printing.name(op.source)}.reshape({tuple(op.result_type.get_shape())})"


def _permute(op: Operation, printing: Printing) -> str:
    assert isinstance(op, PermuteOp)
    return f"jnp.transpose({printing.name(op.source)}, {op.order})"


def _slice(op: Operation, printing: Printing) -> str:
    assert isinstance(op, SliceOp)
    return f"{printing.name(op.source)}[{_bounds(op.bounds)}]"


def _bounds(bounds: Sequence[tuple[int, int, int]]) -> str:
    return ", ".join(_bound(*bound) for bound in bounds)


def _bound(offset: int, size: int, stride: int) -> str:
    stop = offset + (size - 1) * stride + 1 if size else offset
    start = str(offset) if offset else ""
    return f"{start}:{stop}" + (f":{stride}" if stride != 1 else "")


def _expand(op: Operation, printing: Printing) -> str:
    assert isinstance(op, ExpandOp)
    return f"jnp.broadcast_to({printing.name(op.source)}, {tuple(op.result_type.get_shape())})"


def _insert(op: Operation, printing: Printing) -> str:
    assert isinstance(op, InsertOp)
    return f"{printing.name(op.base)}.at[{_bounds(op.bounds)}].set({printing.name(op.value)})"


#: The printer of each host op.
HOST: dict[type[Operation], HostPrinter] = {
    AllocOp: _alloc,
    CallOp: _call,
    ExpandOp: _expand,
    InsertOp: _insert,
    PermuteOp: _permute,
    ReshapeOp: _reshape,
    SliceOp: _slice,
}
