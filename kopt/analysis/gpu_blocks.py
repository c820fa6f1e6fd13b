"""The block sizes that a kernel may have on a GPU: powers of two, by what blocks are used for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.block_roles import Role, has_wide_dot
from kopt.analysis.block_search import Nested, Sizes, capped, nested_loops, spread
from kopt.dialects.tile import DotOp
from kopt.ir.widths import next_power_of_two
from kopt.planning.block_sizes import Candidates, space
from kopt.targets.budget import Budget
from kopt.walk import walk

#: Lanes that a product takes at least, and what it sums over of narrow operands: what matrix units take of 8 bits.
_DOT, _LEAST_SUM = 16, 32
#: The most rows and columns of a product, and lanes that it sums over at once; of wide operands, which take registers.
_MOST_DOT, _MOST_SUM, _WIDE_SUM = 256, 128, 32
#: The most lanes and rows of anything else, and its lanes at least: a sector of memory.
_MOST_LANES, _MOST_ROWS, _LEAST_LANES = 8192, 128, 16
#: The elements of a range of which nothing tells how many it walks.
_UNSEEN = 128


@dataclass(frozen=True)
class GpuSpace:
    """The block sizes that a module may have on a GPU."""

    module: ModuleOp
    groups: Sequence[Sequence[str]]
    roles: Mapping[str, Role]

    def candidates(self) -> Candidates:
        """Sizes by tag, arrays with a number for each candidate; no loop has larger blocks than it walks."""
        found = space({group[0]: self._sizes(group) for group in self.groups})
        sizes = {tag: found[group[0]] for group in self.groups for tag in group}
        good = np.ones(len(next(iter(sizes.values()))), bool)
        for inner, outer in self._nested:
            if inner in sizes and outer in sizes:
                good &= sizes[inner] <= sizes[outer]
        least = {tag: np.array([size]) for tag, size in self.least.items()}
        return {tag: column[good] for tag, column in sizes.items()} if good.any() else least

    @cached_property
    def least(self) -> Sizes:
        """The smallest sizes."""
        return capped(self.groups, spread(self.groups, lambda tag: _least(self.roles[tag])), self.roles)

    @cached_property
    def _nested(self) -> Nested:
        return nested_loops(self.module, self.roles)

    def _sizes(self, group: Sequence[str]) -> list[int]:
        """Powers of two from the least on."""
        roles, least = [self.roles[tag] for tag in group], self.least[group[0]]
        most = min([max(map(_most, roles))] + [role.most for role in roles if role.most is not None])
        return [least << n for n in range(max(1, (max(1, most) // least).bit_length()))]


def gpu_budget(module: ModuleOp) -> int:
    """Elements that a tile may have."""
    return Budget.tile_lanes(bool(walk(module, DotOp)), has_wide_dot(module))


def _least(role: Role) -> int:
    if role.single:
        return 1
    if role.dot:
        narrow = role.dot == {"k"} and not role.wide_dot
        return min(_LEAST_SUM, max(_DOT, _extent(role))) if narrow else _DOT
    return min(_LEAST_LANES, _extent(role)) if role.places == {0} else 1


def _most(role: Role) -> int:
    if role.single:
        return 1
    most = _MOST_DOT if role.dot else _MOST_LANES if 0 in role.places else _MOST_ROWS
    if role.dot == {"k"}:
        most = _WIDE_SUM if role.wide_dot else _MOST_SUM
    return max(_least(role), min(_extent(role), most))


def _extent(role: Role) -> int:
    return next_power_of_two(role.extent if role.extent is not None else _UNSEEN)
