"""Index lists: loads and stores of host tensors.

A tile or ``tile.index`` addresses its block, whole numbers one element, slices a length that is known. Index tensors
gather: several of rank 1 form their product, others broadcast against each other; host tensors as indices are all of
their elements. A dimension of 1 that is indexed by a wider block is read once and repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from kopt.dialects import tile
from kopt.dialects.tile import ALL, DimAttr, Entry, SliceAttr
from kopt.frontend.block_size import plain, valid
from kopt.frontend.broadcasting import broadcast, common_dims, untag
from kopt.frontend.dtypes import element_type
from kopt.frontend.masks import both, is_mask, selected, spread_value, without_masks
from kopt.frontend.moving_slices import as_lanes, moves
from kopt.frontend.open_shapes import check_entry
from kopt.frontend.ops.rules import convert, truth
from kopt.frontend.ops.shapes import ONE, reshape_dims, unsqueeze_at
from kopt.frontend.ops.slicing import lane
from kopt.frontend.positions import fixed
from kopt.frontend.ragged import is_hidden
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, Index, LaneNumbers, TileRange, as_tensor, describe, index_ssa, is_number
from kopt.open_extents import is_open

#: The element types of pointers.
_POINTERS = (torch.int64, torch.uint64)


@dataclass
class Address:
    """An index list in the IR's terms.

    ``entries`` address the memref; the block that they give has ``dims``. ``new`` are the positions of the user's
    block that are new dimensions of 1 (``None``), in increasing order; ``wide`` are dimensions of 1 that the user
    indexed by a block: the position in the user's block and the dimension that is wanted there.
    """

    entries: list[Entry]
    dims: tuple[DimAttr, ...]
    new: list[int]
    wide: dict[int, DimAttr]

    def gathers(self, dim: int) -> bool:
        """Whether a dimension of the block is one of row numbers."""
        rows = next((entry for entry in self.entries if tile.is_gather(entry)), None)
        before = self.entries.index(rows) if rows is not None else 0
        first = sum(not isinstance(entry, int) and not _is_scalar(entry) for entry in self.entries[:before])
        return rows is not None and first <= dim < first + len(rows.type.dims.data)  # pyright: ignore

    def user_dims(self) -> tuple[DimAttr, ...]:
        """The dimensions of the block as the kernel sees it."""
        dims = list(self.dims)
        for position in sorted([*self.new, *self.wide]):
            dims.insert(position, self.wide.get(position, ONE))
        return tuple(dims)


def _is_scalar(entry: Entry) -> bool:
    """Whether an entry is one element, which gives no dimension."""
    return isinstance(entry, SSAValue) and not tile.is_range(entry) and not tile.is_gather(entry)


def load(array: torch.Tensor, index: Any, mask: Any = None, eviction: str | None = None) -> DeviceTensor:
    """``array[index]`` in a device loop; ``eviction`` is what caches are told."""
    tracer = current()
    memory = tracer.host.ssa(array)
    index, mask = without_moving(tuple(array.shape), index, mask)
    address = resolve(tuple(array.shape), index)
    if mask is not None:
        mask = to_address(truth(mask), address)
    told = {"eviction": StringAttr(eviction)} if eviction else None
    value = to_user(DeviceTensor(tracer.emit(tile.LoadOp(memory, address.entries, mask, attributes=told))), address)
    if mask is None and array.dtype in _POINTERS:
        tracer.loaded[value.ssa] = (array, list(index))
    return value


def places_of(value: DeviceTensor) -> tuple[torch.Tensor, list[Any]] | None:
    """The host tensor that 64-bit integers were loaded from, and by which index list; None where they were not."""
    return current().loaded.get(value.ssa)


def written_out(shape: tuple[int, ...], index: Any) -> list[Any]:
    """The index list with ``...`` and missing entries written out."""
    return _items(shape, index)


def store(array: torch.Tensor, index: Any, value: Any, mask: Any = None) -> None:
    """``array[index] = value`` in a device loop; the value is converted and broadcast."""
    tracer = current()
    memory = tracer.host.written(array)
    index, value, mask = _by_mask(tuple(array.shape), index, stored(value), mask)
    index, mask = without_moving(tuple(array.shape), index, mask)
    tensor = value if is_number(value) else as_tensor(value)
    if isinstance(tensor, DeviceTensor):
        index = _by_the_whole_block(index, tuple(array.shape), tensor)
    address = resolve(tuple(array.shape), index)
    if isinstance(tensor, DeviceTensor) and tensor.rank > len(address.user_dims()):
        tensor = drop_ones(tensor, len(address.user_dims()))
    if mask is not None:
        mask = to_address(truth(mask), address)
    if isinstance(tensor, DeviceTensor):
        ssa = to_address(convert(tensor, array.dtype), address)
    else:
        ssa = tracer.emit(tile.FullOp(tensor, tile.TileType(address.dims, element_type(array.dtype))))
    tracer.append(tile.StoreOp(ssa, memory, address.entries, mask))


def _by_the_whole_block(items: list[Any], shape: tuple[int, ...], value: DeviceTensor) -> list[Any]:
    """The index list with a tile for each ``:`` that a value's larger block fills, the only one of a loop over it."""
    tracer, out = current(), list(items)
    if len(items) != len(shape) or value.rank != len(shape):
        return out
    for number, (item, extent, dim) in enumerate(zip(items, shape, value.dims, strict=True)):
        tag = dim.tag.data
        if is_open(extent):
            continue
        only = tag and dim.size.data > extent == tracer.extents.get(tag) == tracer.ends.get(tag)
        if only and isinstance(item, slice) and item == slice(None):
            out[number] = TileRange(tracer.ranges[tag], tag, tracer.range_blocks.get(tag))
    return out


