"""Predicates that loops carry and branches give: Mosaic has registers of numbers only for those."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.tile import CastOp, ForOp, TileType, WhileOp


def widen_carries(op: Operation) -> None:
    """Lets a loop carry, and a branch give, predicates as numbers.

    %r = scf.if %c -> (!tile.tile<128 x i1>) { scf.yield %p } else { scf.yield %q }
    becomes
    %n = scf.if %c -> (!tile.tile<128 x i32>) { … scf.yield %pn } else { … scf.yield %qn }   %r = tile.cast %n …
    """
    assert isinstance(op, ForOp | WhileOp | scf.IfOp)
    numbers = [number for number, result in enumerate(op.results) if _is_predicate(result)]
    if not numbers:
        return
    for region in op.regions:
        last = region.block.last_op
        if last is not None:
            _widen_operands(last, len(last.operands) - len(op.results), numbers)
    if not isinstance(op, scf.IfOp):
        _widen_operands(op, list(op.operands).index(op.inits[0]), numbers)
        arguments = op.body.block.args[-len(op.inits) :]
        for number in numbers:
            _narrow(arguments[number], InsertPoint.at_start(op.body.block))
    for number in numbers:
        _narrow(op.results[number], InsertPoint.after(op))


def _is_predicate(value: SSAValue) -> bool:
    return isinstance(value.type, TileType) and value.type.element_type == i1


def _widen_operands(op: Operation, first: int, numbers: Sequence[int]) -> None:
    for number in numbers:
        cast = CastOp(op.operands[first + number], i32)
        cast.location = op.location
        Rewriter.insert_op(cast, InsertPoint.before(op))
        op.operands[first + number] = cast.result


def _narrow(value: SSAValue, place: InsertPoint) -> None:
    """Makes a value a number, and lets everything that uses it take its predicate."""
    assert isinstance(value.type, TileType)
    number = Rewriter.replace_value_with_new_type(value, value.type.with_element(i32))
    cast = CastOp(number, i1)
    cast.location = number.owner.location if isinstance(number.owner, Operation) else cast.location
    cast.result.name_hint = number.name_hint
    Rewriter.insert_op(cast, place)
    number.replace_uses_with_if(cast.result, lambda use: use.operation is not cast)
