"""The numbers that a kernel's scalars are on one rank, where they follow from the rank and from loops alone."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects.symm import RankOp
from kopt.dialects.tile import BeginOp, CountOp, EndOp, IdOp
from kopt.dialects.tile.types import width_of
from kopt.ir.ranges import binding

#: What is known of values: numbers, and of ranges the number of the block.
Known = dict[SSAValue, int]

_BINARY: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: operator.add,
    arith.SubiOp: operator.sub,
    arith.MuliOp: operator.mul,
    arith.DivUIOp: operator.floordiv,
    arith.FloorDivSIOp: operator.floordiv,
    arith.RemUIOp: operator.mod,
    arith.MinUIOp: min,
    arith.MinSIOp: min,
    arith.MaxUIOp: max,
    arith.MaxSIOp: max,
    arith.AndIOp: operator.and_,
    arith.OrIOp: operator.or_,
    arith.XOrIOp: operator.xor,
}
#: By predicate number; those of unsigned numbers are the last four.
_COMPARISONS = (operator.eq, operator.ne, *(operator.lt, operator.le, operator.gt, operator.ge) * 2)


#: Ops that give the same number in every visit.
FIXED = (arith.ConstantOp, RankOp)
#: Ops that may give a number.
SCALARS = frozenset(
    (*FIXED, *_BINARY, arith.CmpiOp, arith.SelectOp, arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp)
    + (BeginOp, EndOp, IdOp, CountOp)
)

_DIVISIONS = (operator.floordiv, operator.mod)


def evaluate(op: Operation, known: Known, rank: int) -> int | None:
    """The number that an op gives, or None where it is not known; of a truth value 0 or 1."""
    if isinstance(op, RankOp):
        return rank
    if isinstance(op, arith.ConstantOp):
        number = op.value.value.data if isinstance(op.value, IntegerAttr) else None
    elif isinstance(op, BeginOp | EndOp | IdOp | CountOp):
        number = _of_range(op, known)
    else:
        operands = [known.get(value) for value in op.operands]
        number = None if None in operands else _combined(op, [number for number in operands if number is not None])
    return None if number is None else _wrapped(number, op.results[0].type)


def _combined(op: Operation, operands: Sequence[int]) -> int | None:
    given = op.operands[0].type
    if isinstance(op, arith.CmpiOp):
        predicate = op.predicate.value.data
        pair = [_unsigned(number, given) for number in operands] if predicate > 5 else operands
        return int(_COMPARISONS[predicate](*pair))
    if isinstance(op, arith.ExtSIOp):
        return -operands[0] if width_of(given) == 1 else operands[0]
    if isinstance(op, arith.ExtUIOp):
        return _unsigned(operands[0], given)
    if isinstance(op, arith.IndexCastOp):
        return operands[0]
    if isinstance(op, arith.SelectOp):
        return operands[1] if operands[0] else operands[2]
    function = _BINARY.get(type(op))
    if function is None or function in _DIVISIONS and not operands[1]:
        return None
    return function(*operands)


def _unsigned(number: int, type: Attribute) -> int:
    return number & ((1 << width_of(type)) - 1)


def _wrapped(number: int, type: Attribute) -> int:
    """A number as its type holds it: with a sign, but for truth values."""
    low, width = _unsigned(number, type), width_of(type)
    return low if width == 1 else low - (low >> width - 1 << width)


def begin(range: SSAValue, known: Known) -> int | None:
    """The first element of a range's block."""
    bound = binding(range)
    lower = bound.lower if isinstance(bound.lower, int) else known.get(bound.lower)
    block = known.get(bound.value)
    return None if lower is None or block is None or range is not bound.value else lower + block * bound.size


def limit(range: SSAValue, known: Known) -> int | None:
    """The element at which a range's loop ends."""
    upper = binding(range).upper
    return upper if isinstance(upper, int) else known.get(upper)


def _of_range(op: BeginOp | EndOp | IdOp | CountOp, known: Known) -> int | None:
    if isinstance(op, IdOp):
        return known.get(op.range)
    first, last, size = begin(op.range, known), limit(op.range, known), binding(op.range).size
    if first is None or last is None:
        return None
    if isinstance(op, BeginOp):
        return first
    if isinstance(op, EndOp):
        return min(first + size, last)
    return -(-(last - first) // size) + known[op.range]
