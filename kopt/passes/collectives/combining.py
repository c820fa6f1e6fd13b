"""What ranks' elements are combined with: 16-bit floats in f32, rounded when they are stored."""

from __future__ import annotations

from xdsl.dialects.builtin import Float64Type, f32
from xdsl.ir import Attribute, SSAValue

from kopt.dialects.builder import named
from kopt.dialects.tile import (
    COMBINING_OPS,
    ELEMENTWISE,
    CastOp,
    FullOp,
    GetOp,
    PutOp,
    ReduceOp,
    is_float,
    tile_type,
)
from kopt.passes.collectives.building import Place

#: The reduction of each kind: an average is a sum first.
_REDUCTIONS = {"add": "add", "avg": "add", "max": "max", "min": "min"}


def read(place: Place, name: str) -> SSAValue:
    """A block, in the type that it is computed with in."""
    value = GetOp(place[0], place[1]).result
    wide = computed_in(tile_type(value).element_type)
    return named(value if wide == tile_type(value).element_type else CastOp(value, wide).result, name)


def computed_in(element: Attribute) -> Attribute:
    """f32 for narrower floats, else the type itself."""
    return f32 if is_float(element) and not isinstance(element, Float64Type) else element


def write(value: SSAValue, place: Place) -> None:
    """Stores a block, rounded to the memory's element type."""
    memory, entries = place
    element = memory.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
    PutOp(value if tile_type(value).element_type == element else CastOp(value, element).result, memory, entries)


def combined(kind: str, one: SSAValue, other: SSAValue) -> SSAValue:
    """Two blocks as one."""
    return named(ELEMENTWISE[COMBINING_OPS[_REDUCTIONS[kind]]](one, other).result, "total")


def reduced(kind: str, values: SSAValue, ranks: int) -> SSAValue:
    """The blocks of all ranks along dimension 0 as one, in the order of ranks: the same on each."""
    return scaled(kind, named(ReduceOp(_REDUCTIONS[kind], values, [0]).result, "total"), ranks)


def scaled(kind: str, total: SSAValue, ranks: int) -> SSAValue:
    """A sum as it is, or as an average."""
    if kind != "avg":
        return total
    return named(ELEMENTWISE["div"](total, FullOp(ranks, tile_type(total))).result, "average")
