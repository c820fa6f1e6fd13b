"""Values that loops carry and branches give, where Mosaic has registers of 32 bits only for those."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.tile import CastOp, ForOp, TileType, WhileOp
from kopt.passes.mosaic.building import element_of, is_narrow, type_of, wide


def widen_carries(op: Operation) -> None:
    """Lets a loop carry, and a branch give, predicates as numbers, and narrow scalars in 32 bits.

    %r = scf.if %c -> (!tile.tile<128 x i1>) { scf.yield %p } else { scf.yield %q }
    becomes
    %n = scf.if %c -> (!tile.tile<128 x i32>) { … scf.yield %pn } else { … scf.yield %qn }   %r = tile.cast %n …
    """
    assert isinstance(op, ForOp | WhileOp | scf.IfOp)
    numbers = [number for number, result in enumerate(op.results) if _is_widened(result)]
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


def _is_widened(value: SSAValue) -> bool:
    if not isinstance(value.type, TileType):
        return False
    element = value.type.element_type
    return element == i1 or (not value.type.rank and is_narrow(element))


def _widen_operands(op: Operation, first: int, numbers: Sequence[int]) -> None:
    for number in numbers:
        value = op.operands[first + number]
        cast = CastOp(value, wide(element_of(value)))
        cast.location = op.location
        Rewriter.insert_op(cast, InsertPoint.before(op))
        op.operands[first + number] = cast.result


def _narrow(value: SSAValue, place: InsertPoint) -> None:
    """Makes a value a wide one, and lets everything that uses it take it in its own type."""
    own = element_of(value)
    number = Rewriter.replace_value_with_new_type(value, type_of(value).with_element(wide(own)))
    cast = CastOp(number, own)
    cast.location = number.owner.location if isinstance(number.owner, Operation) else cast.location
    cast.result.name_hint = number.name_hint
    Rewriter.insert_op(cast, place)
    number.replace_uses_with_if(cast.result, lambda use: use.operation is not cast)
