"""The block sizes that a kernel may have on a GPU: powers of two, by what blocks are used for."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.block_roles import Role, has_wide_dot
from kopt.analysis.block_search import BlockSpace, powers
from kopt.dialects.tile import DotOp
from kopt.ir.widths import next_power_of_two
from kopt.planning.block_sizes import Candidates
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


class GpuSpace(BlockSpace):
    """The block sizes that a module may have on a GPU: powers of two from the least on."""

    def _least(self, role: Role) -> int:
        return _least(role)

    def _sizes(self, group: Sequence[str]) -> list[int]:
        roles = [self.roles[tag] for tag in group]
        most = min([max(map(_most, roles))] + [role.most for role in roles if role.most is not None])
        return powers(self.least[group[0]], most)

    def _is_possible(self, sizes: Candidates) -> bool:
        return True


def gpu_budget(module: ModuleOp) -> int:
    """Elements that a tile may have."""
    return Budget.tile_lanes(bool(walk(module, DotOp)), has_wide_dot(module))


def summed_lanes(extent: int, wide: bool) -> tuple[int, int]:
    """The least and the largest K block of a loop over ``extent``; operands of 32 bits or more are ``wide``."""
    role = Role(extent, parallel=False, dot={"k"}, wide_dot=wide)
    return _least(role), _most(role)


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
