"""Index lists as expressions: the element numbers of an access's entries, over the dimensions of its block."""

from __future__ import annotations

from kopt.dialects.tile import Access, AllAttr, Entry, RangeType, SliceAttr, TileType, block_axes
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.forms import Forms, wide_dims
from kopt.ir.index_expr import IndexExpr, lane
from kopt.ir.rewriting import moved


def indices(op: Access, m: Forms) -> list[IndexExpr]:
    """The element numbers of each entry of an index list, over the dimensions of the block."""
    shape = memory_shape(op.memory.type)
    axes = block_axes(op.entries, shape)
    first = next((n for n, axis in enumerate(axes) if axis.gather_dim is not None), 0)
    places = {axis.position: n for n, axis in reversed([*enumerate(axes)])}
    pairs = enumerate(zip(op.entries, shape, strict=True))
    return [_index(m, entry, extent, places.get(n, first), first) for n, (entry, extent) in pairs]


def _index(m: Forms, entry: Entry, extent: int, dim: int, first: int) -> IndexExpr:
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
