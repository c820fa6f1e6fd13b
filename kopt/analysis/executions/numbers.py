"""What operations on integers compute, of many executions at once: an array whose first dimension is theirs.

Of what is one in all executions that dimension is 1; those behind it are the lanes of a tile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    CastOp,
    ExtractOp,
    FullOp,
    ReduceOp,
    ReshapeOp,
    SelectOp,
    SplatOp,
    TileType,
    TransposeOp,
    literal_value,
    tile_type,
)

Numbers = np.ndarray


class UnknownNumber(Exception):
    """A number that only a launch tells; the message says what it depends on: ``what 'offsets' holds``."""


def _truncated(a: Numbers, b: Numbers) -> Numbers:
    return np.where((a < 0) == (b < 0), 1, -1) * (abs(a) // abs(b))


_ELEMENTWISE: dict[str, Callable[..., Numbers]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "floordiv": np.floor_divide,
    "truncdiv": _truncated,
    "mod": np.mod,
    "rem": np.fmod,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "neg": np.negative,
}
_COMPUTED: dict[type[Operation], Callable[..., Numbers]] = {
    **{ELEMENTWISE[name]: compute for name, compute in _ELEMENTWISE.items()},
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.DivSIOp: _truncated,
    arith.FloorDivSIOp: np.floor_divide,
    arith.CeilDivSIOp: lambda a, b: -(-a // b),
    arith.RemSIOp: np.fmod,
    arith.MinSIOp: np.minimum,
    arith.MaxSIOp: np.maximum,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.ShLIOp: np.left_shift,
    arith.ShRSIOp: np.right_shift,
    **dict.fromkeys([arith.SelectOp, SelectOp], lambda which, a, b: np.where(which != 0, a, b)),
    # What a kernel's numbers are fits the narrower type.
    **dict.fromkeys([arith.IndexCastOp, arith.TruncIOp, arith.ExtSIOp, arith.ExtUIOp, CastOp, ExtractOp], np.asarray),
}
#: By the number of the predicate: signed ones alone.
_COMPARED = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
_REDUCED: dict[str, Callable[..., Numbers]] = {"max": np.max, "min": np.min, "add": np.sum}


def _reduced(op: ReduceOp, numbers: Numbers) -> Numbers:
    combine = _REDUCED.get(op.kind.data)
    if combine is None:
        raise _unknown(op)
    return combine(numbers, tuple(dim + 1 for dim in op.dimensions))


def _broadcast(op: BroadcastOp, numbers: Numbers) -> Numbers:
    new = [dim + 1 for dim in range(op.result_type.rank) if dim not in op.mapping]
    return np.broadcast_to(np.expand_dims(numbers, new), (len(numbers), *op.result_type.shape))


#: What changes the lanes of a tile.
_LANES: dict[type[Operation], Callable[[Any, Numbers], Numbers]] = {
    ReduceOp: _reduced,
    BroadcastOp: _broadcast,
    ReshapeOp: lambda op, numbers: numbers.reshape(len(numbers), *op.result_type.shape),
    TransposeOp: lambda op, numbers: numbers.transpose(0, *(dim + 1 for dim in op.order)),
    SplatOp: lambda op, numbers: _full(op.result.type, numbers),
}


def constant(op: Operation) -> Numbers | None:
    """The number of a constant."""
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return np.array([op.value.value.data])
    if isinstance(op, FullOp) and isinstance(tile_type(op.result).element_type, IntegerType):
        return _full(op.result.type, np.array([literal_value(op.value)]))
    return None


def _full(type: Attribute, numbers: Numbers) -> Numbers:
    """Tiles of which all lanes are one number."""
    assert isinstance(type, TileType)
    return np.broadcast_to(numbers.reshape(-1, *[1] * type.rank), (len(numbers), *type.shape))


def computed(op: Operation, numbers_of: Callable[[Any], Numbers]) -> Numbers:
    """What an operation gives, of what ``numbers_of`` its operands are. Raises `UnknownNumber` where that is open."""
    compute = _compute(op)
    if not all(_is_integer(value.type) for value in (*op.operands, *op.results)):
        raise UnknownNumber("what is computed of floats")
    if compute is None:
        raise _unknown(op)
    with np.errstate(divide="ignore"):
        return compute(*map(numbers_of, op.operands))


def _compute(op: Operation) -> Callable[..., Numbers] | None:
    if isinstance(op, arith.CmpiOp):
        predicate = op.predicate.value.data
        return _COMPARED[predicate] if predicate < len(_COMPARED) else None
    if (of_lanes := _LANES.get(type(op))) is not None:
        return lambda numbers: of_lanes(op, numbers)
    return _COMPUTED.get(type(op))


def _is_integer(type: Attribute) -> bool:
    element = type.element_type if isinstance(type, TileType) else type
    return isinstance(element, IntegerType | IndexType)


def _unknown(op: Operation) -> UnknownNumber:
    return UnknownNumber(f"what '{op.name}' computes")
