"""Which ranges say what lanes of an access are outside: those that may be ragged. Pure."""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.dialects.tile import Access, block_axes
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.from_access import axis_ranges
from kopt.ir.ranges import always_full, unshifted


def ragged_ranges(op: Access) -> tuple[SSAValue | None, ...]:
    """For each dimension of an access's block the range that may be ragged, or None; of gathered rows, by their tag."""
    ranges = axis_ranges(op, block_axes(op.entries, memory_shape(op.memory.type)))
    return tuple(None if range is None or always_full(range) else unshifted(range) for range in ranges)
