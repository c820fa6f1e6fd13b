"""Loads and stores: pointers from index lists and strides, and masks where lanes may be outside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntAttr, IntegerType, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.analysis.bottom_up import bottom_up
from kopt.dialects import tile, triton
from kopt.dialects.tile.extents import DimOp
from kopt.dialects.tile.index_list import AllAttr, SliceAttr, block_axes
from kopt.ir.widths import is_power_of_two
from kopt.lowering.expr import Expr, add, joint_shape, number, place, spell, times
from kopt.lowering.printer import Handler
from kopt.lowering.triton.kernel import TritonPrinter
from kopt.lowering.triton.ranges import both, masks_of
from kopt.open_extents import OpenExtent, open_extents

#: Offsets from here on need 64 bits.
_WIDE = 1 << 31
#: The beginnings of a number that is of the cell, and the ops between, beside those of `arith`.
_OF_CELL = frozenset({triton.ProgramIdOp, arith.ConstantOp})
_OF_INDICES = (triton.ProgramIdOp, triton.RangeOp, tile.BeginOp, tile.IdOp, tile.ShiftOp)


def strides_of(type: MemRefType) -> tuple[int, ...]:
    """Elements between neighbours along each dimension. Row-major where the type says nothing."""
    if not isinstance(type.layout, StridedLayoutAttr):
        shape = type.get_shape()
        return tuple(prod(shape[n + 1 :]) for n in range(len(shape)))
    known = [stride.data for stride in type.layout.strides.data if isinstance(stride, IntAttr)]
    assert len(known) == type.get_num_dims(), "verify-triton"
    return tuple(known)


def pointer(kernel: TritonPrinter, op: tile.Access) -> Expr:
    """``x + pid * 64 + j``, ``x + (i[:, None] * 64 + j[None, :])``: what all lanes have in common comes first."""
    type = op.memory.type
    assert isinstance(type, MemRefType)
    if open_extents(type.get_shape()):
        return _open_pointer(kernel, op, type)
    shape, strides = type.get_shape(), strides_of(type)
    wide = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True) if size) >= _WIDE
    indices = [_index(kernel, op, position) for position in range(len(shape))]
    constant, terms, cell = 0, [], _position_of_cell(op, indices)
    for position, (index, size, stride) in enumerate(zip(indices, shape, strides, strict=True)):
        if index.literal is not None:
            constant += int(index.literal) * stride
            continue
        if position == cell and not is_power_of_two(stride):
            index = _widened(index, kernel.cell_is_tensor)
        elif size * stride >= _WIDE and not _is_wide(op, position):
            index = _widened(index)
        scaled = times(index, number(stride))
        # A repeated dimension (stride 0) still gives the pointer its shape.
        terms.append(scaled if scaled.literal is None else spell("{0} * 0", index))
    return _sum(kernel[op.memory], terms, constant, wide)


def _position_of_cell(op: tile.Access, indices: Sequence[Expr]) -> int | None:
    """The one dimension of which the cell alone tells the element, where no other index is the same in all lanes.

    Its offset is made in 64 bits: that is the multiplication which adds it to the pointer, where 32 bits take another
    one before, or a shift. Several offsets are summed in 32 bits, and those of loops advance by additions.
    """
    of_all = [position for position, index in enumerate(indices) if index.literal is None and not index.shape]
    return of_all[0] if len(of_all) == 1 and _is_of_cell(op.entries[of_all[0]]) else None


def _is_of_cell(entry: object) -> bool:
    """Whether a number is computed of the program's own, and of nothing but constants besides."""
    return isinstance(entry, SSAValue) and triton.ProgramIdOp in (found := _origins(entry)) and found <= _OF_CELL


@bottom_up()
def _origins(number: SSAValue) -> frozenset[type[Operation] | None]:
    """What a number is computed of: the ops in which it begins, None where it is not made of indices alone."""
    op = number.owner
    if not isinstance(op, Operation) or not (isinstance(op, _OF_INDICES) or op.dialect_name() == "arith"):
        return frozenset({None})
    return frozenset().union(*map(_origins, op.operands)) if op.operands else frozenset({type(op)})


def _open_pointer(kernel: TritonPrinter, op: tile.Access, type: MemRefType) -> Expr:
    """The pointer into an array of which extents differ from call to call: its offsets need 64 bits, for all we know.

    Indices of the last dimension do not: extents are below 2^31.
    """
    assert not isinstance(type.layout, StridedLayoutAttr), "verify-triton"
    shape, terms = type.get_shape(), []
    for position in range(len(shape)):
        index, inner = _index(kernel, op, position), shape[position + 1 :]
        if inner and not _is_wide(op, position):
            index = _widened(index if index.literal is None else Expr(index.text))
        known = prod(extent for extent in inner if not isinstance(extent, OpenExtent))
        for stride in [number(known), *(kernel.extents[extent] for extent in inner if isinstance(extent, OpenExtent))]:
            index = times(index, stride)
        terms.append(index)
    return _sum(kernel[op.memory], terms, 0, True)


