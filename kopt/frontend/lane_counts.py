"""How many lanes values have, in every block of the loops that they are of."""

from __future__ import annotations

import math
from collections.abc import Hashable

from xdsl.ir import SSAValue

from kopt.frontend.block_size import BlockSize
from kopt.frontend.lengths import Length, computed, length_of_block
from kopt.frontend.ragged import LaneAtom, Lanes, block_lanes, form
from kopt.frontend.state import current


def lanes_of_block(tag: str, size: int) -> Length | int:
    """How many lanes the blocks of a range have."""
    return length_of_block(tag, _numbers(tag, size)) if block_lanes(size, tag)[0].ragged else size


def open_tag(size: BlockSize) -> str:
    """The tag of the one open loop that walks blocks of this size, or none."""
    tracer = current()
    if size.tag in tracer.ranges:
        return size.tag
    if size.block is None or not size.own:
        return ""
    tags = [tag for tag in tracer.ranges if tracer.range_blocks.get(tag) is size.block]
    return tags[0] if len(tags) == 1 else ""


def lanes_of_registered(size: BlockSize) -> Length | int:
    """As `lanes_of_block`, of the open loop that walks blocks of a size that was registered."""
    return lanes_of_block(tag, size.lanes) if (tag := open_tag(size)) else size.lanes


def is_known(block: Hashable) -> bool:
    """Whether the extent of a range is known while the kernel is imported."""
    tracer = current()
    return block not in tracer.jagged and isinstance(block, str) and tracer.extents.get(block) is not None


def _numbers(tag: str, size: int) -> tuple[int, ...]:
    """The numbers of lanes that a range's blocks may have: two where its extent is a number."""
    if not is_known(tag):
        return tuple(range(1, size + 1))
    extent = current().extents[tag] or 0
    return (size, extent % size) if extent > size else (extent or size,)


def length(value: SSAValue, dim: int) -> Length | int:
    """How many lanes of a dimension are valid, in every block."""
    return length_of_lanes(form(value)[dim], (value, dim))


def count(value: SSAValue) -> Length:
    """How many elements are valid, in every block."""
    return computed(_product, *(length(value, dim) for dim in range(len(form(value)))))


def length_of_lanes(lanes: Lanes, name: Hashable) -> Length | int:
    """As `length`, of a dimension's atoms. Those that are no block's have a number of their own, by ``name``."""
    if not any(atom.ragged for atom in lanes):
        return math.prod(atom.size for atom in lanes)
    return computed(_product, *(_length_of_atom(atom, (name, n)) for n, atom in enumerate(lanes)))


def _product(*numbers: int) -> int:
    return math.prod(numbers)


def _length_of_atom(atom: LaneAtom, name: Hashable) -> Length | int:
    if not atom.ragged:
        return atom.size
    if atom.block:
        whole = lanes_of_block(atom.block, atom.size * atom.parts)
    elif atom.joined:
        whole = computed(_sum, *(length_of_lanes(lanes, (name, n)) for n, lanes in enumerate(atom.joined)))
    else:
        return length_of_block(name, tuple(range(atom.size + 1)))
    return computed(lambda lanes: -(-lanes // atom.parts), whole)


def _sum(*numbers: int) -> int:
    return sum(numbers)
