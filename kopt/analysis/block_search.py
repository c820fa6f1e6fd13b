"""Sizes for groups of blocks: the least that all may have, which walk others, their candidates, their tiles.

One size serves each *group* of tags, those of the loops that share an open block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from kopt.analysis.block_roles import Role
from kopt.cached_property import cached_property
from kopt.dialects.tile import CarryingLoop, TileType
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.polynomial import Coefficient
from kopt.ir.ranges import binding, walked_range
from kopt.ir.widths import next_power_of_two
from kopt.planning.block_sizes import Candidates, space
from kopt.planning.trips import value
from kopt.walk import walk

Sizes = dict[str, int]
#: The lanes of each dimension of a tile.
Shape = tuple[Coefficient, ...]


@dataclass(frozen=True)
class BlockSpace(ABC):
    """The block sizes that a module may have on one kind of chip, by what blocks are used for."""

    module: ModuleOp
    groups: Sequence[Sequence[str]]
    roles: Mapping[str, Role]

    def choices(self) -> dict[str, list[int]]:
        """The sizes of each group, by its first tag."""
        return {group[0]: self._sizes(group) for group in self.groups}

    def spread(self, found: Mapping[str, np.ndarray]) -> Candidates:
        """Sizes of groups as those of all tags."""
        return {tag: found[group[0]] for group in self.groups for tag in group}

    def possible(self, sizes: Candidates) -> np.ndarray:
        """Which candidates the chip has room for; no loop has larger blocks than it walks."""
        good = np.broadcast_to(self._is_possible(sizes), next(iter(sizes.values())).shape)
        for inner, outer in self.nested:
            if inner in sizes and outer in sizes:
                good = good & (sizes[inner] <= sizes[outer])
        return good

    def candidates(self) -> Candidates:
        """Sizes by tag, arrays with a number for each candidate that is possible."""
        sizes = self.spread(space(self.choices()))
        good = self.possible(sizes)
        least = {tag: np.array([size]) for tag, size in self.least.items()}
        return {tag: column[good] for tag, column in sizes.items()} if good.any() else least

    def large(self, sizes: Candidates) -> np.ndarray:
        """Which candidates are so large that they have to pay."""
        return np.asarray(False)

    @cached_property
    def least(self) -> Sizes:
        """The smallest sizes."""
        return capped(self.groups, spread(self.groups, lambda tag: self._least(self.roles[tag])), self.roles)

    @cached_property
    def nested(self) -> list[tuple[str, str]]:
        """The tags of loops that walk a block of another, with that one's."""
        return nested_loops(self.module, self.roles)

    @abstractmethod
    def _least(self, role: Role) -> int:
        """The smallest size of a block."""

    @abstractmethod
    def _sizes(self, group: Sequence[str]) -> list[int]:
        """The sizes of one group."""

    @abstractmethod
    def _is_possible(self, sizes: Candidates) -> np.ndarray | bool:
        """Which candidates the chip has room for."""


def powers(least: int, most: int) -> list[int]:
    """The least size, and powers of two times it up to the most."""
    return [least << n for n in range(max(1, (max(1, most) // least).bit_length()))]


def nested_loops(module: ModuleOp, roles: Mapping[str, Role]) -> list[tuple[str, str]]:
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


def largest_tile(shapes: Iterable[Shape], sizes: Mapping[str, Any]) -> Any:
    """Lanes of the largest tile under other sizes, numbers or arrays; plain dimensions rounded up to powers of two."""
    largest = np.asarray(1)
    for shape in set(shapes):
        largest = np.maximum(largest, _lanes(shape, sizes))
    return largest


def lanes_of_all(shapes: Iterable[Shape], sizes: Mapping[str, Any]) -> Any:
    """Lanes of all tiles together, counted as `largest_tile` does."""
    return sum((count * _lanes(shape, sizes) for shape, count in Counter(shapes).items()), np.asarray(0))


def _lanes(shape: Shape, sizes: Mapping[str, Any]) -> Any:
    known: dict[Hashable, Any] = {**sizes}
    return prod(next_power_of_two(size) if isinstance(size, int) else value(size, known) for size in shape)


def tile_shapes(values: Iterable[SSAValue], analysis: IndexAnalysis) -> list[Shape]:
    """The shapes of the tiles among some values."""
    tiles = [(value, value.type.rank) for value in values if isinstance(value.type, TileType)]
    return [tuple(analysis.lanes_along(tile, dim) for dim in range(rank)) for tile, rank in tiles]


def made_in(top: Operation) -> list[SSAValue]:
    """All values that are made inside of an operation."""
    return [value for op in walk(top) for value in op.results]


def tile_types(top: Operation) -> list[TileType]:
    """The types of all tiles that are made inside of an operation."""
    types = {id(value.type): value.type for value in made_in(top)}
    return list({type for type in types.values() if isinstance(type, TileType)})
