"""Values that an operation defines, and the same types with other dimensions: for what changes tags and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.dialects.tile import DimAttr, RangeType, RefType, TileType, WholeOp
from kopt.walk import walk

#: Types with dimensions.
_WITH_DIMS = (RangeType, TileType, RefType)


def defined_values(op: Operation) -> list[SSAValue]:
    """The results of an operation and the arguments of its regions' blocks."""
    return [*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)]


def bound_tags(op: Operation) -> Iterator[str]:
    """The tag of every range in an operation, in order of appearance; a shifted range repeats its tag."""
    for inner in walk(op):
        for value in defined_values(inner):
            if isinstance(value.type, RangeType):
                yield value.type.tag


def tag_sizes(op: Operation) -> dict[str, int]:
    """The lanes of every range's blocks in an operation, by its tag."""
    values = (value for inner in walk(op) for value in defined_values(inner))
    return {value.type.tag: value.type.size for value in values if isinstance(value.type, RangeType)}


def all_lanes(size: int, op: Operation) -> WholeOp:
    """The range of some lanes from 0 on, under a tag that no range of the function around ``op`` has."""
    return WholeOp(size, RangeType(next(new_tags(op)), size))


def new_tags(op: Operation, prefix: str = "b") -> Iterator[str]:
    """Tags that no range of the function around ``op`` has: ``b0``, ``b1``, …"""
    func = op
    while not isinstance(func, FuncOp) and (parent := func.parent_op()) is not None:
        func = parent
    used = set(bound_tags(func))
    number = 0
    while True:
        if (tag := f"{prefix}{number}") not in used:
            yield tag
        number += 1


def replace_dims(op: Operation, replace: Callable[[DimAttr], DimAttr]) -> None:
    """Puts other dimensions into the type of every value that an operation and those inside it define."""
    known: dict[Attribute, Attribute] = {}
    for value in [value for inner in walk(op) for value in defined_values(inner) if isinstance(value.type, _WITH_DIMS)]:
        if (type := known.get(value.type)) is None:
            type = known[value.type] = _with_dims(value.type, replace)
        if type != value.type:
            Rewriter.replace_value_with_new_type(value, type)


def _with_dims(type: Attribute, replace: Callable[[DimAttr], DimAttr]) -> Attribute:
    if isinstance(type, RangeType):
        dim = replace(type.dim)
        return RangeType(dim.tag.data, dim.size.data)
    if isinstance(type, TileType):
        return type.with_dims([replace(dim) for dim in type.dims.data])
    assert isinstance(type, RefType)
    return RefType([replace(dim) for dim in type.dims.data], type.element_type, type.space.data)
