"""Index lists: the elements of memory that they address, one for each lane of a block.

A tile or ``tile.index`` addresses its block, whole numbers one element, slices a length. Index tensors gather: several
of rank 1 form their product, others broadcast against each other; host tensors as indices are all of their elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kopt.eager.blocks import Axes, LoopAxis, axes_of, block
from kopt.eager.broadcasting import together
from kopt.eager.jagged import valid_lanes
from kopt.eager.state import refuse
from kopt.eager.tiles import Tile, slice_bound
from kopt.eager.values import Number
from kopt.errors import AccessError


@dataclass
class Places:
    """``array[index]`` for every lane of a block of ``shape``; of ``outside`` the array has none.

    ``here`` are the lanes that the items of jagged loops have, and that a moving slice has (None: all);
    ``repeated`` are dimensions of the block over one element.
    """

    index: tuple[torch.Tensor, ...]
    shape: tuple[int, ...]
    axes: Axes
    here: torch.Tensor | None
    outside: torch.Tensor
    repeated: tuple[int, ...]

    def active(self, mask: torch.Tensor | None) -> torch.Tensor:
        """The lanes that an access touches; raises `AccessError` where one does not exist."""
        wanted = torch.ones(self.shape, dtype=torch.bool, device=self.outside.device)
        for each in (self.here, mask):
            wanted = wanted if each is None else wanted & each
        if (self.outside & wanted).any():
            lane = torch.nonzero(self.outside & wanted)[0].tolist()
            raise AccessError(f"{f'lane {lane} of the block' if lane else 'the element'} is outside the array")
        return wanted


@dataclass
class _Entry:
    """One index: positions along dimensions of its own (one vector), or a tensor that gathers, or no dimension."""

    positions: torch.Tensor
    axes: Axes = ()
    gathers: bool = False
    new: bool = False
    cut: torch.Tensor | None = None
    repeated: bool = False


def written_out(shape: Sequence[int], index: Any) -> list[Any]:
    """The index list with ``...`` and missing entries written out."""
    items = list(index) if isinstance(index, tuple | list) else [index]
    items = [item[0] if type(item) in (list, tuple) and len(item) == 1 else item for item in items]
    missing = len(shape) - sum(item is not None and item is not Ellipsis for item in items)
    at = next((n for n, item in enumerate(items) if item is Ellipsis), len(items))
    return [*items[:at], *[slice(None)] * missing, *items[at + 1 :]]


def places_of(array: torch.Tensor, index: Any) -> Places:
    """Where the lanes of a block are."""
    items = written_out(array.shape, index)
    if sum(item is not None for item in items) != array.ndim:
        found = sum(item is not None for item in items)
        refuse(f"{found} indices for an array of {array.ndim} dimensions {list(array.shape)}", id="index")
    sizes = iter(array.shape)
    entries = [_entry(item, None if item is None else next(sizes), array.device) for item in items]
    gathers = [entry for entry in entries if entry.gathers]
    if gathers and not _separate(items, gathers):
        _meet(gathers)
    return _arranged(entries, tuple(array.shape), array.device)


def _entry(item: Any, size: int | None, device: Any) -> _Entry:
    if item is None:
        return _Entry(torch.zeros(1, dtype=torch.int64, device=device), (None,), new=True)
    assert size is not None
    if isinstance(item, Tile):
        entry = _tensor(item.index, size)
        entry.gathers = False
        return entry
    if isinstance(item, slice):
        return _slice(item, size, device)
    if isinstance(item, bool):
        refuse("a boolean cannot be an index", "use hl.load with extra_mask", id="index")
    if isinstance(item, int):
        number = int(item)
        wraps = -size <= number < 0 and not isinstance(item, Number)
        return _Entry(torch.tensor(number + size if wraps else number, device=device))
    if not isinstance(item, torch.Tensor):
        refuse(
            f"{type(item).__name__} cannot be an index",
            "use a tile, a whole number, a slice, None or a tensor",
            id="index",
        )
    if item.dtype == torch.bool:
        refuse(
            "how many elements a mask selects is known to its data alone",
            "use torch.where(mask, x, other), or hl.load and hl.store with extra_mask",
            id="mask-index",
        )
    if item.dtype.is_floating_point:
        refuse(f"a tensor of {item.dtype} cannot be an index", "use integers, or hl.load with extra_mask", id="index")
    return _tensor(item, size)


def _tensor(item: torch.Tensor, size: int) -> _Entry:
    lanes, axes = getattr(item, "lanes", None), axes_of(item)
    positions = item.as_subclass(torch.Tensor).to(torch.int64)
    if isinstance(lanes, Tile):
        if size == 1 and lanes.axis.extent != 1:
            return _Entry(torch.zeros_like(positions), axes, repeated=True)
        return _Entry(positions, axes, gathers=True)
    return _Entry(positions, axes, gathers=item.ndim > 0)


def _slice(item: slice, size: int, device: Any) -> _Entry:
    """A slice; lanes beyond the array of one that loops bound are not there."""
    computed = any(isinstance(bound, Number | torch.Tensor) for bound in (item.start, item.stop))
    bounds = [slice_bound(bound) for bound in (item.start, item.stop, item.step)]
    if bounds[2] is not None and bounds[2] < 1:
        refuse("a slice needs a positive step", "use flip on the loaded value", id="index")
    if not computed:
        return _Entry(torch.arange(*slice(*bounds).indices(size), device=device), (None,))
    start, stop, step = bounds[0] or 0, size if bounds[1] is None else bounds[1], bounds[2] or 1
    positions = torch.arange(start, max(start, stop), step, device=device)
    return _Entry(positions, (None,), cut=positions < size)


def _separate(items: Sequence[Any], gathers: Sequence[_Entry]) -> bool:
    """Whether each index tensor keeps its place: lanes in order, or only one."""
    tensors = [item for item in items if isinstance(item, torch.Tensor) and item.ndim]
    vectors = all(entry.positions.ndim == 1 for entry in gathers)
    return len(gathers) == 1 or (vectors and all(getattr(item, "lanes", None) is not None for item in tensors))


def _meet(gathers: Sequence[_Entry]) -> None:
    """Index tensors over their common dimensions: the product of vectors, or as torch broadcasts."""
    values: list[Any] = [block(entry.positions, entry.axes) for entry in gathers]
    if all(value.ndim == 1 for value in values):
        count = len(values)
        shapes = [[-1 if n == axis else 1 for axis in range(count)] for n in range(count)]
        loops = [[value.axes[0] if n == axis else None for axis in range(count)] for n, value in enumerate(values)]
        values = [block(v.reshape(s), axes) for v, s, axes in zip(values, shapes, loops, strict=True)]
    values, axes = together(values)
    common = torch.broadcast_tensors(*(value.as_subclass(torch.Tensor) for value in values))
    for number, (entry, positions) in enumerate(zip(gathers, common, strict=True)):
        entry.positions, entry.axes, entry.new = positions, axes, number > 0


def _arranged(entries: Sequence[_Entry], sizes: tuple[int, ...], device: Any) -> Places:
    """Every entry over the dimensions of the whole block; gathers that met stand where the first of them does."""
    shape: list[int] = []
    axes: list[LoopAxis | None] = []
    starts: list[int] = []
    met: int | None = None
    several = sum(entry.gathers and entry.new for entry in entries) > 0
    for entry in entries:
        if entry.gathers and entry.new and met is not None:
            starts.append(met)
            continue
        starts.append(len(shape))
        if entry.gathers and several and met is None:
            met = len(shape)
        shape += entry.positions.shape
        axes += entry.axes
    rank = len(shape)

    def spread(value: torch.Tensor, start: int) -> torch.Tensor:
        return value.reshape([1] * start + list(value.shape) + [1] * (rank - start - value.ndim))

    here = valid_lanes(tuple(axes))
    outside = torch.zeros([1] * rank, dtype=torch.bool, device=device)
    index, repeated = [], []
    dims = iter(sizes)
    for entry, start in zip(entries, starts, strict=True):
        if entry.new and not entry.gathers:
            continue
        size, positions = next(dims), spread(entry.positions, start)
        if entry.cut is not None:
            cut = spread(entry.cut, start)
            here = cut if here is None else here & cut
        if entry.repeated:
            repeated.append(start)
        outside = outside | (positions < 0) | (positions >= size)
        index.append(positions.clamp(0, max(size - 1, 0)).expand(shape))
    return Places(tuple(index), tuple(shape), tuple(axes), here, outside.expand(shape), tuple(repeated))


def as_block(value: Any, like: torch.Tensor) -> torch.Tensor:
    """A number or tensor as a tensor beside another."""
    if isinstance(value, Tile):
        value = value.index
    if isinstance(value, torch.Tensor):
        return value
    return torch.tensor(int(value) if isinstance(value, Number) else value, device=like.device)
