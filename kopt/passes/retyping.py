"""Values that an operation defines, and the same types with other dimensions: for what changes tags and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects.tile import DimAttr, GridOp, RangeType, RefType, TileType, WholeOp
from kopt.dialects.triton import RangeOp
from kopt.walk import walk


def defined_values(op: Operation) -> Sequence[SSAValue]:
    """The results of an operation and the arguments of its regions' blocks."""
    if not op.regions:
        return op.results
    return [*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)]


def _bound_ranges(op: Operation) -> Iterator[RangeType]:
    """The ranges that an operation binds, in order of appearance; a shifted range is of the one that it shifts."""
    for inner in walk(op):
        if inner.regions or isinstance(inner, WholeOp | RangeOp):
            yield from (value.type for value in defined_values(inner) if isinstance(value.type, RangeType))


def bound_tags(op: Operation) -> Iterator[str]:
    """The tag of every range that an operation binds, in order of appearance."""
    return (type.tag for type in _bound_ranges(op))


def tag_sizes(op: Operation) -> dict[str, int]:
    """The lanes of every range's blocks in an operation, by its tag."""
    return {type.tag: type.size for type in _bound_ranges(op)}


def all_lanes(size: int, op: Operation) -> WholeOp:
    """The range of some lanes from 0 on, under a tag that no range of the function around ``op`` has."""
    return WholeOp(size, RangeType(next(new_tags(op)), size))


def taken_tags(op: Operation) -> set[str]:
    """The tags of all ranges of the function around ``op``, and of the walks of its plans."""
    func = op
    while not isinstance(func, FuncOp) and (parent := func.parent_op()) is not None:
        func = parent
    plans = (grid.plan.data for grid in walk(func, GridOp) if grid.plan is not None)
    return {*bound_tags(func), *(one.axis for plan in plans for one in plan.walks)}


def new_tags(op: Operation, prefix: str = "b") -> Iterator[str]:
    """Tags that no range of the function around ``op`` has, nor a walk of a plan: ``b0``, ``b1``, …"""
    used = taken_tags(op)
    number = 0
    while True:
        if (tag := f"{prefix}{number}") not in used:
            yield tag
        number += 1


def replace_dims(op: Operation, replace: Callable[[DimAttr], DimAttr]) -> None:
    """Puts other dimensions into the type of every value that an operation and those inside it define.

    Values keep their uses, and stay what they are: of a type there is one with other dimensions.
    """
    known: dict[int, tuple[Attribute, Attribute]] = {}
    for inner in walk(op):
        for value in defined_values(inner):
            if (found := known.get(id(type := value.type))) is None:
                found = known[id(type)] = (type, _replaced(type, replace))
            value._type = found[1]  # pyright: ignore[reportPrivateUsage]


def _replaced(type: Attribute, replace: Callable[[DimAttr], DimAttr]) -> Attribute:
    old = _dims_of(type)
    new = tuple(map(replace, old))
    return type if new == old else _with_dims(type, new)


def _dims_of(type: Attribute) -> tuple[DimAttr, ...]:
    if isinstance(type, RangeType):
        return (type.dim,)
    return type.dims.data if isinstance(type, TileType | RefType) else ()


def _with_dims(type: Attribute, dims: Sequence[DimAttr]) -> Attribute:
    if isinstance(type, RangeType):
        return RangeType(dims[0].tag.data, dims[0].size.data)
    if isinstance(type, TileType):
        return type.with_dims(dims)
    assert isinstance(type, RefType)
    return RefType(dims, type.element_type, type.space.data)
