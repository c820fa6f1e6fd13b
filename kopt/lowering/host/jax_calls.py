"""Host ops in jnp: allocations, views and torch operators by their ATen names.

`kopt.lowering.host.jnp_spellings` has the templates of operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, IntegerType, MemRefType, NoneAttr, NoneType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.diagnostics import location_of
from kopt.dialects.host import AllocOp, CallOp, ExpandOp, InsertOp, PermuteOp, ReshapeOp, SliceOp
from kopt.dialects.tile import array_type, literal_value
from kopt.errors import LoweringError
from kopt.lowering.expr import JNP, Expr, number, spell
from kopt.lowering.host.jnp_spellings import MOST, spelling
from kopt.lowering.printer import Handler

if TYPE_CHECKING:
    from kopt.lowering.pallas.printing import Printing


def _call(printing: Printing, op: CallOp) -> None:
    printing.define(op.outputs[0], Expr(_text(op, printing)))


def _text(op: CallOp, printing: Printing) -> str:
    arguments = list(_arguments(op, printing))
    result = array_type(op.outputs[0])
    name = op.callee.data
    if name.startswith("aten.constant_pad_nd"):
        return _pad(op, arguments, printing)
    if name.startswith("aten.cat"):
        return f"jnp.concatenate({arguments[0]}, axis={arguments[1] if len(arguments) > 1 else 0})"
    if name.startswith("aten.index.Tensor"):
        return f"{arguments[0]}[{_index(op, arguments[1])}]"
    if name.startswith("aten.index_put."):
        change = "add" if arguments[3:] == ["True"] else "set"
        return f"{arguments[0]}.at[{_index(op, arguments[1])}].{change}({arguments[2]})"
    rounding = [each for each in arguments[2:] if each != "None"]
    if (texts := _DIVISIONS.get((*name.split(".")[1:2], *rounding))) is not None:
        return _division(texts[isinstance(result.element_type, IntegerType)], arguments, result, printing)
    text = spelling(name, arguments) if len(op.outputs) == 1 else None
    if text is None:
        raise LoweringError(f"'{name}' of these arguments has no spelling in jnp", location_of(op))
    filled = [*arguments, *[""] * MOST]
    return text.format(*filled, dtype=printing.dtype(result.element_type), shape=tuple(result.get_shape()))


#: Divisions of floats and of integers, which give 0 by 0: by name and way of rounding.
_FLOOR = ("{0} // {1}", "_divided(jnp.floor_divide, {0}, {1})")
_DIVISIONS = {
    ("floor_divide",): _FLOOR,
    ("div", "'floor'"): _FLOOR,
    ("div", "'trunc'"): ("jnp.trunc({0} / {1})", "_truncated({0}, {1})"),
    ("fmod",): ("jnp.fmod({0}, {1})", "_divided(jnp.fmod, {0}, {1})"),
}


def _division(text: str, arguments: Sequence[str], result: MemRefType, printing: Printing) -> str:
    return printing.spelt(f"({text}).astype({printing.dtype(result.element_type)})", *map(Expr, arguments)).text


def _index(op: CallOp, indices: str) -> str:
    """Index tensors, one a dimension; ``None`` is all of one."""
    if len(op.arguments.data) < 2 or not isinstance(op.arguments.data[1], ArrayAttr):
        raise LoweringError(f"'{op.callee.data}' of these arguments has no spelling in jnp", location_of(op))
    return indices.removeprefix("[").removesuffix("]").replace("None", ":")


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
    return number(literal_value(attribute), special=JNP).text


def _pad(op: CallOp, arguments: Sequence[str], printing: Printing) -> str:
    """``aten.constant_pad_nd(x, [lo, hi, …] from the last dimension, value)``."""
    numbers = [int(literal_value(item)) for item in op.arguments.data[1].data]  # pyright: ignore
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    rank = len(array_type(op.outputs[0]).get_shape())
    widths = [(0, 0)] * (rank - len(pairs)) + pairs[::-1]
    value = arguments[2] if len(arguments) > 2 else "0"
    fill = "" if value in ("0", "0.0") else f", constant_values={value}"
    return f"jnp.pad({arguments[0]}, {widths}{fill})"


def _alloc(printing: Printing, op: AllocOp) -> None:
    type = array_type(op.result)
    shape, dtype = tuple(type.get_shape()), printing.dtype(type.element_type)
    if op.fill is None or literal_value(op.fill) == 0:
        expr = Expr(f"jnp.zeros({shape}, {dtype})")
    else:
        expr = spell(f"jnp.full({shape}, {{0}}, {dtype})", printing.literal(op.fill))
    printing.define(op.result, expr)


def _reshape(printing: Printing, op: ReshapeOp) -> None:
    printing.define(op.result, printing.spell(f"{{0}}.reshape({tuple(op.result_type.get_shape())})", op.source))


def _permute(printing: Printing, op: PermuteOp) -> None:
    printing.define(op.result, printing.spell(f"jnp.transpose({{0}}, {op.order})", op.source))


def _slice(printing: Printing, op: SliceOp) -> None:
    printing.define(op.result, printing.spell(f"{{0}}[{_bounds(op.bounds)}]", op.source))


def _bounds(bounds: Sequence[tuple[int, int, int]]) -> str:
    return ", ".join(_bound(*bound) for bound in bounds)


def _bound(offset: int, size: int, stride: int) -> str:
    stop = offset + (size - 1) * stride + 1 if size else offset
    start = str(offset) if offset else ""
    return f"{start}:{stop}" + (f":{stride}" if stride != 1 else "")


def _expand(printing: Printing, op: ExpandOp) -> None:
    text = f"jnp.broadcast_to({{0}}, {tuple(op.result_type.get_shape())})"
    printing.define(op.result, printing.spell(text, op.source))


def _insert(printing: Printing, op: InsertOp) -> None:
    printing.define(op.result, printing.spell(f"{{0}}.at[{_bounds(op.bounds)}].set({{1}})", op.base, op.value))


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
