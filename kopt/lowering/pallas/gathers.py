"""Gathers and scatters by DMA: ``tile.get`` and ``tile.put`` of a ref in HBM by tiles of row numbers.

A ``tile.load`` that still has a tile among its indices after ``realise-values`` is moved by one DMA a gathered place.
Its memref stays in HBM, whole, and the load becomes a ``tile.get`` on a ``!tile.ref<…, hbm>`` with the same index list.
The buffers and semaphores that it needs are allocated inside the expression, so the launch needs no scratch for it.

    v = _gather(table_ref, (n, (0, 256)))                  # x[%n, :]
    v = _block(_gather(table_ref, (n, (0, 200))), 1, j_begin, 128)   # x[%n, %j] where 128 does not divide 200
    _scatter(out_ref, (n, (0, 256)), v)                    # out[%n, :]
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from kopt.analysis.layouts import sublanes
from kopt.diagnostics import location_of
from kopt.dialects.tile import GetOp, PutOp, RangeType, RefType, SliceAttr, block_axes, is_gather
from kopt.dialects.tile.index_list import AllAttr, Entry
from kopt.errors import LoweringError
from kopt.lowering.pallas.printing import Printing
from kopt.lowering.pallas.values.helpers import use_helper
from kopt.targets.tiling import LANES


@dataclass(frozen=True)
class _Place:
    """What the DMAs fetch of one dimension, and what is cut from it after: by a slice, or by a block's begin."""

    fetched: str
    cut: str = ""
    block: tuple[str, int] | None = None


def is_gathering(op: GetOp | PutOp) -> bool:
    """Whether a read gathers from an array in HBM, or a write scatters to one."""
    return any(is_gather(entry) for entry in op.entries)


def print_gather(op: GetOp, printing: Printing) -> str:
    """The expression of a gathering `tile.get`.

    Refuses, with the access's place: steps of a slice, and blocks that do not start at multiples of their size.
    """
    type = op.memory.type
    assert isinstance(type, RefType)
    places = [_place(op, position, entry, printing) for position, entry in enumerate(op.entries)]
    fetched = ", ".join(place.fetched for place in places)
    text = (
        f"{use_helper('_gather', printing)}({printing.name(op.memory)}, ({fetched}{',' if len(places) == 1 else ''}))"
    )
    axes = block_axes(op.entries, type.shape)
    cuts = [places[axis.position].cut or ":" for axis in axes]
    if any(cut != ":" for cut in cuts):
        text = f"{text}[{', '.join(cuts)}]"
    for number, axis in enumerate(axes):
        block = places[axis.position].block
        if block is not None and axis.gather_dim is None:
            text = f"{use_helper('_block', printing)}({text}, {number}, {block[0]}, {block[1]})"
    return text


def print_scatter(op: PutOp, printing: Printing) -> str:
    """The statement of a scattering `tile.put`, of one tile of row numbers before whole blocks."""
    places = ", ".join(_place(op, position, entry, printing).fetched for position, entry in enumerate(op.entries))
    name, value = printing.name(op.memory), printing.name(op.value)
    return f"{use_helper('_scatter', printing)}({name}, ({places}), {value})"


def _place(op: GetOp | PutOp, position: int, entry: Entry, printing: Printing) -> _Place:
    assert isinstance(op.memory.type, RefType)
    extent = op.memory.type.shape[position]
    if isinstance(entry, AllAttr):
        return _Place(f"(0, {extent})")
    if isinstance(entry, SliceAttr):
        if entry.step.data != 1:
            raise LoweringError("a gather takes no strided slices on TPU", location_of(op))
        return _Place(f"(0, {extent})", cut=str(entry))
    if isinstance(entry, int):
        return _Place(str(entry))
    if isinstance(entry.type, RangeType):
        return _range_place(op, position, entry, printing)
    return _Place(printing.name(entry))


def _range_place(op: GetOp | PutOp, position: int, range: SSAValue, printing: Printing) -> _Place:
    """A block that DMAs can cut out of the array, or else the whole dimension and a cut on the chip."""
    assert isinstance(op.memory.type, RefType) and isinstance(range.type, RangeType)
    extent, size, divisor = op.memory.type.shape[position], range.type.size, printing.sums.begin(range).divisor
    first = printing.begin(range)
    if size == extent and divisor % extent == 0:
        return _Place(f"(0, {extent})")
    if divisor % size != 0:
        raise LoweringError(f"a gather takes blocks of {range.type} that start at their multiples", location_of(op))
    if extent % size == 0 and size % _unit(op.memory.type, position) == 0:
        return _Place(f"(pl.multiple_of({first}, {size}), {size})")
    return _Place(f"(0, {extent})", block=(first, size))


def _unit(type: RefType, position: int) -> int:
    """What the size of a DMA must be a multiple of, in one dimension."""
    element = type.element_type
    assert isinstance(element, FixedBitwidthType)
    from_end = position - type.rank
    return {-1: LANES, -2: sublanes(max(8, element.bitwidth))}.get(from_end, 1)
