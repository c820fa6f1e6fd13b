"""Block sizes for a GPU: so large that the tiles of one program stay in its registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.block_roles import Role, has_wide_dot
from kopt.analysis.block_search import (
    Sizes,
    capped,
    fitted,
    largest_tile,
    nested_loops,
    shrink,
    spread,
    tile_types,
)
from kopt.ir.widths import next_power_of_two
from kopt.targets.budget import Budget

#: Lanes that products start from, and of their summed side where operands are wide.
_DOT = 64
_WIDE_SUM = 32


def choose_gpu(module: ModuleOp, groups: Sequence[Sequence[str]], roles: Mapping[str, Role]) -> Sizes:
    """Sizes for the groups of a module, by the largest tile that they make."""
    nested = nested_loops(module, roles)
    least = capped(groups, spread(groups, lambda tag: 16 if roles[tag].dot else 1), roles)
    start = capped(groups, spread(groups, lambda tag: _start(roles[tag])), roles)
    start = fitted(groups, start, least, nested)
    open_tags = {tag for group in groups for tag in group}
    tiles = [type for type in tile_types(module) if not open_tags.isdisjoint(type.tags)]
    return shrink(groups, start, least, nested, lambda sizes: int(largest_tile(tiles, sizes)), gpu_budget(module))


def gpu_budget(module: ModuleOp) -> int:
    """Elements that a tile may have."""
    return Budget.tile_lanes(has_wide_dot(module))


def _start(role: Role) -> int:
    if role.single:
        return 1
    extent = role.extent if role.extent is not None else 128
    dot = _WIDE_SUM if role.wide_dot and role.dot == {"k"} else _DOT
    most = dot if role.dot else 1024 if 0 in role.places else 32
    return max(16 if role.dot else 1, min(next_power_of_two(extent), most))
