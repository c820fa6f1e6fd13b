"""What SSA values are while a module runs: NumPy arrays (memrefs, refs), numbers, tiles and bindings of ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kopt.cached_property import cached_property


@dataclass(frozen=True, eq=False)
class ValidLanes:
    """Which lanes of some dimensions are inside their ranges: ``mask`` has one dimension for each of ``dims``.

    ``items`` are the dimensions whose lanes own the others (those of a jagged loop): an item of no lanes is valid all
    the same.
    """

    mask: np.ndarray
    dims: tuple[int, ...]
    items: tuple[int, ...] = ()

    def spread(self, rank: int) -> np.ndarray:
        """The mask, ready to broadcast against a tile of ``rank`` dimensions."""
        order = np.argsort(self.dims)
        shape = [1] * rank
        for dim, size in zip(self.dims, self.mask.shape, strict=True):
            shape[dim] = size
        return np.transpose(self.mask, order).reshape(shape)


#: A lane is valid where it is in every one; none at all: every lane is.
Validity = tuple[ValidLanes, ...]


@dataclass(frozen=True, eq=False)
class TileValue:
    """A block: its lanes, and which of them are inside their ranges. The others hold whatever came."""

    data: np.ndarray
    valid: Validity = ()


@dataclass(frozen=True, eq=False)
class Bound:
    """A range as a loop has bound it: the block from ``begin``, number ``id`` of ``count``, valid below ``limit``.

    Of a jagged loop, ``owned`` tells the lanes that each item has: first the items' dimensions, whose tags are
    ``owners``, then the range's.
    """

    begin: int
    size: int
    limit: int
    id: int
    count: int
    owned: np.ndarray | None = None
    owners: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """One past the last valid element."""
        return min(self.begin + self.size, self.limit)

    @cached_property
    def valid(self) -> np.ndarray | None:
        """Which lanes are below the limit; None where all are. One array for all uses."""
        if self.begin + self.size <= self.limit:
            return None
        return np.arange(self.begin, self.begin + self.size) < self.limit

    def along(self, dim: int) -> Validity:
        """The validity of a tile whose dimension ``dim`` walks this range."""
        return () if self.valid is None else (ValidLanes(self.valid, (dim,)),)


def both(*validities: Iterable[ValidLanes]) -> Validity:
    """The lanes that are valid in each, said once where they say the same."""
    seen: dict[tuple[int, tuple[int, ...]], ValidLanes] = {}
    for validity in validities:
        for lanes in validity:
            seen.setdefault((id(lanes.mask), lanes.dims), lanes)
    return tuple(seen.values())


def mask_of(valid: Validity, rank: int) -> np.ndarray | None:
    """One mask that broadcasts against a tile of ``rank`` dimensions, or None where every lane is valid."""
    mask: np.ndarray | None = None
    for lanes in valid:
        spread = lanes.spread(rank)
        mask = spread if mask is None else mask & spread
    return mask


def moved(valid: Validity, places: Mapping[int, int] | Callable[[int], int]) -> Validity:
    """The same lanes after their dimensions went to other places."""
    place = places.__getitem__ if isinstance(places, Mapping) else places
    return tuple(
        ValidLanes(lanes.mask, tuple(map(place, lanes.dims)), tuple(map(place, lanes.items))) for lanes in valid
    )


def dropped(valid: Validity, dims: Sequence[int]) -> Validity:
    """What is left after dimensions are combined: a lane is valid where any lane that went into it was."""
    kept: list[ValidLanes] = []
    for lanes in valid:
        gone = tuple(n for n, dim in enumerate(lanes.dims) if dim in dims)
        if len(gone) == len(lanes.dims):
            continue
        rest = tuple(dim for dim in lanes.dims if dim not in dims)
        if gone and set(rest) <= set(lanes.items):
            continue
        items = tuple(dim for dim in lanes.items if dim not in dims)
        kept.append(ValidLanes(np.asarray(lanes.mask.any(axis=gone)), rest, items) if gone else lanes)
    return moved(tuple(kept), lambda dim: dim - sum(gone < dim for gone in dims))


def filled(tile: TileValue, dims: Sequence[int], value: float | int) -> np.ndarray:
    """The data with ``value`` in the lanes that are not valid along ``dims``."""
    concerned = tuple(lanes for lanes in tile.valid if set(lanes.dims) & set(dims))
    mask = mask_of(concerned, tile.data.ndim)
    return tile.data if mask is None else np.where(mask, tile.data, np.asarray(value, tile.data.dtype))
