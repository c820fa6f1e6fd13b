"""Values that loops carry and branches give, where Mosaic has registers of 32 bits only for those."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from kopt.analysis.storage import is_narrow, wide
from kopt.dialects.tile import CastOp, ForOp, TileType, WhileOp, element_of, tile_type


class WidenCarries(RewritePattern):
    """Lets a loop carry, and a branch give, predicates as numbers, and narrow scalars in 32 bits.

    %r = scf.if %c -> (!tile.tile<128 x i1>) { scf.yield %p } else { scf.yield %q }
    becomes
    %n = scf.if %c -> (!tile.tile<128 x i32>) { … scf.yield %pn } else { … scf.yield %qn }   %r = tile.cast %n …
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp | WhileOp | scf.IfOp, rewriter: PatternRewriter, /) -> None:
        numbers = [number for number, result in enumerate(op.results) if _is_widened(result)]
        if not numbers:
            return
        for region in op.regions:
            last = region.block.last_op
            if last is not None:
                _widen_operands(rewriter, last, len(last.operands) - len(op.results), numbers)
        if not isinstance(op, scf.IfOp):
            _widen_operands(rewriter, op, list(op.operands).index(op.inits[0]), numbers)
            arguments = op.body.block.args[-len(op.inits) :]
            for number in numbers:
                _narrow(rewriter, arguments[number], InsertPoint.at_start(op.body.block))
        for number in numbers:
            _narrow(rewriter, op.results[number], InsertPoint.after(op))


def _is_widened(value: SSAValue) -> bool:
    if not isinstance(value.type, TileType):
        return False
    element = value.type.element_type
    return element == i1 or (not value.type.rank and is_narrow(element))


def _widen_operands(rewriter: PatternRewriter, op: Operation, first: int, numbers: Sequence[int]) -> None:
    for number in numbers:
        value = op.operands[first + number]
        cast = CastOp(value, wide(element_of(value)))
        cast.location = op.location
        rewriter.insert(cast, InsertPoint.before(op))
        op.operands[first + number] = cast.result


def _narrow(rewriter: PatternRewriter, value: SSAValue, place: InsertPoint) -> None:
    """Makes a value a wide one, and lets everything that uses it take it in its own type."""
    own = element_of(value)
    number = rewriter.replace_value_with_new_type(value, tile_type(value).with_element(wide(own)))
    cast = CastOp(number, own)
    cast.location = number.owner.location if isinstance(number.owner, Operation) else cast.location
    cast.result.name_hint = number.name_hint
    rewriter.insert(cast, place)
    rewriter.replace_uses_with_if(number, cast.result, lambda use: use.operation is not cast)