def _sum(base: Expr, terms: Sequence[Expr], constant: int, wide: bool) -> Expr:
    """The pointer to the lane's element. Offsets are summed first, in 32 bits, unless the sum needs 64.

    What is the same in all lanes moves the array's own pointer: a program has it once, and a lane adds the rest.
    """
    parts = [*terms, *([number(constant)] if constant else [])]
    of_all = [part for part in parts if not part.shape]
    of_lanes = [part for part in parts if part.shape]
    for offsets in filter(None, (of_all, of_lanes)):
        base = reduce(_plus, offsets, base) if wide else _plus(base, reduce(_plus, offsets))
    return base


def _plus(first: Expr, second: Expr) -> Expr:
    return spell("{0} + {1}", first, second)


def _is_wide(op: tile.Access, position: int) -> bool:
    """Whether an entry already counts in 64 bits."""
    entry = op.entries[position]
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, tile.TileType):
        return False
    element = entry.type.element_type
    return isinstance(element, IntegerType) and element.width.data == 64


def _widened(index: Expr, is_tensor: bool = False) -> Expr:
    return spell("{0}.to(tl.int64)" if index.shape or is_tensor else "tl.cast({0}, tl.int64)", index)


def _index(kernel: TritonPrinter, op: tile.Access, position: int) -> Expr:
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


def _lanes(kernel: TritonPrinter, op: tile.Access, position: int) -> Expr:
    entry = op.entries[position]
    if isinstance(entry, SSAValue):
        return kernel.ranges[entry].lanes
    size = op.memory.type.get_shape()[position]  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(entry, AllAttr):
        return _counting(size)
    assert isinstance(entry, SliceAttr)
    lanes = times(_counting(entry.length), number(entry.step.data))
    return add(number(entry.start.data), lanes)


def _counting(size: int) -> Expr:
    assert is_power_of_two(size), "verify-triton"
    return Expr(f"tl.arange(0, {size})", shape=(size,))


def mask_of(kernel: TritonPrinter, op: tile.Access) -> Expr | None:
    """The lanes that an access touches, or None where it touches all."""
    own = kernel.typed(op.mask) if op.mask is not None else None
    return both([mask for mask in (masks_of(kernel, kernel.ragged[op]), own) if mask is not None])


def mask_argument(kernel: TritonPrinter, op: tile.Access) -> list[str]:
    """``mask=…``, or nothing where every lane is touched."""
    mask = mask_of(kernel, op)
    return [f"mask={mask.text}"] if mask is not None else []


def reaching(kernel: TritonPrinter, at: Expr, type: tile.TileType, *others: Expr | None) -> Expr:
    """A pointer for each lane of masks and values: a place that is the same in all lanes of a dimension has one.

    Triton broadcasts masks and values to the pointers, and not the other way round.
    """
    return kernel.broadcast(at, joint_shape((at, *(other for other in others if other is not None))), type)


def _fill(op: tile.LoadOp) -> Attribute | None:
    """What lanes take that are not read; where there is a mask, the fill outside the ranges is the same."""
    return op.pad if op.mask is None else op.other or tile.literal(0, tile.tile_type(op.result).element_type)


def print_load(kernel: TritonPrinter, op: tile.LoadOp) -> None:
    """``v = tl.load(pointer, mask=…, other=…)``: always a line of its own, where the program reads."""
    if not op.result.uses:
        return
    type = tile.tile_type(op.result)
    at = reaching(kernel, pointer(kernel, op), type, mask_of(kernel, op))
    arguments = [at.text, *mask_argument(kernel, op)]
    if (fill := _fill(op)) is not None and len(arguments) > 1:
        arguments.append(f"other={kernel.literal(fill).text}")
    hint = op.result.name_hint or f"{kernel[op.memory].text}_block"
    if op.eviction is not None:
        arguments.append(f'eviction_policy="{op.eviction.data}"')
    kernel.assign(op.result, Expr(f"tl.load({', '.join(arguments)})", shape=at.shape), hint)


def print_store(kernel: TritonPrinter, op: tile.StoreOp) -> None:
    """``tl.store(pointer, v, mask=…)``."""
    value = kernel[op.value]
    at = reaching(kernel, pointer(kernel, op), tile.tile_type(op.value), value, mask_of(kernel, op))
    arguments = [at.text, value.text, *mask_argument(kernel, op)]
    kernel.line(f"tl.store({', '.join(arguments)})")


def print_dim(kernel: TritonPrinter, op: DimOp) -> None:
    """An extent is a parameter of the kernel."""
    kernel.alias(op.result, kernel.extent(op.extent))


HANDLERS: dict[type[Operation], Handler] = {DimOp: print_dim, tile.LoadOp: print_load, tile.StoreOp: print_store}
