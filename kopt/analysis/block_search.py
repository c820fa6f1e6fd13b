"""Sizes for groups of blocks: the least that all may have, which walk others, and the tiles that they make.

One size serves each *group* of tags, those of the loops that share an open block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from kopt.analysis.block_roles import Role
from kopt.dialects.tile import CarryingLoop, TileType
from kopt.ir.ranges import binding, walked_range
from kopt.ir.widths import next_power_of_two
from kopt.walk import walk

Sizes = dict[str, int]
Nested = list[tuple[str, str]]


def nested_loops(module: ModuleOp, roles: Mapping[str, Role]) -> Nested:
    """The tag of each loop that walks one block of another, with that one's, where the sizes of both are open."""
    pairs = []
    for op in walk(module, CarryingLoop):
        outer = walked_range(binding(op.range))
        if outer is not None:
            tags = [range.type.tag for range in (op.range, outer)]  # pyright: ignore
            pairs += [tuple(tags)] if not any(roles[tag].single for tag in tags) else []
    return pairs


def spread(groups: Sequence[Sequence[str]], size: Callable[[str], int]) -> Sizes:
    """One size a group: the largest that any of its tags asks for."""
    sizes: Sizes = {}
    for group in groups:
        wanted = max((size(tag) for tag in group), default=1)
        sizes.update(dict.fromkeys(group, wanted))
    return sizes


def capped(groups: Sequence[Sequence[str]], sizes: Sizes, roles: Mapping[str, Role]) -> Sizes:
    """Sizes with no block larger than the lanes that share a row which it names."""
    bounded = dict(sizes)
    for group in filter(None, groups):
        most = [role.most for role in (roles[tag] for tag in group) if role.most is not None]
        bounded.update(dict.fromkeys(group, min([bounded[group[0]], *most])))
    return bounded


def largest_tile(types: Iterable[TileType], sizes: Mapping[str, Any]) -> Any:
    """Lanes of the largest tile under other sizes, numbers or arrays; plain dimensions rounded up to powers of two."""
    shapes = {tuple((dim.tag.data, dim.size.data) for dim in type.dims.data) for type in types}
    largest = np.asarray(1)
    for shape in shapes:
        lanes = prod(sizes[tag] if tag in sizes else next_power_of_two(size) for tag, size in shape)
        largest = np.maximum(largest, lanes)
    return largest


def tile_types(top: Operation) -> list[TileType]:
    """The types of all tiles that are made inside of an operation."""
    types = {value.type for op in walk(top) for value in op.results}
    return [type for type in types if isinstance(type, TileType)]
