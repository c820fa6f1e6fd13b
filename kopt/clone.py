"""Copies of modules and functions: as `xdsl.ir.Operation.clone`, in one pass over what is inside."""

from __future__ import annotations

from typing import TypeVar

from xdsl.ir import Block, Operation, Region, SSAValue

from kopt.walk import walk

Kind = TypeVar("Kind", bound=Operation)


def cloned(op: Kind) -> Kind:
    """A copy of an operation with all that is inside of it, in which each value is defined before it is used."""
    if any(len(region.blocks) > 1 for inner in walk(op) for region in inner.regions):
        return op.clone()  # blocks name each other
    return _operation(op, {})


def _operation(op: Kind, values: dict[SSAValue, SSAValue]) -> Kind:
    regions = [_region(region, values) for region in op.regions]
    copy = op.create(
        operands=[values.get(operand, operand) for operand in op._operands],  # pyright: ignore[reportPrivateUsage]
        result_types=op.result_types,
        properties=op.properties,
        attributes=op.attributes,
        location=op.location,
        regions=regions,
    )
    _map(op.results, copy.results, values)
    return copy


def _region(region: Region, values: dict[SSAValue, SSAValue]) -> Region:
    block = region.first_block
    if block is None:
        return Region()
    copy = Block(arg_types=[arg.type for arg in block.args])
    for arg, new in zip(block.args, copy.args, strict=True):
        new.location = arg.location
    _map(block.args, copy.args, values)
    for op in block.ops:
        copy.add_op(_operation(op, values))
    return Region(copy)


def _map(old: tuple[SSAValue, ...], new: tuple[SSAValue, ...], values: dict[SSAValue, SSAValue]) -> None:
    for value, copy in zip(old, new, strict=True):
        values[value] = copy
        copy._name = value._name  # pyright: ignore[reportPrivateUsage]  # it is valid already
