"""The access relation of an operation: its index list as expressions, its ranges and mask as a domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import Access, AllAttr, Entry, RangeType, RefType, SliceAttr, TileType, block_axes
from kopt.dialects.tile.index_list import Axis
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.access_relation import AccessRelation, settled
from kopt.ir.condition import TRUE, Condition, conjunction, known_where
from kopt.ir.from_ssa import IndexAnalysis, wide_dims
from kopt.ir.index_expr import IndexExpr, lane
from kopt.ir.ranges import ranges_in_scope
from kopt.ir.rewriting import moved


def relation(op: Access, analysis: IndexAnalysis | None = None) -> AccessRelation:
    """Which elements of its memory an access reads or writes."""
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
        tuple(m.lanes_of(axis.dim) for axis in axes),
        tuple(
            index if isinstance(entry, AllAttr) else settled(index, extent)
            for entry, index, extent in zip(op.entries, _indices(m, op, axes, shape), shape, strict=True)
        ),
        TRUE,
        _bits(op.memory),
    )


def indices(op: Access, m: IndexAnalysis) -> list[IndexExpr]:
    """The element numbers of each entry of an index list, over the dimensions of the block."""
    shape = memory_shape(op.memory.type)
    return _indices(m, op, block_axes(op.entries, shape), shape)


def _indices(m: IndexAnalysis, op: Access, axes: Sequence[Axis], shape: Sequence[int]) -> list[IndexExpr]:
    first = next((n for n, axis in enumerate(axes) if axis.gather_dim is not None), 0)
    places = {axis.position: n for n, axis in reversed([*enumerate(axes)])}
    pairs = enumerate(zip(op.entries, shape, strict=True))
    return [_index(m, entry, extent, places.get(n, first), first) for n, (entry, extent) in pairs]


def _index(m: IndexAnalysis, entry: Entry, extent: int, dim: int, first: int) -> IndexExpr:
    """The element numbers of one entry, whose lanes are along ``dim``; those of gathers from ``first`` on."""
    if isinstance(entry, AllAttr):
        return lane(dim, extent)
    if isinstance(entry, SliceAttr):
        return lane(dim, entry.length) * entry.step.data + entry.start.data
    if isinstance(entry, int) or not isinstance(entry.type, RangeType | TileType):
        return m.expr(entry)
    if isinstance(entry.type, RangeType):
        return m.lanes(entry, dim)
    return moved({n: first + n for n in wide_dims(entry.type)}).expr(m.expr(entry))


def _inside(m: IndexAnalysis, op: Access, axes: tuple[Axis, ...]) -> list[Condition]:
    """That lanes are inside the ranges that their tags name."""
    scope, tags = ranges_in_scope(op), [axis.dim.tag.data for axis in axes]
    own = {n: op.entries[axis.position] for n, axis in enumerate(axes) if axis.gather_dim is None}
    found: list[Condition] = []
    for n, tag in enumerate(tags):
        entry = own.get(n)
        range = entry if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType) else scope.get(tag)
        if range is not None:
            found.append(m.valid(range, n, tags))
    return found


def lanes_inside(type: TileType, op: Operation, analysis: IndexAnalysis) -> Condition:
    """That lanes of a tile at ``op`` are inside the ranges that its tags name."""
    scope, tags = ranges_in_scope(op), type.tags
    return conjunction(analysis.valid(scope[tag], dim, tags) for dim, tag in enumerate(tags) if tag in scope)


def known_inside(condition: SSAValue, op: Operation, analysis: IndexAnalysis) -> bool | None:
    """Whether a condition holds at ``op`` in all lanes that are inside their ranges, or in none; None where unknown."""
    assert isinstance(condition.type, TileType)
    return known_where(analysis.condition(condition), lanes_inside(condition.type, op, analysis))


def _bits(memory: SSAValue) -> int:
    assert isinstance(memory.type, MemRefType | RefType)
    element = memory.type.element_type
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 32
