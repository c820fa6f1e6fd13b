"""The access relation of an operation: its index list as expressions, its ranges and mask as a domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import Access, AllAttr, RefType, TileType, block_axes, is_range, tile_type
from kopt.dialects.tile.index_list import IndexedDim
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.access_relation import AccessRelation, settled
from kopt.ir.condition import TRUE, Condition, conjunction, known_where
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_lists import indices
from kopt.ir.polynomial import Coefficient
from kopt.ir.ranges import ranges_in_scope


def relation_of(op: Access, analysis: IndexAnalysis | None = None) -> AccessRelation:
    """Which elements of its memory an access reads or writes; ``analysis`` remembers what others have asked for."""
    m = IndexAnalysis() if analysis is None else analysis
    mask: SSAValue | None = getattr(op, "mask", None)
    axes = block_axes(op.entries, memory_shape(op.memory.type))
    domain = conjunction([*_inside(m, op, axes), *([] if mask is None else [m.condition(mask)])])
    return replace(unguarded(op, m), domain=domain)


def unguarded(op: Access, m: IndexAnalysis) -> AccessRelation:
    """The relation of all lanes of a block, those too that lie outside of its ranges or that a mask leaves out."""
    shape, axes = memory_shape(op.memory.type), block_axes(op.entries, memory_shape(op.memory.type))
    return AccessRelation(
        shape,
        tuple(_lanes(m, op, axis) for axis in axes),
        tuple(
            index if isinstance(entry, AllAttr) else settled(index, extent)
            for entry, index, extent in zip(op.entries, indices(op, m), shape, strict=True)
        ),
        TRUE,
        _bits(op.memory),
    )


def _lanes(m: IndexAnalysis, op: Access, axis: IndexedDim) -> Coefficient:
    """The lanes of a dimension of an access's block."""
    rows = op.entries[axis.position]
    if axis.gather_dim is None or not isinstance(rows, SSAValue):
        return m.lanes_of(axis.dim)
    return m.lanes_along(rows, axis.gather_dim)


def _inside(m: IndexAnalysis, op: Access, axes: tuple[IndexedDim, ...]) -> list[Condition]:
    """That lanes are inside the ranges that their tags name."""
    tags = [axis.dim.tag.data for axis in axes]
    return [m.valid(range, n, tags) for n, range in enumerate(axis_ranges(op, axes)) if range is not None]


def axis_ranges(op: Access, axes: Sequence[IndexedDim]) -> list[SSAValue | None]:
    """The range that each dimension of an access's block is indexed by; of gathered rows the one that its tag names."""
    entries = op.entries
    own = [entries[axis.position] if axis.gather_dim is None else None for axis in axes]
    pairs = [(axis.dim.tag.data, entry) for axis, entry in zip(axes, own, strict=True)]
    scope = ranges_in_scope(op) if any(tag and not is_range(entry) for tag, entry in pairs) else {}
    return [entry if is_range(entry) else scope.get(tag) for tag, entry in pairs]


def lanes_inside(type: TileType, op: Operation, analysis: IndexAnalysis) -> Condition:
    """That lanes of a tile at ``op`` are inside the ranges that its tags name."""
    scope, tags = ranges_in_scope(op), type.tags
    return conjunction(analysis.valid(scope[tag], dim, tags) for dim, tag in enumerate(tags) if tag in scope)


def known_inside(condition: SSAValue, op: Operation, analysis: IndexAnalysis) -> bool | None:
    """Whether a condition holds at ``op`` in all lanes that are inside their ranges, or in none; None where unknown."""
    return known_where(analysis.condition(condition), lanes_inside(tile_type(condition), op, analysis))


def _bits(memory: SSAValue) -> int:
    assert isinstance(memory.type, MemRefType | RefType)
    element = memory.type.element_type
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 32
