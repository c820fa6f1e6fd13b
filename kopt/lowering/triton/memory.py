"""Loads and stores: pointers from index lists and strides, and masks where lanes may be outside."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import SSAValue

from kopt.diagnostics import location_of
from kopt.dialects import tile, triton
from kopt.dialects.tile.index_list import AllAttr, SliceAttr, block_axes
from kopt.errors import LoweringError
from kopt.lowering.triton.expressions import SUM, Expr, infix, method, number, place
from kopt.lowering.triton.kernel import Handler, Kernel, tile_type
from kopt.lowering.triton.ranges import add, both, masks_of, times

#: Offsets from here on need 64 bits.
_WIDE = 1 << 31


def strides_of(type: MemRefType) -> tuple[int, ...]:
    """Elements between neighbours along each dimension. Row-major where the type says nothing."""
    layout = type.layout
    if isinstance(layout, StridedLayoutAttr):
        found = tuple(None if isinstance(stride, NoneAttr) else stride.data for stride in layout.strides.data)
        if None in found:
            raise LoweringError(f"{type} has strides that are not known")
        return tuple(stride for stride in found if stride is not None)
    if not isinstance(layout, NoneAttr):
        raise LoweringError(f"{type} has no strides")
    strides: list[int] = []
    step = 1
    for size in reversed(type.get_shape()):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def pointer(kernel: Kernel, op: triton.CheckedAccess) -> Expr:
    """``x + (i[:, None] * 64 + j[None, :])``."""
    type = op.memory.type
    assert isinstance(type, MemRefType)
    shape, strides = type.get_shape(), strides_of(type)
    wide = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True) if size) >= _WIDE
    constant, terms = 0, []
    for position, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        index = _index(kernel, op, position)
        if index.literal is not None:
            constant += int(index.literal) * stride
            continue
        if size * stride >= _WIDE and not _is_wide(op, position):
            index = _widened(index)
        scaled = times(index, number(stride))
        # A repeated dimension (stride 0) still gives the pointer its shape.
        terms.append(scaled if scaled.literal is None else infix("*", 7, index, number(0)))
    return _sum(kernel[op.memory], terms, constant, wide)


def _sum(base: Expr, terms: Sequence[Expr], constant: int, wide: bool) -> Expr:
    """The pointer. Offsets are summed first, in 32 bits, unless the sum needs 64."""
    parts = [*terms, *([number(constant)] if constant or not terms else [])]
    if not terms and not constant:
        return base
    if wide:
        for part in parts:
            base = infix("+", SUM, base, part)
        return base
    offset = parts[0]
    for part in parts[1:]:
        offset = infix("+", SUM, offset, part)
    return infix("+", SUM, base, offset)


def _is_wide(op: triton.CheckedAccess, position: int) -> bool:
    """Whether an entry already counts in 64 bits."""
    entry = op.entries[position]
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, tile.TileType):
        return False
    element = entry.type.element_type
    return isinstance(element, IntegerType) and element.width.data == 64


def _widened(index: Expr) -> Expr:
    return method(index, "to(tl.int64)") if index.shape else Expr(f"tl.cast({index.text}, tl.int64)")


def _index(kernel: Kernel, op: triton.CheckedAccess, position: int) -> Expr:
    """The element numbers along one dimension of the memref, placed among the block's dimensions."""
    entry = op.entries[position]
    if isinstance(entry, int):
        return number(entry)
    if isinstance(entry, SSAValue) and not isinstance(entry.type, tile.RangeType | tile.TileType):
        return kernel[entry]
    axes = block_axes(op.entries, op.memory.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
    if tile.is_gather(entry):
        assert isinstance(entry, SSAValue)
        positions = [n for n, axis in enumerate(axes) if axis.gather_dim is not None]
        return place(kernel[entry], positions, len(axes))
    own = next(n for n, axis in enumerate(axes) if axis.position == position)
    return place(_lanes(kernel, op, position), [own], len(axes))


def _lanes(kernel: Kernel, op: triton.CheckedAccess, position: int) -> Expr:
    entry = op.entries[position]
    if isinstance(entry, SSAValue):
        return kernel.ranges[entry].lanes
    size = op.memory.type.get_shape()[position]  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(entry, AllAttr):
        return _counting(op, size)
    assert isinstance(entry, SliceAttr)
    lanes = times(_counting(op, entry.length), number(entry.step.data))
    return add(number(entry.start.data), lanes)


def _counting(op: triton.CheckedAccess, size: int) -> Expr:
    if size < 1 or size & (size - 1):
        raise LoweringError(
            f"Triton blocks are powers of two, found a dimension of {size}",
            location_of(op),
            notes=["run pad-to-power-of-two before convert-tile-to-triton"],
        )
    return Expr(f"tl.arange(0, {size})", shape=(size,))


def mask_of(kernel: Kernel, op: triton.CheckedAccess) -> Expr | None:
    """The lanes that an access touches, or None where it touches all."""
    own = kernel.typed(op.mask) if op.mask is not None else None
    return both([mask for mask in (masks_of(kernel, op.limits), own) if mask is not None])


def mask_argument(kernel: Kernel, op: triton.CheckedAccess) -> list[str]:
    """``mask=…``, or nothing where every lane is touched."""
    mask = mask_of(kernel, op)
    return [f"mask={mask.text}"] if mask is not None else []


def print_load(kernel: Kernel, op: triton.LoadOp) -> None:
    """``v = tl.load(pointer, mask=…, other=…)``: always a line of its own, where the program reads."""
    if not op.result.uses:
        return
    place = pointer(kernel, op)
    arguments = [place.text, *mask_argument(kernel, op)]
    if op.other is not None and len(arguments) > 1:
        arguments.append(f"other={kernel.literal(op.other).text}")
    hint = op.result.name_hint or f"{kernel[op.memory].text}_block"
    # A row number that is the same in all lanes is a scalar, and so is what it loads.
    shape = tile_type(op.result).shape if place.shape or len(arguments) > 1 else ()
    kernel.assign(op.result, Expr(f"tl.load({', '.join(arguments)})", shape=shape), hint)


def print_store(kernel: Kernel, op: triton.StoreOp) -> None:
    """``tl.store(pointer, v, mask=…)``."""
    value = kernel[op.value]
    arguments = [pointer(kernel, op).text, value.text, *mask_argument(kernel, op)]
    kernel.line(f"tl.store({', '.join(arguments)})")


HANDLERS: dict[type, Handler] = {triton.LoadOp: print_load, triton.StoreOp: print_store}
