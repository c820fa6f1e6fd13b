"""Host ops in jnp: allocations, views and torch operators by their ATen names.

`kopt.lowering.host.jnp_spellings` has the templates of operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    NoneType,
    StringAttr,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects.host import AllocOp, CallOp, ExpandOp, InsertOp, PermuteOp, ReshapeOp, SliceOp
from kopt.dialects.tile import array_type, is_float, literal_value
from kopt.lowering.expr import JNP, Expr, literal, spell
from kopt.lowering.host.jnp_spellings import MOST, spellings
from kopt.lowering.printer import Handler
from kopt.open_extents import OpenExtent, is_open

if TYPE_CHECKING:
    from kopt.lowering.pallas.printing import PallasPrinter


def _call(printing: PallasPrinter, op: CallOp) -> None:
    for value, text in zip(op.outputs, _texts(op, printing), strict=True):
        printing.define(value, Expr(text))


def is_spelt(op: CallOp) -> bool:
    """Whether jnp has an expression for a call's operator with its arguments, for each of its results."""
    arguments = [*_arguments(op, lambda array: "array")]
    if len(op.outputs) != 1:
        return spellings(op.callee.data, arguments, len(op.outputs)) is not None
    if (form := _FORMS.get(_short(op))) is not None:
        return form.takes(op.arguments.data)
    if _division_texts(op, arguments) is not None:
        return len(arguments) > 1
    return spellings(op.callee.data, arguments, 1) is not None


def _texts(op: CallOp, printing: PallasPrinter) -> list[str]:
    """The expression of each result."""
    result = array_type(op.outputs[0])
    arguments = [*_arguments(op, partial(_counted, printing=printing) if _multiplies(op, result) else printing.name)]
    if (form := _FORMS.get(_short(op))) is not None:
        return [form.text(op, arguments, printing)]
    if (texts := _division_texts(op, arguments)) is not None:
        return [_division(texts[isinstance(result.element_type, IntegerType)], arguments, result, printing)]
    found = spellings(op.callee.data, arguments, len(op.outputs))
    assert found is not None, "verify-host"
    filled = [*arguments, *[""] * MOST]
    return [
        text.format(*filled, dtype=printing.dtype(type.element_type), shape=printing.shape_text(type.get_shape()))
        for text, type in zip(found, map(array_type, op.outputs), strict=True)
    ]


#: Where a mask becomes a float. XLA makes ``select(mask, x, 0)`` of a product with it, which loses NaN and infinity.
_OF_MASKS = ("mul", "div", "true_divide", "_to_copy", "convert_element_type")


def _multiplies(op: CallOp, result: MemRefType) -> bool:
    return is_float(result.element_type) and _short(op) in _OF_MASKS


def _counted(value: SSAValue, printing: PallasPrinter) -> str:
    """An array's name; a mask as integers, whose products XLA leaves alone."""
    is_mask = array_type(value).element_type == i1
    return f"{printing.name(value)}.astype(jnp.int8)" if is_mask else printing.name(value)


def _short(op: CallOp) -> str:
    """An operator's name without its namespace and overload."""
    return op.callee.data.split(".")[1]


#: Divisions of floats and of integers, which give 0 by 0: by name and way of rounding.
_FLOOR = ("{0} // {1}", "_divided(jnp.floor_divide, {0}, {1})")
_DIVISIONS = {
    ("floor_divide",): _FLOOR,
    ("div", "'floor'"): _FLOOR,
    ("div", "'trunc'"): ("jnp.trunc({0} / {1})", "_truncated({0}, {1})"),
    ("fmod",): ("jnp.fmod({0}, {1})", "_divided(jnp.fmod, {0}, {1})"),
}


def _division_texts(op: CallOp, arguments: Sequence[str]) -> tuple[str, str] | None:
    return _DIVISIONS.get((_short(op), *(each for each in arguments[2:] if each != "None")))


def _division(text: str, arguments: Sequence[str], result: MemRefType, printing: PallasPrinter) -> str:
    return printing.spelt(f"({text}).astype({printing.dtype(result.element_type)})", *map(Expr, arguments)).text


def _arguments(op: CallOp, name: Callable[[SSAValue], str]) -> Iterator[str]:
    operands = iter(op.inputs)
    for attribute in op.arguments.data:
        yield _argument(attribute, operands, name)


def _argument(attribute: Attribute, operands: Iterator[SSAValue], name: Callable[[SSAValue], str]) -> str:
    if isinstance(attribute, UnitAttr):
        return name(next(operands))
    if isinstance(attribute, ArrayAttr):
        items = [_argument(item, operands, name) for item in attribute.data]
        return f"[{', '.join(items)}]"
    if isinstance(attribute, StringAttr):
        return repr(attribute.data)
    if isinstance(attribute, NoneAttr | NoneType):
        return "None"
    return literal(attribute, JNP).text


@dataclass(frozen=True)
class _Form:
    """An operator whose text is more than a template: which arguments it takes, and the text for them."""

    takes: Callable[[Sequence[Attribute]], bool]
    text: Callable[[CallOp, Sequence[str], PallasPrinter], str]


