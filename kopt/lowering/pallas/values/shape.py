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
)
from kopt.lowering.pallas.printing import PallasPrinter, ValuePrinter
from kopt.lowering.pallas.values.helpers import use_helper
from kopt.lowering.pallas.values.operands import shape_text
from kopt.lowering.pallas.values.ranges import element_numbers


def _full(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, FullOp)
    return _filled(printing.literal(op.value), op, printing)


def _splat(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, SplatOp)
    return _filled(printing.name(op.scalar), op, printing)


def _filled(scalar: str, op: FullOp | SplatOp, printing: PallasPrinter) -> str:
    dtype = printing.dtype(element_of(op.result))
    shape = printing.shape(op.result)
    return f"jnp.full({shape_text(shape)}, {scalar}, {dtype})" if shape else f"jnp.asarray({scalar}, {dtype})"


def _extract(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, ExtractOp)
    name = printing.name(op.input)
    is_index = op.result.type.name == "index" and element_of(op.input) != i1
    return f"{name}.astype(jnp.int32)" if is_index else name


def _arange(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, ArangeOp)
    start, step = op.start.data, op.step.data
    dtype = printing.dtype(element_of(op.result))
    lanes = f"jax.lax.broadcasted_iota({dtype}, {shape_text(printing.shape(op.result))}, 0)"
    scaled = lanes if step == 1 else f"{step} * {lanes}"
    return scaled if start == 0 else f"{start} + {scaled}"


def _broadcast(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, BroadcastOp)
    target, mapping = printing.shape(op.result), op.mapping
    if isinstance(op.input.owner, IndexOp):  # counted where they are wanted: moving lanes costs more
        return element_numbers(op.input.owner.range, target, mapping[0], printing)
    name = printing.name(op.input)
    first = min(mapping, default=len(target))
    if set(mapping) != set(range(first, len(target))):
        inserted = [":" if dim in mapping else "None" for dim in range(first, len(target))]
        name = f"{name}[{', '.join(inserted)}]"
    if element_of(op.result) == i1:  # Mosaic repeats no mask along rows where it then selects 16-bit elements
        return f"(jnp.broadcast_to({name}.astype(jnp.int32), {shape_text(target)}) != 0)"
    return f"jnp.broadcast_to({name}, {shape_text(target)})"


def _reshape(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, ReshapeOp)
    return f"{printing.name(op.input)}.reshape({shape_text(printing.shape(op.result))})"


def _transpose(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, TransposeOp)
    name = printing.name(op.input)
    return f"{name}.T" if op.order == (1, 0) else f"jnp.transpose({name}, {op.order})"


def _slice(op: Operation, printing: PallasPrinter) -> str:
    """Mosaic has slices of stride 1 only; others go one dimension at a time through a helper."""
    assert isinstance(op, SliceOp)
    name = printing.name(op.input)
    parts = [_part(*bound, lanes) for bound, lanes in zip(op.bounds, printing.shape(op.input), strict=True)]
    if any(part != ":" for part in parts):
        name = f"{name}[{', '.join(parts)}]"
    for axis, (offset, size, stride) in enumerate(op.bounds):
        if _is_strided(size, stride):
            name = f"{use_helper('_strided', printing)}({name}, {axis}, {offset}, {size}, {stride})"
    return name


def _is_strided(size: int, stride: int) -> bool:
    return stride > 1 and size > 1


def _part(offset: int, size: int, stride: int, lanes: int) -> str:
    whole = (offset, size) == (0, lanes) or _is_strided(size, stride)
    return ":" if whole else f"{offset}:{offset + size}"


def _dynamic_slice(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, DynamicSliceOp)
    dim, name, offset = op.dim.data, printing.name(op.input), printing.name(op.offset)
    lanes, size = printing.shape(op.input), printing.shape(op.result)[dim]
    if offset.isdigit():
        part = _part(int(offset), size, 1, lanes[dim])
        return name if part == ":" else f"{name}[{', '.join([*[':'] * dim, part])}]"
    return f"{use_helper('_lanes_from', printing)}({name}, {offset}, {size}, {dim})"


def _concat(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, ConcatOp)
    dim = op.dim.data
    names = [printing.name(value) for value in op.inputs if printing.shape(value)[dim]]
    if len(names) == 1:
        return names[0]
    return f"jnp.concatenate([{', '.join(names)}], axis={dim})"


def _take_along(op: Operation, printing: PallasPrinter) -> str:
    """Where every column picks the same rows of a matrix, one product; else one comparison a lane."""
    assert isinstance(op, TakeAlongOp)
    name, dim = printing.name(op.input), op.dim.data
    if op.rows is not None:
        return f"{use_helper('_take_rows', printing)}({name}, {printing.name(op.rows)})"
    return f"{use_helper('_take_along', printing)}({name}, {printing.name(op.indices)}, {dim})"


PRINTERS: dict[type[Operation], ValuePrinter] = {
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
