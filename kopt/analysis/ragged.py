"""Which ranges say what lanes of an access are outside: those that may be ragged. Pure."""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.dialects.tile import Access, block_axes, is_range
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.ranges import always_full, ranges_in_scope, unshifted


def ragged_ranges(op: Access) -> tuple[SSAValue | None, ...]:
    """For each dimension of an access's block the range that may be ragged, or None; of gathered rows, by their tag."""
    entries, axes = op.entries, block_axes(op.entries, memory_shape(op.memory.type))
    own = [entries[axis.position] if axis.gather_dim is None else None for axis in axes]
    pairs = [(axis.dim.tag.data, entry) for axis, entry in zip(axes, own, strict=True)]
    scope = ranges_in_scope(op) if any(tag and not is_range(entry) for tag, entry in pairs) else {}
    ranges = [unshifted(entry) if is_range(entry) else scope.get(tag) for tag, entry in pairs]
    return tuple(None if range is None or always_full(range) else range for range in ranges)
