"""Making operands alike: dimensions by the Helion language's rules, element types by casts.

Dimensions are matched by the loop that they belong to where ranks differ and tags match, else from the right as torch
does. A plain dimension of a block's size meets a tagged one lane by lane; lanes that the block lacks stay invalid.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from kopt.building.broadcasting import Dims, joined_dims, meeting_places
from kopt.dialects import tile
from kopt.dialects.tile import DimAttr, TileType
from kopt.frontend.dtypes import element_type
from kopt.frontend.state import current, mismatch
from kopt.frontend.values import DeviceTensor, describe

ONE = DimAttr(1)


def cast(value: DeviceTensor, dtype: torch.dtype) -> DeviceTensor:
    """The value in another dtype."""
    if value.dtype == dtype:
        return value
    return DeviceTensor(current().emit(tile.CastOp(value.ssa, element_type(dtype))), value.lanes)


def common_dims(values: Sequence[DeviceTensor]) -> Dims:
    """The dimensions that values broadcast to. Refuses those that do not."""
    first = values[0].dims
    if all(value.dims == first for value in values[1:]):
        return first
    if (joined := joined_dims([value.dims for value in values], _join_dim)) is None:
        mismatch(
            f"operands do not broadcast: {' and '.join(describe(v) for v in values)}",
            _of_products(values) or ["add a dimension with None where it is meant: b[tile, None]"],
        )
    return joined


def _of_products(values: Sequence[DeviceTensor]) -> list[str]:
    """What to write where an index of several vectors was meant to name pairs, and made two dimensions of one tile."""
    tags = [[dim.tag.data for dim in value.dims if dim.tag.data] for value in values]
    if all(len(set(each)) == len(each) for each in tags):
        return []
    note = "x[i, j] of two vectors has an element for each i and each j"
    return [f"{note}; for pairs, index the flat tensor: x.view(-1)[i * x.size(1) + j]"]


def broadcast(value: DeviceTensor, dims: Dims) -> DeviceTensor:
    """The value over ``dims``, with which its own dimensions go together."""
    if value.dims == dims:
        return value
    places = _places(value.dims, dims)
    if places is None or any(_loses(value.dims[n], dims[place]) for n, place in enumerate(places)):
        mismatch(f"{describe(value)} does not broadcast to [{' x '.join(map(str, dims))}]", _of_products([value]))
    value = _without_padding(value, [dims[place] for place in places])
    value = untag(value, [n for n, place in enumerate(places) if not _fits(value.dims[n], dims[place])])
    value = _unit(value, [n for n, place in enumerate(places) if not _fits(value.dims[n], dims[place])])
    if value.dims == dims:
        return value
    op = tile.BroadcastOp(value.ssa, places, TileType(dims, value.tile_type.element_type))
    return DeviceTensor(current().emit(op))


def _loses(source: DimAttr, target: DimAttr) -> bool:
    """Whether a dimension has lanes that the one it meets does not."""
    return target.size.data == 1 < source.size.data or _is_padding(source, target)


def _fits(source: DimAttr, target: DimAttr) -> bool:
    """Whether `tile.broadcast` maps one to the other."""
    return source in (target, ONE) or (not source.tag.data and source.size == target.size)


def meeting(left: DeviceTensor, right: DeviceTensor) -> tuple[dict[int, int], dict[int, int]]:
    """Which dimension of the other each dimension of two values meets, where it meets one."""
    high, low = (left, right) if left.rank >= right.rank else (right, left)
    places = _places(low.dims, high.dims) or []
    down = {place: n for n, place in enumerate(places)}
    return (down, dict(enumerate(places))) if high is left else (dict(enumerate(places)), down)


def _places(low: Dims, high: Dims) -> list[int] | None:
    """The dimension of ``high`` that each dimension of ``low`` meets."""
    return meeting_places(low, high, _join_dim)


def _join_dim(a: DimAttr, b: DimAttr) -> DimAttr | None:
    """The dimension that two become, or None where they do not go together."""
    if a == b:
        return a
    if b.size.data == 1 and (not b.tag.data or a.size.data != 1):
        return a
    if a.size.data == 1:
        return b
    if a.size != b.size:
        return min(a, b, key=_lanes) if _is_padding(a, b) or _is_padding(b, a) else None
    if a.tag.data and b.tag.data and not _equal_blocks(a.tag.data, b.tag.data):
        return None
    return DimAttr(a.size.data)


def _lanes(dim: DimAttr) -> int:
    return dim.size.data


def _is_padding(small: DimAttr, large: DimAttr) -> bool:
    """Whether the kernel made the larger dimension as the next power of two of the smaller one."""
    plain = not small.tag.data and not large.tag.data
    return plain and (_lanes(small), _lanes(large)) in current().powers_of_two


def _without_padding(value: DeviceTensor, dims: Sequence[DimAttr]) -> DeviceTensor:
    """The lanes of a value that meet ``dims``: those beyond a size are there only for the sake of a power of two."""
    pairs = zip(value.dims, dims, strict=True)
    sizes = [_lanes(mine if not _is_padding(its, mine) else its) for mine, its in pairs]
    if sizes == list(value.tile_type.shape):
        return value
    return DeviceTensor(current().emit(tile.SliceOp(value.ssa, [0] * value.rank, sizes, [1] * value.rank)))


def _equal_blocks(a: str, b: str) -> bool:
    """Whether blocks of two loops go together lane by lane: they share their size, or their sizes were both given."""
    tracer = current()
    blocks = [tracer.range_blocks.get(tag) for tag in (a, b)]
    if blocks[0] is not None and blocks[0] is blocks[1]:
        return True
    return all(block is None or tracer.sizes is not None for block in blocks)


def untag(value: DeviceTensor, positions: Sequence[int]) -> DeviceTensor:
    """The value with some tagged dimensions made plain; lanes outside their ranges stay invalid."""
    wanted = _tagged(value, positions)
    dims = [DimAttr(dim.size.data) if n in wanted else dim for n, dim in enumerate(value.dims)]
    if not wanted:
        return value
    return DeviceTensor(current().emit(tile.ReshapeOp(value.ssa, value.tile_type.with_dims(dims))))


def defined(value: DeviceTensor, positions: Sequence[int], fill: float = 0) -> DeviceTensor:
    """As `untag`; lanes outside the ranges become ``fill`` and count from then on."""
    wanted = _tagged(value, positions)
    limits = [current().ranges[dim.tag.data] if n in wanted else None for n, dim in enumerate(value.dims)]
    dims = [DimAttr(dim.size.data) if n in wanted else dim for n, dim in enumerate(value.dims)]
    if not wanted:
        return value
    return DeviceTensor(current().emit(tile.MaskOp(value.ssa, limits, fill, value.tile_type.with_dims(dims))))


def _tagged(value: DeviceTensor, positions: Sequence[int]) -> list[int]:
    """The tagged dimensions of several lanes among some, whose blocks' sizes are used."""
    tracer = current()
    wanted = [n for n in positions if value.dims[n].tag.data and value.dims[n].size.data != 1]
    if any(value.dims[n].tag.data not in tracer.ranges for n in wanted):
        mismatch(f"{describe(value)} belongs to a loop that has ended", ["carry it out in a plain shape"])
    note_merged(value, wanted)
    return wanted


def note_merged(value: DeviceTensor, positions: Sequence[int]) -> None:
    """Notes that the sizes of some dimensions' blocks are used: their lanes are merged with others."""
    for position in positions:
        block = current().range_blocks.get(value.dims[position].tag.data)
        if block is not None and value.dims[position].size.data != 1:
            block.sized = True


def _unit(value: DeviceTensor, positions: Sequence[int]) -> DeviceTensor:
    """Tagged dimensions of one lane made plain ones."""
    if not positions:
        return value
    dims = [ONE if n in positions else dim for n, dim in enumerate(value.dims)]
    return DeviceTensor(current().emit(tile.ReshapeOp(value.ssa, value.tile_type.with_dims(dims))))