def _by_mask(shape: tuple[int, ...], index: Any, value: Any, mask: Any) -> tuple[Any, Any, Any]:
    """A store by a mask as one of the whole dimensions that it covers, to the elements where it is true."""
    given = _listed(index)
    where = next((item for item in given if is_mask(item) and len(item.shape)), None)
    if where is None:
        return index, value, mask
    marks = [slice(None) for _ in where.shape]
    items = _items(shape, [part for item in given for part in (marks if item is where else [item])])
    first = next(n for n, item in enumerate(items) if item is marks[0])
    value = spread_value(value, items, first, len(where.shape))
    return items, value, both(mask, selected(where, items, first, shape))


def stored(value: Any) -> Any:
    """What goes to memory: of a host tensor, all of it."""
    return current().host.load_whole(value) if isinstance(value, torch.Tensor) else value


def without_moving(shape: tuple[int, ...], index: Any, mask: Any = None) -> tuple[list[Any], Any]:
    """The index list, written out, without slices that loops bound; and the mask that keeps their lanes inside."""
    items = [stored(item) for item in without_masks(_items(shape, index))]
    return as_lanes(items, shape, mask) if any(map(moves, items)) else (items, mask)


def drop_ones(value: DeviceTensor, rank: int) -> DeviceTensor:
    """Leading dimensions of 1 that the target does not have; blocks of 1 among them must stay so."""
    while value.rank > rank and value.dims[0].size.data == 1:
        block = current().range_blocks.get(value.dims[0].tag.data)
        if block is not None:
            block.observed = True
        value = reshape_dims(value, value.dims[1:])
    return value


def to_user(value: DeviceTensor, address: Address) -> DeviceTensor:
    """A loaded block with the new and the repeated dimensions."""
    for position in sorted([*address.new, *address.wide]):
        value = unsqueeze_at(value, position)
    return broadcast(value, address.user_dims())


def to_address(value: DeviceTensor, address: Address) -> SSAValue:
    """A value or mask of the user's block as the op wants it."""
    value = broadcast(value, address.user_dims())
    for position in sorted([*address.new, *address.wide], reverse=True):
        value = lane(untag(value, [position]), position, 0)
    _check_lanes(value, address)
    return broadcast(value, address.dims).ssa


def _check_lanes(value: DeviceTensor, address: Address) -> None:
    """Refuses lanes of a shorter last block that were merged where the block that is addressed is full."""
    shift = len(address.dims) - value.rank
    for dim, wanted in enumerate(address.dims[shift:]):
        if (
            not wanted.tag.data
            and wanted.size.data != 1
            and is_hidden(value.ssa, dim)
            and not address.gathers(dim + shift)
        ):
            unsupported(
                f"{describe(value)} has fewer lanes in the last block than the {wanted} elements that it goes to",
                "index by an array of their places, or choose a block size that divides the distance walked",
                id="ragged-lanes",
            )


