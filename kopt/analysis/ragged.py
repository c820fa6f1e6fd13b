"""Which ranges say what lanes of an access are outside: those that may be ragged. Pure."""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.dialects.tile import Access, block_axes, is_range
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.ranges import always_full, ranges_in_scope, unshifted


def ragged_ranges(op: Access) -> tuple[SSAValue | None, ...]:
    """For each dimension of an access's block the range that may be ragged, or None; of gathered rows, by their tag."""
    scope = ranges_in_scope(op)
    found: list[SSAValue | None] = []
    for axis in block_axes(op.entries, memory_shape(op.memory.type)):
        entry = op.entries[axis.position]
        range = scope.get(axis.dim.tag.data)
        if axis.gather_dim is None and isinstance(entry, SSAValue) and is_range(entry):
            range = unshifted(entry)
        found.append(range if range is not None and not always_full(range) else None)
    return tuple(found)
