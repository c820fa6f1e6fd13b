"""Copies of loops: a tag names one range of a function, so the loops of a copy get tags of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.dialects.tile import DimAttr, RangeType, RefType, TileType


def clone_with_new_tags(op: Operation, values: dict[SSAValue, SSAValue] | None = None) -> Operation:
    """A copy of ``op``, not yet inserted, whose ranges have tags that the function around ``op`` does not use.

    ``values`` maps operands to what the copy uses instead; the copies of inner values are added to it.
    """
    copy = op.clone(values if values is not None else {})
    free = new_tags(op)
    names = {tag: next(free) for tag in dict.fromkeys(_bound_tags(copy))}
    for inner in copy.walk():
        for value in _values(inner):
            type = _renamed(value.type, names)
            if type != value.type:
                Rewriter.replace_value_with_new_type(value, type)
    return copy


def new_tags(op: Operation) -> Iterator[str]:
    """Tags that no range of the function around ``op`` has: ``b0``, ``b1``, …"""
    func = op
    while not isinstance(func, FuncOp) and (parent := func.parent_op()) is not None:
        func = parent
    used = {value.type.tag for inner in func.walk() for value in _values(inner) if isinstance(value.type, RangeType)}
    number = 0
    while True:
        if (tag := f"b{number}") not in used:
            yield tag
        number += 1


def _bound_tags(op: Operation) -> Iterator[str]:
    for inner in op.walk():
        for value in _values(inner):
            if isinstance(value.type, RangeType):
                yield value.type.tag


def _values(op: Operation) -> list[SSAValue]:
    blocks: list[Block] = [block for region in op.regions for block in region.blocks]
    return [*op.results, *(arg for block in blocks for arg in block.args)]


def _renamed(type: Attribute, names: Mapping[str, str]) -> Attribute:
    if isinstance(type, RangeType):
        return RangeType(names.get(type.tag, type.tag), type.size)
    if isinstance(type, TileType) and any(tag in names for tag in type.tags):
        return type.with_dims([_renamed_dim(dim, names) for dim in type.dims.data])
    if isinstance(type, RefType) and any(tag in names for tag in type.tags):
        return RefType([_renamed_dim(dim, names) for dim in type.dims.data], type.element_type, type.space.data)
    return type


def _renamed_dim(dim: DimAttr, names: Mapping[str, str]) -> DimAttr:
    tag = dim.tag.data
    return DimAttr(dim.size.data, names.get(tag, tag))