def resolve(shape: tuple[int, ...], index: Any) -> Address:
    """The entries that an index list means for an array of a shape."""
    items = _items(shape, index)
    rest = [item for item in items if item is not None]
    if len(rest) != len(shape):
        unsupported(f"{len(rest)} indices for an array of {len(shape)} dimensions {list(shape)}", id="index")
    rest, wide = _without_wide(rest, shape)
    entries = _entries(rest, shape)
    dims = tuple(axis.dim for axis in tile.block_axes(entries, shape))
    return _place(items, entries, dims, wide)


def _items(shape: tuple[int, ...], index: Any) -> list[Any]:
    """The index list with ``...`` and missing entries written out."""
    items = [valid(item) for item in _listed(index)]
    items = [i[0] if isinstance(i, list | tuple) and len(i) == 1 else i for i in items]
    missing = len(shape) - sum(i is not None and i is not Ellipsis for i in items)
    if any(i is Ellipsis for i in items):
        at = next(n for n, i in enumerate(items) if i is Ellipsis)
        return [*items[:at], *[slice(None)] * missing, *items[at + 1 :]]
    return [*items, *[slice(None)] * missing]


def _listed(index: Any) -> list[Any]:
    return list(index) if isinstance(index, tuple | list) else [index]


def _without_wide(items: list[Any], shape: tuple[int, ...]) -> tuple[list[Any], dict[int, DimAttr]]:
    """Blocks over dimensions of 1 as element 0, and the dimensions that they stand for, by position in the list."""
    wide: dict[int, DimAttr] = {}
    out = list(items)
    for position, (item, size) in enumerate(zip(items, shape, strict=True)):
        block = wide_block(item, size)
        if block is not None:
            wide[position] = block.dim
            out[position] = 0
    return out, wide


def wide_block(item: Any, size: int) -> TileRange | None:
    """The block by which an index addresses a dimension of 1, where the loop is not over that one element."""
    block = item if isinstance(item, TileRange) else None
    if isinstance(item, DeviceTensor) and item.lanes is not None and item.lanes.rank == 1:
        block = item.lanes.range
    return None if block is None or size != 1 or current().extents.get(block.tag) == 1 else block


def _place(items: list[Any], entries: list[Entry], dims: tuple[DimAttr, ...], wide: dict[int, DimAttr]) -> Address:
    """Where new and repeated dimensions stand in the user's block."""
    new: list[int] = []
    repeated: dict[int, DimAttr] = {}
    position = entry = 0
    gathered = False
    for item in items:
        if item is None:
            new.append(position)
            position += 1
            continue
        value = entries[entry]
        if entry in wide:
            repeated[position] = wide[entry]
            position += 1
        elif tile.is_gather(value):
            position += 0 if gathered else len(value.type.dims.data)  # pyright: ignore
            gathered = True
        elif not isinstance(value, int) and (not isinstance(value, SSAValue) or tile.is_range(value)):
            position += 1
        entry += 1
    return Address(entries, dims, new, repeated)


def _entries(items: list[Any], shape: tuple[int, ...]) -> list[Entry]:
    """Each item as an entry; index tensors together."""
    for item, extent in zip(items, shape, strict=True):
        check_entry(extent, item)
    tensors = {n: i for n, i in enumerate(items) if isinstance(i, DeviceTensor) and i.rank}
    plain = {n: _entry(i, size) for n, (i, size) in enumerate(zip(items, shape, strict=True)) if n not in tensors}
    _note_lanes(items)
    lanes = _lane_entries(tensors, shape)
    together = _gathers(tensors) if lanes is None else lanes
    return [plain[n] if n in plain else together[n] for n in range(len(items))]


def _note_lanes(items: list[Any]) -> None:
    """Which blocks index the last and the last but one dimension of an array: hints for choosing their sizes."""
    if items and isinstance(items[-1], TileRange) and items[-1].block is not None:
        items[-1].block.last = True
    if len(items) > 1 and isinstance(items[-2], TileRange) and items[-2].block is not None:
        items[-2].block.second_last = True


