"""The jnp spelling of constants and of ops that rearrange lanes."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation

from kopt.dialects.tile import (
    ArangeOp,
    BroadcastOp,
    ConcatOp,
    DynamicSliceOp,
    ExtractOp,
    FullOp,
    IndexOp,
    ReshapeOp,
    SliceOp,
    SplatOp,
    TakeAlongOp,
    TransposeOp,
    element_of,
    tile_type,
)
from kopt.lowering.expr import Expr, add, number, spell, times
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.pallas.values.elementwise import is_number_only
from kopt.lowering.pallas.values.ranges import element_numbers
from kopt.lowering.printer import Handler

#: Up to how many lanes that are picked one by one are written out.
_WRITTEN_OUT = 256


def _full(printing: PallasPrinter, op: FullOp) -> None:
    if not is_number_only(op):
        printing.define(op.result, _filled(printing.literal(op.value), op, printing))


def _splat(printing: PallasPrinter, op: SplatOp) -> None:
    printing.define(op.result, _filled(printing[op.scalar], op, printing))


def _filled(scalar: Expr, op: FullOp | SplatOp, printing: PallasPrinter) -> Expr:
    dtype, shape = printing.dtype(element_of(op.result)), printing.shape(op.result)
    return spell(f"jnp.full({shape}, {{0}}, {dtype})" if shape else f"jnp.asarray({{0}}, {dtype})", scalar)


def _extract(printing: PallasPrinter, op: ExtractOp) -> None:
    is_index = op.result.type.name == "index" and element_of(op.input) != i1
    printing.define(op.result, printing.spell("{0}.astype(jnp.int32)" if is_index else "{0}", op.input))


def _arange(printing: PallasPrinter, op: ArangeOp) -> None:
    printing.define(op.result, _counted(op, printing.shape(op.result), 0, printing))


def _counted(op: ArangeOp, shape: tuple[int, ...], dim: int, printing: PallasPrinter) -> Expr:
    """The numbers along a dimension of a block of some shape."""
    lanes = Expr(f"jax.lax.broadcasted_iota({printing.dtype(element_of(op.result))}, {shape}, {dim})")
    return add(number(op.start.data), times(number(op.step.data), lanes))


def _broadcast(printing: PallasPrinter, op: BroadcastOp) -> None:
    target, mapping = printing.shape(op.result), op.mapping
    lanes = op.input.owner  # counted where they are wanted, unless the only one is repeated: moving lanes costs more
    if isinstance(lanes, IndexOp | ArangeOp) and printing.shape(op.input) == (target[mapping[0]],):
        at = (target, mapping[0], printing)
        found = _counted(lanes, *at) if isinstance(lanes, ArangeOp) else element_numbers(lanes.range, *at)
        printing.define(op.result, found)
        return
    if printing.shape(op.input) == target:  # no more than tags
        printing.pass_on(op.result, op.input)
        return
    first, slots = min(mapping, default=len(target)), ""
    if set(mapping) != set(range(first, len(target))):
        slots = f"[{', '.join(':' if dim in mapping else 'None' for dim in range(first, len(target)))}]"
    # Mosaic repeats no mask along rows where it then selects 16-bit elements.
    is_mask = element_of(op.result) == i1
    text = "jnp.broadcast_to({0}%s.astype(jnp.int32), %s) != 0" if is_mask else "jnp.broadcast_to({0}%s, %s)"
    printing.define(op.result, printing.spell(text % (slots, target), op.input))


def _reshape(printing: PallasPrinter, op: ReshapeOp) -> None:
    if printing.shape(op.input) == printing.shape(op.result):  # no more than tags
        printing.define(op.result, printing[op.input])
        return
    printing.define(op.result, printing.spell(f"{{0}}.reshape({printing.shape(op.result)})", op.input))


def _transpose(printing: PallasPrinter, op: TransposeOp) -> None:
    text = "{0}.T" if op.order == (1, 0) else f"jnp.transpose({{0}}, {op.order})"
    printing.define(op.result, printing.spell(text, op.input))


def _slice(printing: PallasPrinter, op: SliceOp) -> None:
    """Mosaic has slices of stride 1 only; others go one dimension at a time through a helper."""
    expr = printing[op.input]
    parts = [_part(*bound, lanes) for bound, lanes in zip(op.bounds, printing.shape(op.input), strict=True)]
    if any(part != ":" for part in parts):
        expr = spell(f"{{0}}[{', '.join(parts)}]", expr)
    for axis, (offset, size, stride) in enumerate(op.bounds):
        if _is_strided(size, stride):
            expr = printing.spelt(f"_strided({{0}}, {axis}, {offset}, {size}, {stride})", expr)
    printing.define(op.result, expr)


def _is_strided(size: int, stride: int) -> bool:
    return stride > 1 and size > 1


def _part(offset: int, size: int, stride: int, lanes: int) -> str:
    whole = (offset, size) == (0, lanes) or _is_strided(size, stride)
    return ":" if whole else f"{offset}:{offset + size}"


def _dynamic_slice(printing: PallasPrinter, op: DynamicSliceOp) -> None:
    dim, offset = op.dim.data, printing[op.offset].literal
    lanes, size = printing.shape(op.input), printing.shape(op.result)[dim]
    if offset is None:
        text = f"_lanes_from({{0}}, {{1}}, {size}, {dim})"
    else:
        part = _part(int(offset), size, 1, lanes[dim])
        text = "{0}" if part == ":" else f"{{0}}[{', '.join([*[':'] * dim, part])}]"
    printing.define(op.result, printing.spell(text, op.input, op.offset))


def _concat(printing: PallasPrinter, op: ConcatOp) -> None:
    dim = op.dim.data
    values = [value for value in op.inputs if printing.shape(value)[dim]]
    texts = ", ".join(printing[value].text for value in values)
    alone = printing[values[0]] if len(values) == 1 else None
    printing.define(op.result, alone or Expr(f"jnp.concatenate([{texts}], axis={dim})"))


def _take_along(printing: PallasPrinter, op: TakeAlongOp) -> None:
    """Where every column picks the same rows of a matrix, one product; else one comparison a lane, many in a loop."""
    function = "_take_many" if tile_type(op.result).shape[op.dim.data] > _WRITTEN_OUT else "_take_along"
    if op.rows is not None:
        expr = printing.spell("_take_rows({0}, {1})", op.input, op.rows)
    else:
        expr = printing.spell(f"{function}({{0}}, {{1}}, {op.dim.data})", op.input, op.indices)
    printing.define(op.result, expr)


HANDLERS: dict[type[Operation], Handler] = {
    FullOp: _full,
    SplatOp: _splat,
    ExtractOp: _extract,
    ArangeOp: _arange,
    BroadcastOp: _broadcast,
    ReshapeOp: _reshape,
    TransposeOp: _transpose,
    SliceOp: _slice,
    DynamicSliceOp: _dynamic_slice,
    ConcatOp: _concat,
    TakeAlongOp: _take_along,
}
