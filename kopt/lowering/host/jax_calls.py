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
from kopt.dialects.tile import array_type, is_float, is_same_number, literal_value
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
        return form.takes(op)
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

    takes: Callable[[CallOp], bool]
    text: Callable[[CallOp, Sequence[str], PallasPrinter], str]


def _takes_list(number: int, op: CallOp) -> bool:
    """Whether the argument of a number is a list; those before it are there then."""
    arguments = op.arguments.data
    return len(arguments) > number and isinstance(arguments[number], ArrayAttr)


def _takes_padding(op: CallOp) -> bool:
    """Whether the second argument is pairs of integers."""
    arguments = op.arguments.data
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
    if any(DYNAMIC_INDEX < n < 0 for n in numbers):
        widths = [f"({before}, {behind}, 0)" for before, behind in widths]
        return f"jax.lax.pad({arguments[0]}, jnp.asarray({value}, {arguments[0]}.dtype), [{', '.join(widths)}])"
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


def _takes_places(op: CallOp) -> bool:
    """Whether elements are put at places, or one value where a mask holds; how many elements it has nobody knows."""
    if not _takes_list(1, op) or len(op.arguments) < 3:
        return False
    return all(array_type(value).element_type != i1 for value in op.inputs[1:-1]) or _masked_rank(op) is not None


def _masked_rank(op: CallOp) -> int | None:
    """How many dimensions follow those that a mask covers, of a store by one mask alone; None where it is another."""
    entries = op.arguments.data[1].data  # pyright: ignore[reportAttributeAccessIssue]
    masks = [array_type(value) for value in op.inputs[1:-1]]
    if len(masks) != 1 or masks[0].element_type != i1 or not isinstance(op.arguments.data[2], UnitAttr):
        return None
    behind = array_type(op.inputs[0]).get_num_dims() - (len(entries) - 1) - masks[0].get_num_dims()
    value = array_type(op.inputs[-1])
    is_one = value.get_num_dims() <= behind or set(value.get_shape()) == {1}
    return behind if is_one and isinstance(entries[-1], UnitAttr) else None


def _index_put(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    adds = arguments[3:] == ["True"]
    if (behind := _masked_rank(op)) is not None:
        mask, value = printing.name(op.inputs[1]), arguments[2]
        shape = array_type(op.inputs[-1]).get_shape()
        value = f"{value}.reshape(())" if shape and set(shape) == {1} else value
        mask += f"[..., {', '.join(['None'] * behind)}]" if behind else ""
        return f"jnp.where({mask}, {f'{arguments[0]} + {value}' if adds else value}, {arguments[0]})"
    change = "add" if adds else "set"
    return f"{arguments[0]}.at[{_indices(arguments[1])}].{change}({arguments[2]})"


def _takes_rows(op: CallOp) -> bool:
    """Whether it is an ``aten.index_add(x, dim, index, source)``, without a factor."""
    return len(op.arguments) == 4 and isinstance(op.arguments.data[1], IntegerAttr)


def _index_add(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    rank = array_type(op.inputs[0]).get_num_dims()
    places = [*[":"] * (int(arguments[1]) % rank), arguments[2]] if rank else ["..."]
    return f"{arguments[0]}.at[{', '.join(places)}].add({arguments[3]})"


def _takes_lanes(op: CallOp) -> bool:
    """Whether it names a dimension and a place for each element."""
    return len(op.arguments) > 2 and isinstance(op.arguments.data[1], IntegerAttr)


def _named(op: CallOp) -> str:
    """The part of an array that places are named in: torch leaves out rows that they have no number for."""
    dim = int(literal_value(op.arguments.data[1]))
    array, index = (list(array_type(value).get_shape()) for value in op.inputs[:2])
    bounds = [f":{few}" if few != all else ":" for all, few in zip(array, index, strict=True)]
    if bounds:
        bounds[dim] = ":"
    return "" if set(bounds) <= {":"} else f"[{', '.join(bounds)}]"


def _gather(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    return f"jnp.take_along_axis({arguments[0]}{_named(op)}, {arguments[2]}, axis={arguments[1]})"


def _scatter(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    x, dim, index, value = arguments[:4]
    if len(op.inputs) == 3 and (few := array_type(op.inputs[1]).get_shape()) != array_type(op.inputs[2]).get_shape():
        value += f"[{', '.join(f':{n}' for n in few)}]" if few else ""
    part = _named(op)
    put = f"jnp.put_along_axis({x}{part}, {index}, {value}, axis={dim}, inplace=False)"
    return f"{x}.at{part}.set({put})" if part else put


def _takes_arrays(number: int, op: CallOp) -> bool:
    """Whether it has so many arguments, an array among them."""
    return len(op.arguments) == number and bool(op.inputs)


def _power(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    """``x ** y``; powers of integers may have negative exponents, which XLA gives no meaning."""
    dtype = printing.dtype(array_type(op.outputs[0]).element_type)
    is_whole = isinstance(array_type(op.outputs[0]).element_type, IntegerType)
    if not is_whole or not isinstance(op.arguments.data[1], UnitAttr):
        return f"({arguments[0]} ** {arguments[1]}).astype({dtype})"
    base, exponent = (Expr(f"jnp.asarray({each}, {dtype})") for each in arguments)
    return printing.spelt("_int_power({0}, {1})", base, exponent).text


def _sign(op: CallOp, arguments: Sequence[str], printing: PallasPrinter) -> str:
    """The sign of NaN is 0, and truths are their own."""
    element = array_type(op.outputs[0]).element_type
    text = "_sign({0})" if is_float(element) else "{0}" if element == i1 else "jnp.sign({0})"
    return printing.spelt(text, Expr(arguments[0])).text


def _indices(texts: str) -> str:
    """Index tensors, one a dimension; ``None`` is all of one."""
    return texts.removeprefix("[").removesuffix("]").replace("None", ":")


#: By the operator's name, for all of its overloads.
_FORMS: dict[str, _Form] = {
    "constant_pad_nd": _Form(_takes_padding, _pad),
    "cat": _Form(partial(_takes_list, 0), _cat),
    "pow": _Form(partial(_takes_arrays, 2), _power),
    "sign": _Form(partial(_takes_arrays, 1), _sign),
    "index": _Form(partial(_takes_list, 1), _index),
    "gather": _Form(_takes_lanes, _gather),
    "scatter": _Form(lambda op: _takes_lanes(op) and len(op.arguments) == 4, _scatter),
    "index_add": _Form(_takes_rows, _index_add),
    "index_put": _Form(_takes_places, _index_put),
}


def _alloc(printing: PallasPrinter, op: AllocOp) -> None:
    type = array_type(op.result)
    shape, dtype = printing.shape_text(type.get_shape()), printing.dtype(type.element_type)
    if op.fill is None or is_same_number(op.fill, 0.0):
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
    return ", ".join(_bound(*bound, printing) for bound in bounds) or "..."


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
