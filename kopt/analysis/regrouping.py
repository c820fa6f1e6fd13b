"""Which dimensions a reshape merges and splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kopt.dialects.tile import TileType


@dataclass(frozen=True)
class Group:
    """The smallest run of dimensions on both sides with as many lanes, by number."""

    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def kept(self) -> bool:
        """Whether it is one dimension that stays one."""
        return len(self.before) == len(self.after) == 1


def groups(before: Sequence[int], after: Sequence[int]) -> list[Group]:
    """The groups of a reshape between two shapes of as many lanes; dimensions of 1 between them are in none.

    ``(4, 6, 1, 5)`` to ``(2, 12, 5)`` merges and splits the first two dimensions, and keeps the last.
    """
    found: list[Group] = []
    i = j = 0
    while i < len(before) or j < len(after):
        if i < len(before) and before[i] == 1:
            i += 1
        elif j < len(after) and after[j] == 1:
            j += 1
        else:
            group = _group(before, after, i, j)
            found.append(group)
            i, j = group.before[-1] + 1, group.after[-1] + 1
    return found


def dropped_tags(before: TileType, after: TileType) -> list[int]:
    """The dimensions whose tags a reshape drops; a tag may stay with one dimension and go with another."""
    if 0 in before.shape:
        return [dim for dim, tag in enumerate(before.tags) if tag and tag not in after.tags]
    kept = {group.before[0]: group.after[0] for group in groups(before.shape, after.shape) if group.kept}
    return [dim for dim, tag in enumerate(before.tags) if tag and not _keeps(before, after, dim, kept)]


def _keeps(before: TileType, after: TileType, dim: int, kept: dict[int, int]) -> bool:
    tag = before.tags[dim]
    return tag in after.tags if before.shape[dim] == 1 else dim in kept and after.tags[kept[dim]] == tag


def _group(before: Sequence[int], after: Sequence[int], i: int, j: int) -> Group:
    left, right = before[i], after[j]
    first, second = i, j
    while left != right:
        if left < right:
            i += 1
            left *= before[i]
        else:
            j += 1
            right *= after[j]
    return Group(tuple(range(first, i + 1)), tuple(range(second, j + 1)))