def _entry(item: Any, size: int) -> Entry:
    if isinstance(item, TileRange):
        _note_use(item, size)
        return item.ssa
    if isinstance(item, slice):
        return slice_entry(item, size)
    if isinstance(item, bool) or item is None:
        unsupported("a boolean cannot be an index", "use hl.load with extra_mask", id="index")
    if isinstance(item, int):
        if not -size <= item < size:
            unsupported(f"index {int(item)} is outside a dimension of {size} elements", id="index")
        return int(item) % size
    if isinstance(item, Index | DeviceTensor) or (isinstance(item, torch.Tensor) and item.ndim == 0):
        return index_ssa(item)
    unsupported(
        f"{describe(item)} cannot be an index",
        "use a tile, a whole number, a slice, None or an index tensor",
        id="index",
    )


def _note_use(item: TileRange, size: int) -> None:
    if item.block is not None and item.block.extent is None:
        item.block.extent = size


def slice_entry(item: slice, size: int) -> Entry:
    """A static slice; one that loops bound is refused."""
    bounds = (item.start, item.stop, item.step)
    if any(isinstance(bound, Index | DeviceTensor) for bound in bounds):
        unsupported(
            "a slice needs static bounds",
            "use hl.tile(begin, end), or hl.arange(n) + begin as an index",
            id="not-known-at-import",
        )
    fixed(bounds, "a bound of a slice")
    start, stop, step = slice(*plain(bounds)).indices(size)
    if step < 1:
        unsupported("a slice needs a positive step", "use flip on the loaded value", id="index")
    if (start, stop, step) == (0, size, 1):
        return ALL
    return SliceAttr(start, max(start, stop), step)


def _lane_entries(tensors: dict[int, DeviceTensor], shape: Any) -> dict[int, Entry] | None:
    """Index tensors that number the lanes of one axis each, in order, as blocks and slices."""
    if not tensors:
        return {}
    lanes = [value.lanes for value in tensors.values()]
    if any(item is None for item in lanes):
        return None
    known = [item for item in lanes if item is not None]
    ranks = {item.rank for item in known}
    axes = [item.axis for item in known]
    product = ranks == {1} or (len(ranks) == 1 and axes == list(range(ranks.pop())))
    if not product:
        return None
    positions = list(tensors)
    if known[0].rank > 1 and positions != list(range(positions[0], positions[0] + len(positions))):
        return None
    found = {n: _lane_entry(item, shape[n]) for n, item in zip(tensors, known, strict=True)}
    return None if any(entry is None for entry in found.values()) else found  # pyright: ignore


def _lane_entry(lanes: LaneNumbers, size: int) -> Entry | None:
    if lanes.range is not None:
        _note_use(lanes.range, size)
        return lanes.range.ssa
    stop = lanes.start + (lanes.size - 1) * lanes.step + 1
    if stop > size or lanes.tagged:
        return None
    return ALL if (lanes.start, stop, lanes.step) == (0, size, 1) else SliceAttr(lanes.start, stop, lanes.step)


def _gathers(tensors: dict[int, DeviceTensor]) -> dict[int, Entry]:
    """Index tensors as gathers over common dimensions."""
    for value in tensors.values():
        if value.dtype.is_floating_point or value.dtype == torch.bool:
            unsupported(f"{describe(value)} cannot be an index", "use integers, or hl.load with extra_mask", id="index")
    values = list(tensors.values())
    if len(values) > 1 and all(v.rank == 1 for v in values):
        values = _product(values)
    dims = common_dims(values)
    return {n: broadcast(_plain_index(v), dims).ssa for n, v in zip(tensors, values, strict=True)}


def _plain_index(value: DeviceTensor) -> DeviceTensor:
    return DeviceTensor(value.ssa)


def _product(values: list[DeviceTensor]) -> list[DeviceTensor]:
    """Rank-1 index tensors, each along its own axis."""
    count = len(values)
    return [reshape_dims(v, [v.dims[0] if axis == n else ONE for axis in range(count)]) for n, v in enumerate(values)]
