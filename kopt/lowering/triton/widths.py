"""Sizes of blocks, and other dimensions put in place of some throughout a grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.dialects import tile
from kopt.walk import walk


def power_of_two(size: int) -> int:
    """The least power of two that is at least ``size`` (1 for 0)."""
    return 1 << max(0, size - 1).bit_length()


def values(root: Operation) -> Iterator[SSAValue]:
    """Every value that ``root`` or an operation inside it defines."""
    for op in walk(root):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def tile_types(root: Operation) -> Iterator[tile.TileType]:
    """The types of the tiles inside ``root``."""
    for value in values(root):
        if isinstance(value.type, tile.TileType):
            yield value.type


def retype(root: Operation, dims: Mapping[tile.DimAttr, tile.DimAttr]) -> None:
    """Puts other dimensions in place of some, in every type inside ``root``."""
    for value in list(values(root)):
        type = _retyped(value.type, dims)
        if type is not value.type:
            Rewriter.replace_value_with_new_type(value, type)


def _retyped(type: Attribute, dims: Mapping[tile.DimAttr, tile.DimAttr]) -> Attribute:
    if isinstance(type, tile.RangeType) and type.dim in dims:
        dim = dims[type.dim]
        return tile.RangeType(dim.tag.data, dim.size.data)
    if isinstance(type, tile.TileType) and any(dim in dims for dim in type.dims.data):
        return type.with_dims([dims.get(dim, dim) for dim in type.dims.data])
    return type