def _takes_list(number: int, arguments: Sequence[Attribute]) -> bool:
    """Whether the argument of a number is a list; those before it are there then."""
    return len(arguments) > number and isinstance(arguments[number], ArrayAttr)


def _takes_padding(arguments: Sequence[Attribute]) -> bool:
    """Whether the second argument is pairs of integers."""
    if len(arguments) < 2 or not isinstance(numbers := arguments[1], ArrayAttr):
        return False
    return len(numbers) % 2 == 0 and all(isinstance(number, IntegerAttr) for number in numbers)


def _pad(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    """``aten.constant_pad_nd(x, [lo, hi, …] from the last dimension, value)``."""
    numbers = [int(literal_value(item)) for item in op.arguments.data[1].data]  # pyright: ignore
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    padded = array_type(op.outputs[0]).get_shape()
    widths = [(0, 0)] * (len(padded) - len(pairs)) + pairs[::-1]
    texts = [f"({before}, {_added(behind, n, printing)})" for n, (before, behind) in zip(padded, widths, strict=True)]
    value = arguments[2] if len(arguments) > 2 else "0"
    fill = "" if value in ("0", "0.0", "False") else f", constant_values={value}"
    return f"jnp.pad({arguments[0]}, [{', '.join(texts)}]{fill})"


def _added(behind: int, padded: int, printing: PallasPrinter) -> str:
    """How many elements stand behind a dimension; of one that differs from call to call, up to a whole block."""
    if behind != DYNAMIC_INDEX:
        return str(behind)
    assert isinstance(padded, OpenExtent) and padded.source is not None
    extent, size, _ = padded.source
    return f"-{printing.extent(extent)} % {size}"


def _cat(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    return f"jnp.concatenate({arguments[0]}, axis={arguments[1] if len(arguments) > 1 else 0})"


def _index(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    return f"{arguments[0]}[{_indices(arguments[1])}]"


def _index_put(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    change = "add" if arguments[3:] == ["True"] else "set"
    return f"{arguments[0]}.at[{_indices(arguments[1])}].{change}({arguments[2]})"


def _indices(texts: str) -> str:
    """Index tensors, one a dimension; ``None`` is all of one."""
    return texts.removeprefix("[").removesuffix("]").replace("None", ":")


#: By the operator's name, for all of its overloads.
_FORMS: dict[str, _Form] = {
    "constant_pad_nd": _Form(_takes_padding, _pad),
    "cat": _Form(partial(_takes_list, 0), _cat),
    "index": _Form(partial(_takes_list, 1), _index),
    "index_put": _Form(lambda arguments: _takes_list(1, arguments) and len(arguments) > 2, _index_put),
}


def _alloc(printing: PallasPrinter, op: AllocOp) -> None:
    type = array_type(op.result)
    shape, dtype = printing.shape_text(type.get_shape()), printing.dtype(type.element_type)
    if op.fill is None or literal_value(op.fill) == 0:
        expr = Expr(f"jnp.zeros({shape}, {dtype})")
    else:
        expr = spell(f"jnp.full({shape}, {{0}}, {dtype})", printing.literal(op.fill))
    printing.define(op.result, expr)


def _reshape(printing: PallasPrinter, op: ReshapeOp) -> None:
    printing.define(
        op.result, printing.spell(f"{{0}}.reshape({printing.shape_text(op.result_type.get_shape())})", op.source)
    )


def _permute(printing: PallasPrinter, op: PermuteOp) -> None:
    printing.define(op.result, printing.spell(f"jnp.transpose({{0}}, {op.order})", op.source))


def _slice(printing: PallasPrinter, op: SliceOp) -> None:
    printing.define(op.result, printing.spell(f"{{0}}[{_bounds(op.bounds, printing)}]", op.source))


def _bounds(bounds: Sequence[tuple[int, int, int]], printing: PallasPrinter) -> str:
    return ", ".join(_bound(*bound, printing) for bound in bounds)


def _bound(offset: int, size: int, stride: int, printing: PallasPrinter) -> str:
    if is_open(size):
        return f":{printing.extent(size)}"
    stop = offset + (size - 1) * stride + 1 if size else offset
    start = str(offset) if offset else ""
    return f"{start}:{stop}" + (f":{stride}" if stride != 1 else "")


def _expand(printing: PallasPrinter, op: ExpandOp) -> None:
    text = f"jnp.broadcast_to({{0}}, {printing.shape_text(op.result_type.get_shape())})"
    printing.define(op.result, printing.spell(text, op.source))


def _insert(printing: PallasPrinter, op: InsertOp) -> None:
    printing.define(
        op.result, printing.spell(f"{{0}}.at[{_bounds(op.bounds, printing)}].set({{1}})", op.base, op.value)
    )


#: The printer of each host op.
HANDLERS: dict[type[Operation], Handler] = {
    AllocOp: _alloc,
    CallOp: _call,
    ExpandOp: _expand,
    InsertOp: _insert,
    PermuteOp: _permute,
    ReshapeOp: _reshape,
    SliceOp: _slice,
}
