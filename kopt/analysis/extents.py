"""Are the sizes and numbers of a module ones that can be computed with? What people write always is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute, Operation

from kopt.dialects.tile import RangeType, RefType, TileType
from kopt.limits import INDEX, LANES


def beyond_limits(op: Operation) -> str | None:
    """What of an operation is too large for any kernel, or None."""
    for attribute in op.properties.values():
        if any(abs(number) > INDEX for number in _numbers(attribute)):
            return f"'{op.name}' has a number beyond {INDEX}"
    values = (*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args))
    types = {value.type for value in values}
    return next((problem for type in types if (problem := _problem(type)) is not None), None)


def _numbers(attribute: Attribute) -> Iterator[int]:
    """The sizes and indices in an attribute; elements of fixed types have their own limits."""
    if isinstance(attribute, IntAttr):
        yield attribute.data
    elif isinstance(attribute, IntegerAttr) and isinstance(attribute.type, IndexType):
        yield attribute.value.data
    elif isinstance(attribute, ArrayAttr):
        for item in attribute.data:
            yield from _numbers(item)
    elif isinstance(attribute, DenseArrayBase) and isinstance(attribute.elt_type, IntegerType):
        yield from (int(number) for number in attribute.get_values() if number != DYNAMIC_INDEX)


def _problem(type: Attribute) -> str | None:
    if isinstance(type, MemRefType) and any(size > INDEX for size in type.get_shape()):
        return f"an array has dimensions of at most {INDEX}, found {type}"
    if isinstance(type, TileType | RefType) and math.prod(type.shape) > LANES:
        return f"a block has at most {LANES} lanes, found {type}"
    if isinstance(type, RangeType) and type.size > LANES:
        return f"a block has at most {LANES} lanes, found {type}"
    return None
